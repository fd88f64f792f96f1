import { decodeRecord } from '../canonical/encode.ts';
import type { Handing } from '../deliver/handover.ts';
import type { Claimed } from '../deliver/ports.ts';
import type { EntityType } from '../terms.ts';
import { type ApplyTarget, type Change, movesOf } from './changes.ts';
import { float8s, int4s, texts } from './columns.ts';
import type { Tx } from './pool.ts';

/** A record's place in the line of a destination. */
interface Row {
  readonly destination: string;
  /** The oldest version of the batch. */
  readonly first: Change;
  readonly newest: Change;
  /** How long it is leased to this node from the start, where the destination has room for it. */
  readonly leaseMs?: number;
}

/**
 * An idle row becomes due now, or is leased to this node at once; one that is waiting, leased or held back only learns of the newer
 * version. A record's first row for a destination begins at the oldest version of this batch, so that none is passed over.
 */
export async function enqueue(
  tx: Tx,
  target: ApplyTarget,
  changes: readonly Change[],
  handing?: Handing,
): Promise<void> {
  const moved = movesOf(changes);
  const rows: Row[] = [];
  const leases: ((leased: readonly Leased[]) => number)[] = [];
  for (const destination of new Set(Object.values(target.destinations).flat())) {
    const wanted = moved.filter((one) => target.destinations[one.newest.type].includes(destination));
    const lane = { integration: target.integration, destination };
    const room = wanted.length > 0 ? handing?.room(lane, wanted.length) : undefined;
    const own = wanted.map((one, i) => ({
      destination,
      ...one,
      ...(room && i < room.count && { leaseMs: room.leaseMs }),
    }));
    rows.push(...own);
    if (room === undefined) continue;
    leases.push((leased) => {
      const claims = claimsOf(own, leased);
      room.lease(claims);
      return claims.length;
    });
  }
  if (rows.length === 0) return;
  const leased = await insertRows(tx, target, rows);
  const handed = leases.reduce((sum, lease) => sum + lease(leased), 0);
  if (handed < rows.length) handing?.left();
}

const recordOf = ({ type, id }: { readonly type: EntityType; readonly id: string }): string => `${type} ${id}`;

interface Leased {
  readonly destination: string;
  readonly type: EntityType;
  readonly id: string;
  readonly next_version: number;
  readonly delivered_version: number;
  readonly fence: number;
  readonly at_ms: number;
}

/** Gives back the rows that are leased: to us, where the lease begins at our version, else to whoever sends an older one. */
async function insertRows(tx: Tx, target: ApplyTarget, rows: readonly Row[]): Promise<Leased[]> {
  const { rows: leased } = await tx.query<Leased>({
    name: 'enqueue',
    text: `
     with put as (
       insert into outbox as o (integration, destination, type, id, next_version, last_version, due_at, leased, fence)
       select $1, destination, type, id, first, last,
              case when at_once then clock_timestamp() + lease_ms * interval '1 millisecond' else now() end,
              at_once, at_once::int
         from (select *, lease_ms is not null and destination <> all (array(
                        select destination from destination_pace where paused_until > now())) as at_once
                 from unnest($2::text[], $3::text[], $4::text[], $5::int[], $6::int[], $7::float8[])
                   as t (destination, type, id, first, last, lease_ms)) t
        order by destination, type, id
           on conflict (integration, destination, type, id) do update
          set last_version = excluded.last_version,
              due_at = case when ${untried} then excluded.due_at when ${idle} then now() else o.due_at end,
              leased = o.leased or (${idle} and excluded.leased),
              fence = case when ${untried} then o.fence + excluded.fence else o.fence end
       returning o.destination, o.type, o.id, o.next_version, o.delivered_version, o.fence,
                 o.leased and o.held_by is null and o.due_at > now() as is_leased
     )
     select destination, type, id, next_version, delivered_version, fence,
            (extract(epoch from now()) * 1000)::float8 as at_ms
       from put where is_leased`,
    values: [
      target.integration,
      texts(rows.map((row) => row.destination)),
      texts(rows.map((row) => row.newest.type)),
      texts(rows.map((row) => row.newest.id)),
      int4s(rows.map((row) => row.first.version)),
      int4s(rows.map((row) => row.newest.version)),
      float8s(rows.map((row) => row.leaseMs)),
    ],
  });
  return leased;
}

const idle = 'o.next_version > o.last_version and o.held_by is null';
/** A version that was given up without an answer leaves its row leased, and the next claim is to know that it may have arrived. */
const untried = `${idle} and not o.leased`;

function claimsOf(rows: readonly Row[], leased: readonly Leased[]): Claimed[] {
  const found = new Map(leased.map((row) => [`${row.destination} ${recordOf(row)}`, row]));
  return rows.flatMap(({ destination, first, leaseMs }) => {
    const row = found.get(`${destination} ${recordOf(first)}`);
    if (leaseMs === undefined || row?.next_version !== first.version) return [];
    const { type, id, version, event, idempotencyKey, item } = first;
    return [
      {
        type,
        id,
        version,
        deliveredVersion: row.delivered_version,
        triesUsed: 0,
        fence: row.fence,
        interrupted: false,
        change: {
          event,
          idempotencyKey,
          at: row.at_ms,
          record: () => (item.isVerbatim ? item.incoming.record : decodeRecord(type, item.text)),
        },
      },
    ];
  });
}
