import { decodeRecord } from '../../canonical/encode.ts';
import type { DirectLeaseBatch } from '../../deliver/direct-leases.ts';
import type { Claimed, LaneKey } from '../../deliver/ports.ts';
import type { ApplyTarget } from '../../reconcile/apply-target.ts';
import type { EntityType } from '../../terms.ts';
import { float8s, int4s, texts } from '../db/columns.ts';
import type { Tx } from '../db/pool.ts';
import { type Change, movesOf } from '../records/changes.ts';

/** The outbox row of one record and destination. */
interface Row {
  readonly destination: string;
  /** The oldest version of the batch. */
  readonly first: Change;
  readonly newest: Change;
  /** Length of the direct lease; absent if the channel has no capacity and the row is queued. */
  readonly leaseMs?: number;
}

/**
 * An idle row becomes due now or gets a direct lease. A row that is queued, leased or held by a dead letter only gets the newer
 * `last_version`. A record's first row for a destination starts at the oldest version of this batch, so that no version is skipped.
 */
export async function enqueue(
  tx: Tx,
  target: ApplyTarget,
  changes: readonly Change[],
  leaseBatch?: DirectLeaseBatch,
): Promise<void> {
  const moved = movesOf(changes);
  const rows: Row[] = [];
  const lanes: {
    readonly lane: LaneKey;
    readonly wanted: number;
    readonly lease?: (leased: readonly Leased[]) => number;
  }[] = [];
  for (const destination of new Set(Object.values(target.destinations).flat())) {
    const wanted = moved.filter((one) => target.destinations[one.newest.type].includes(destination));
    if (wanted.length === 0) continue;
    const lane = { integration: target.integration, destination };
    const capacity = leaseBatch?.reserve(lane, wanted.length);
    const own = wanted.map((one, i) => ({
      destination,
      ...one,
      ...(capacity && i < capacity.count && { leaseMs: capacity.leaseMs }),
    }));
    rows.push(...own);
    const lease = (leased: readonly Leased[]): number => {
      const claims = claimsOf(own, leased);
      if (claims.length > 0) capacity?.lease({ claims, transaction: leased[0]?.transaction ?? '' });
      return claims.length;
    };
    lanes.push({ lane, wanted: wanted.length, ...(capacity && { lease }) });
  }
  if (rows.length === 0) return;
  const leased = await insertRows(tx, target, rows);
  for (const { lane, wanted, lease } of lanes) {
    if ((lease?.(leased) ?? 0) < wanted) leaseBatch?.queued(lane);
  }
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
  readonly transaction: string;
}

/** Returns the leased rows: leased to us if next_version is our version, else to a node that is sending an older one. */
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
                        select destination from destination_pace where paused_until > now()
                        union all select destination from destination_circuits where opened_at is not null)) as at_once
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
            (extract(epoch from now()) * 1000)::float8 as at_ms, pg_current_xact_id()::text as transaction
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
/** A version that was abandoned without an answer stays marked as leased, so that the next claim knows it may have arrived. */
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
          ...(item.arrival.trace !== undefined && { trace: item.arrival.trace }),
        },
      },
    ];
  });
}
