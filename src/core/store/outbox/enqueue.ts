import type { EntityType } from '../../../terms.ts';
import { decodeRecord } from '../../canonical/reservation.ts';
import type { Outgoing } from '../../deliver/handover.ts';
import type { Claimed } from '../../deliver/ports.ts';
import { recordKey } from '../../reconcile/forms.ts';
import { rowsTable } from '../db/columns.ts';
import type { Tx } from '../db/pool.ts';
import { idempotencyKey } from '../records/history.ts';
import { type ChangeStep, movesOf, type Target } from '../records/write.ts';

interface Move {
  readonly destination: string;
  readonly first: ChangeStep;
  readonly newest: ChangeStep;
}

interface LeasedRow {
  readonly destination: string;
  readonly type: EntityType;
  readonly id: string;
  readonly delivered_version: number;
  readonly removed: boolean;
  readonly leaving: boolean;
  readonly attempt: number;
  readonly fence: number;
  readonly is_leased: boolean;
  readonly at_ms: number;
}

const table = rowsTable(2, { text: ['destination', 'type', 'id'], int: ['first', 'last', 'lease_ms'] });

const isIdle = 'o.next_version > o.last_version and o.held_by is null';

/** Destinations whose calls wait. */
const waiting = `select name from remotes where kind = 'destination' and (paused_until > now() or state <> 'closed')`;

/**
 * An idle row becomes due now, or is leased to this node, whose deliveries then have it without a claim (bench/mechanisms.md, 12). One whose
 * last version may have arrived is never leased here: a claim says so to the destination. A row that is queued, leased or held by a dead letter
 * only gets the newer `last_version`. A record's first row for a destination starts at the oldest version of this batch, so that no version is
 * skipped.
 */
export async function enqueue(
  tx: Tx,
  brand: Target,
  changes: readonly ChangeStep[],
  outgoing?: Outgoing,
): Promise<void> {
  const { integration } = brand;
  const moves = movesOf(changes).flatMap((move): Move[] =>
    brand.destinations[move.newest.statement.type].map((destination) => ({ destination, ...move })),
  );
  if (moves.length === 0) return;
  const rooms = outgoing === undefined ? [] : roomsOf(outgoing, integration, moves);
  const leaseOf = new Map(rooms.flatMap(({ room, moves }) => moves.map((move) => [move, room.leaseMs])));
  const { rows } = await tx.query<LeasedRow>({
    name: 'enqueue',
    text: `
      insert into outbox as o (integration, destination, type, id, next_version, last_version, due_at, leased, fence)
      select $1, destination, type, id, first, last, case when ms > 0 then statement_timestamp() + ms * interval '1 ms' else now() end,
             ms > 0, (ms > 0)::int
        from (select *, case when lease_ms > 0 and destination = any(array(${waiting})) then 0 else lease_ms end as ms from ${table.sql}) t
       order by destination, type, id
          on conflict (integration, destination, type, id) do update
         set last_version = excluded.last_version,
             due_at = case when not (${isIdle}) then o.due_at when o.leased then now() else excluded.due_at end,
             leased = o.leased or (${isIdle} and excluded.leased),
             fence = case when ${isIdle} and not o.leased then o.fence + excluded.fence else o.fence end
      returning destination, type, id, delivered_version, removed, leaving, attempt, fence,
                leased and next_version = last_version and due_at > statement_timestamp() as is_leased,
                (extract(epoch from now()) * 1000)::float8 as at_ms`,
    values: [
      integration,
      ...table.values(
        moves.map((move) => ({
          destination: move.destination,
          type: move.newest.statement.type,
          id: move.newest.statement.id,
          first: move.first.decision.version,
          last: move.newest.decision.version,
          lease_ms: leaseOf.get(move) ?? 0,
        })),
      ),
    ],
  });
  if (outgoing === undefined) return;
  const leased = new Map(rows.flatMap((row) => (row.is_leased ? [[`${row.destination} ${recordKey(row)}`, row]] : [])));
  for (const { room, destination, moves } of rooms) {
    const claims = moves.flatMap(({ newest }) => {
      const row = leased.get(`${destination} ${recordKey(newest.statement)}`);
      return row === undefined ? [] : [claimedOf(integration, newest, row)];
    });
    outgoing.lease(room, claims);
  }
  for (const { destination, newest } of moves) {
    if (!leased.has(`${destination} ${recordKey(newest.statement)}`)) outgoing.wait({ integration, destination });
  }
}

/** What may be leased of each destination. Only the newest version is in memory; an erasure is sent with what it erased. */
function roomsOf(outgoing: Outgoing, integration: string, moves: readonly Move[]) {
  const single = moves.filter(({ first, newest }) => first === newest && newest.decision.event !== 'erased');
  return [...Map.groupBy(single, ({ destination }) => destination)].flatMap(([destination, own]) => {
    const granted = outgoing.room({ integration, destination }, own.length);
    return granted === undefined ? [] : [{ destination, room: granted.room, moves: own.slice(0, granted.records) }];
  });
}

function claimedOf(integration: string, { statement, decision }: ChangeStep, row: LeasedRow): Claimed {
  const { type, id, receipt } = statement;
  const { version, event, text } = decision;
  return {
    type,
    id,
    version,
    deliveredVersion: row.delivered_version,
    ...(row.removed && { isRemoved: true }),
    ...(row.leaving && { isLeaving: true }),
    triesUsed: row.attempt,
    fence: row.fence,
    interrupted: false,
    change: {
      event,
      idempotencyKey: idempotencyKey(integration, type, id, version, text),
      at: row.at_ms,
      statedAt: Math.min(receipt.effectiveAt, row.at_ms),
      record: () => decodeRecord(type, text),
      ...(receipt.trace !== undefined && { trace: receipt.trace }),
    },
  };
}
