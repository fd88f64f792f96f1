import type { DirectLeases } from '../../deliver/direct-leases.ts';
import type { EventType } from '../../intake/push/envelope.ts';
import type { Lane, PendingEvent, Settled } from '../../intake/push/event-path.ts';
import type { LaneResult } from '../../intake/push/worker.ts';
import { isSqlState } from '../../kit/sql-state.ts';
import { int4s, int8s, texts } from '../db/columns.ts';
import { type Pool, type Tx, together } from '../db/pool.ts';
import { leasingTransaction } from '../outbox/leasing-transaction.ts';
import { type ApplyOptions, type ApplyTarget, applyPrepared } from '../records/apply.ts';
import { findProfiles, findReservationsOf, readReservationAhead } from '../records/guest-lookup.ts';
import { bookingsOf } from '../records/profile-bookings.ts';
import { profileIds } from '../records/profile-id.ts';
import type { FirstPending, PendingFloors } from './pending-floors.ts';

/** The most bytes of bodies that one batch holds in memory. */
const batchBytes = 16 * 1024 * 1024;

/** What processing the events of a node shares. */
export interface LaneStore {
  readonly pool: Pool;
  readonly directLeases: DirectLeases;
  readonly pendingFloors: PendingFloors;
}

/** The part of it that finds pending events. */
export type PendingStore = Pick<LaneStore, 'pool' | 'pendingFloors'>;

/** The integrations with pending events, found by a loose index scan above the bound and one probe for each lane that has some below it. */
export async function pendingLanes({ pool, pendingFloors }: PendingStore): Promise<string[]> {
  const scan = pendingFloors.scan();
  const { rows } = await pool.query<{ newest: number; firsts: readonly FirstPending[] | null }>(
    `with recursive lanes as (
       (select integration, seq from events where state = 'pending' and seq > $1 order by integration, seq limit 1)
       union all
       select n.* from lanes cross join lateral (
         select e.integration, e.seq from events e
          where e.state = 'pending' and e.integration > lanes.integration and e.seq > $1
          order by e.integration, e.seq limit 1) n
     ), below as (
       select l.integration, p.seq from unnest($2::text[], $3::bigint[]) as l (integration, seq)
        cross join lateral (
         select e.seq from events e
          where e.state = 'pending' and e.integration = l.integration and e.seq between l.seq and $1
          order by e.seq limit 1) p
     )
     select last_value as newest, (select json_agg(f) from (table below union all table lanes) f) as firsts from intake_seq`,
    [scan.above, texts(scan.below.map(({ integration }) => integration)), int8s(scan.below.map(({ seq }) => seq))],
  );
  return scan.found(rows[0]?.firsts ?? [], rows[0]?.newest ?? 0);
}

/**
 * Processes the next batch of an integration's events in one transaction, under a lock that ends with it: only one node works
 * a lane at a time, and a node that dies leaves its batch unchanged.
 *
 * A batch locks records step by step, not in the order of their ids, so it can deadlock with the pages of a poll. It therefore gives up
 * after a short wait, long before PostgreSQL looks for a deadlock, and the first event is processed alone: one event locks all its records
 * in order.
 */
export async function workEventLane(
  store: LaneStore,
  target: ApplyTarget,
  limit: number,
  work: (lane: Lane) => Promise<readonly Settled[]>,
): Promise<LaneResult> {
  try {
    return await workBatch(store, target, limit, work);
  } catch (error) {
    if (limit === 1 || !isSqlState(error, 'lockNotAvailable')) throw error;
    return workBatch(store, target, 1, work);
  }
}

async function workBatch(
  { pool, directLeases, pendingFloors: floors }: LaneStore,
  target: ApplyTarget,
  limit: number,
  work: (lane: Lane) => Promise<readonly Settled[]>,
): Promise<LaneResult> {
  const { integration } = target;
  const { result, upTo } = await leasingTransaction(
    pool,
    directLeases,
    async (tx, leaseBatch): Promise<{ result: LaneResult; settled: readonly Settled[]; upTo?: number | undefined }> => {
      const { isMine, events, more } = await lockLane(tx, integration, limit, floors);
      if (!isMine) return { result: 'busy', settled: [] };
      if (events.length === 0) return { result: 'drained', settled: [] };
      const settled = await work(laneOf(tx, target, events, { leaseBatch }));
      // An event that arrives from now on wakes the worker.
      return { result: more ? 'more' : 'drained', settled, upTo: events.at(-1)?.seq };
    },
    (tx, { settled }) => (settled.length > 0 ? settle(tx, integration, settled) : undefined),
    limit > 1 ? batchWaitsMs : undefined,
  );
  if (upTo !== undefined) floors.processed(integration, upTo);
  return result;
}

/** What applying events needs, inside a transaction that holds the lock of their lane. */
export function laneOf(tx: Tx, target: ApplyTarget, events: readonly PendingEvent[], options: ApplyOptions): Lane {
  const { integration } = target;
  return {
    events,
    apply: (prepared) => applyPrepared(tx, target, prepared, options),
    profiles: (keys) => findProfiles(tx, integration, keys),
    newProfileId: async (guest) => (await profileIds(tx, integration, [guest]))(guest),
    reservation: (id) => readReservationAhead(tx, integration, id),
    bookings: (reservations) => bookingsOf(tx, integration, reservations),
    reservationsOf: (keys, named) => findReservationsOf(tx, integration, keys, named),
  };
}

/** The key of a lane's advisory lock; `name` is SQL for the integration. */
export const laneLock = (name: string): string => `hashtextextended('events ' || ${name}, 0)`;

/** PostgreSQL looks for deadlocks after a second. */
const batchWaitsMs = 200;

/** Takes the lock and reads the batch in one round trip: the second statement's snapshot is taken after the lock is held. */
export async function lockLane(tx: Tx, integration: string, limit: number, floors: PendingFloors) {
  const [{ rows }, next] = await together([
    tx.query<{ mine: boolean }>({
      name: 'lock-events',
      text: `select pg_try_advisory_xact_lock(${laneLock('$1')}) as mine`,
      values: [integration],
    }),
    nextEvents(tx, integration, limit, floors),
  ]);
  return { isMine: rows[0]?.mine === true, ...next };
}

export async function nextEvents(
  tx: Tx,
  integration: string,
  limit: number,
  floors: PendingFloors,
): Promise<{ events: PendingEvent[]; more: boolean }> {
  const { rows } = await tx.query<EventRow & { among: number }>({
    name: 'next-events',
    text: `
      select seq, event, occurred_ms, received_ms, body, attempt, hydrated, hydrated_ms, trace, among
        from (select ${eventColumns},
                     sum(octet_length(body) + coalesce(octet_length(hydrated), 0)) over (order by seq) as bytes,
                     row_number() over (order by seq) as nth, count(*) over () as among
                from (select * from events where integration = $1 and state = 'pending' and seq > $4 order by seq limit $2) first) sized
       where nth = 1 or bytes <= $3
       order by seq`,
    values: [integration, limit, batchBytes, floors.of(integration)],
  });
  const events = rows.map(pendingEvent);
  return { events, more: (rows[0]?.among ?? 0) === limit || (rows[0]?.among ?? 0) > rows.length };
}

/** An event whose dead letter an operator settles, under the lock of its lane; undefined if its body is no longer kept. */
export async function lockEvent(tx: Tx, integration: string, seq: number): Promise<PendingEvent | undefined> {
  await tx.query(`select pg_advisory_xact_lock(${laneLock('$1')})`, [integration]);
  const { rows } = await tx.query<EventRow>(
    `select ${eventColumns} from events where integration = $1 and seq = $2 and state = 'dead' and body is not null`,
    [integration, seq],
  );
  return rows[0] && pendingEvent(rows[0]);
}

interface EventRow {
  readonly seq: number;
  readonly event: EventType;
  readonly occurred_ms: number;
  readonly received_ms: number;
  readonly body: Buffer;
  readonly attempt: number;
  readonly hydrated: Buffer | null;
  readonly hydrated_ms: number | null;
  readonly trace: string | null;
}

const eventColumns = `seq, event, body, attempt, hydrated, trace,
                     (extract(epoch from occurred_at) * 1000)::bigint as occurred_ms,
                     (extract(epoch from received_at) * 1000)::bigint as received_ms,
                     (extract(epoch from hydrated_at) * 1000)::bigint as hydrated_ms`;

const pendingEvent = (row: EventRow): PendingEvent => ({
  seq: row.seq,
  event: row.event,
  occurredAt: row.occurred_ms,
  receivedAt: row.received_ms,
  body: row.body,
  attempt: row.attempt,
  ...(row.hydrated && row.hydrated_ms !== null && { hydrated: { body: row.hydrated, requestedAt: row.hydrated_ms } }),
  ...(row.trace !== null && { trace: row.trace }),
});

export async function settle(tx: Tx, integration: string, settled: readonly Settled[]): Promise<void> {
  await tx.query({
    name: 'settle-events',
    text: `
      update events e
         set state = t.state, outcome = t.outcome, type = coalesce(t.type, e.type), id = t.id, version = t.version,
             due_at = case when t.state = 'hydrate' then now() end,
             attempt = case when t.state = 'hydrate' then 0 else e.attempt end
        from unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[])
          as t (seq, state, outcome, type, id, version)
       where e.integration = $1 and e.seq = t.seq and e.seq = any($2::bigint[])`,
    values: [
      integration,
      int8s(settled.map((one) => one.seq)),
      texts(settled.map((one) => one.state)),
      texts(settled.map((one) => ('outcome' in one ? one.outcome : undefined))),
      texts(settled.map((one) => ('type' in one ? one.type : 'reservation'))),
      texts(settled.map((one) => one.id)),
      int4s(settled.map((one) => ('version' in one ? one.version : undefined))),
    ],
  });
}
