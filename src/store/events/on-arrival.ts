import type { Lane, PendingEvent, Settled } from '../../intake/push/event-path.ts';
import type { Applied } from '../../intake/push/on-arrival.ts';
import type { NewEvent } from '../../intake/push/ports.ts';
import type { EpochMs } from '../../terms.ts';
import { bytes, float8s, int4s, int8s, texts } from '../db/columns.ts';
import { type Tx, together } from '../db/pool.ts';
import { erasureLock } from '../erasure/erased.ts';
import { leasingTransaction } from '../outbox/leasing-transaction.ts';
import type { ApplyTarget } from '../records/apply.ts';
import { lockAhead } from '../records/locked-ahead.ts';
import { type LaneStore, laneLock, laneOf, nextEvents, settle } from './lane.ts';
import type { PendingFloors } from './pending-floors.ts';

/** The events of one integration that arrived together, and how they are processed. */
export interface ArrivingLane {
  readonly target: ApplyTarget;
  readonly events: readonly NewEvent[];
  readonly work: (lane: Lane) => Promise<readonly Settled[]>;
}

/** More pending events than this are a backlog, which the worker processes. */
const mostPending = 50;
/** The longest wait for a lock before the events are stored first: senders wait for their answer. */
const lockMs = 250;

/**
 * Stores arriving events together with their changes, in one transaction. Events of these lanes that are still pending are
 * processed first. Throws if a lock is not free in time.
 */
export async function applyOnArrival(
  { pool, directLeases, pendingFloors: floors }: LaneStore,
  lanes: readonly ArrivingLane[],
): Promise<Applied> {
  const inOrder = lanes.toSorted((a, b) => (a.target.integration < b.target.integration ? -1 : 1));
  const processed = await leasingTransaction(
    pool,
    directLeases,
    async (tx, leaseBatch): Promise<readonly Processed[] | 'refused' | 'backlog'> => {
      const [, admitted, ...lockedAhead] = await together(
        tx,
        () => [
          lock(tx, inOrder),
          admit(tx, inOrder, floors),
          ...inOrder.map(({ target, events }) => lockAhead(tx, target.integration, oldestOf(events))),
        ],
        () => inOrder.forEach(prepareAll),
      );
      if (admitted === undefined) return 'refused';
      const { hasErased, hasPending } = admitted;
      const backlogs = hasPending
        ? await together(tx, () =>
            inOrder.map(({ target }) => nextEvents(tx, target.integration, mostPending + 1, floors)),
          )
        : [];
      if (backlogs.some(({ events }) => events.length > mostPending)) return 'backlog';
      const all: Processed[] = [];
      let from = 0;
      for (const [i, { target, events, work }] of inOrder.entries()) {
        const arriving = events.map((event, n) => pendingOf(event, admitted.rows[from + n] as Admitted));
        from += events.length;
        const erased = new Set<number>();
        const onErased = (seqs: readonly number[]) => seqs.forEach(erased.add, erased);
        const { events: backlog = [], more = false } = backlogs[i] ?? {};
        const settled = await work(
          laneOf(tx, target, [...backlog, ...arriving], {
            leaseBatch,
            onErased,
            hasErased,
            lockedAhead: lockedAhead[i],
          }),
        );
        const upTo = (more ? backlog : arriving).at(-1)?.seq ?? 0;
        all.push({ target, events, arriving, settled, erased, upTo });
      }
      return all;
    },
    (tx, all) => (typeof all === 'string' ? undefined : Promise.all(all.flatMap((one) => write(tx, one)))),
    lockMs,
  );
  if (typeof processed === 'string') return processed;
  for (const { target, upTo } of processed) floors.processed(target.integration, upTo);
  return lanes.map(({ target }) => processed.find((one) => one.target === target)?.settled ?? []);
}

/** The reservations that the events are about, each with the time of its oldest event. */
function oldestOf(events: readonly NewEvent[]): ReadonlyMap<string, EpochMs | undefined> {
  const oldest = new Map<string, EpochMs | undefined>();
  for (const { ahead, occurredAt } of events) {
    if (ahead === undefined) continue;
    const before = oldest.get(ahead.id) ?? Infinity;
    oldest.set(ahead.id, occurredAt === undefined || before < occurredAt ? oldest.get(ahead.id) : occurredAt);
  }
  return oldest;
}

function prepareAll({ events }: ArrivingLane): void {
  for (const { ahead } of events) ahead?.prepared();
}

interface Processed {
  readonly target: ApplyTarget;
  readonly events: readonly NewEvent[];
  /** The same events, with their sequence numbers. */
  readonly arriving: readonly PendingEvent[];
  readonly settled: readonly Settled[];
  readonly erased: ReadonlySet<number>;
  /** All pending events of the lane up to this number were among them. */
  readonly upTo: number;
}

/** Locks the lanes, in the order of their names, and keeps erasures out until the end of the transaction. */
async function lock(tx: Tx, lanes: readonly ArrivingLane[]): Promise<void> {
  await tx.query({
    name: 'lock-lanes',
    text: `select locked, pg_advisory_xact_lock_shared(${erasureLock})
             from (select count(pg_advisory_xact_lock(${laneLock('name')})) as locked
                     from (select name from unnest($1::text[]) name order by name) lanes) held`,
    values: [texts(lanes.map(({ target }) => target.integration))],
  });
}

interface Admitted {
  readonly seq: number;
  readonly occurred_ms: number;
  readonly received_ms: number;
}

interface Admission {
  /** In the order of arrival. */
  readonly rows: readonly Admitted[];
  /** Guests were erased before. */
  readonly hasErased: boolean;
  /** One of the lanes has pending events. */
  readonly hasPending: boolean;
}

/**
 * Numbers for the events; undefined if one is known already, or its endpoint or secret has ended. It also answers what three further
 * statements answered: without them and the separate lock timeout, a single event takes 5 % less of Node's processor time.
 */
async function admit(tx: Tx, lanes: readonly ArrivingLane[], floors: PendingFloors): Promise<Admission | undefined> {
  const events = lanes.flatMap((lane) => lane.events);
  const names = lanes.map(({ target }) => target.integration);
  if (new Set(events.map(({ endpointId, eventId }) => `${endpointId} ${eventId}`)).size < events.length)
    return undefined;
  const { rows } = await tx.query<Admitted & { has_erased: boolean; has_pending: boolean }>({
    name: 'admit-events',
    text: `
      with incoming as materialized (
        select n, nextval('intake_seq') as seq, endpoint_id, secret_no, event_id,
               coalesce(occurred_ms, (extract(epoch from statement_timestamp()) * 1000)::float8) as occurred_ms
          from unnest((select $1::text[]), (select $2::int[]), (select $3::text[]), (select $4::float8[])) with ordinality
            as t (endpoint_id, secret_no, event_id, occurred_ms, n)
      )
      select seq, occurred_ms, (extract(epoch from statement_timestamp()) * 1000)::bigint as received_ms,
             exists (select from erased_guests) as has_erased,
             exists (select from unnest((select $5::text[]), (select $6::bigint[])) lane (name, above),
                          lateral (select from events p where p.integration = lane.name and p.state = 'pending'
                                      and p.seq > lane.above order by p.seq limit 1) first) as has_pending
        from incoming i
        -- Lookups by key, not joins: see appendSql. Sub-selects keep the plan, see insertSql of changes.
        join lateral (select from endpoints where endpoint_id = i.endpoint_id and retired_at is null limit 1) e on true
        join lateral (select from endpoint_secrets
                       where endpoint_id = i.endpoint_id and secret_no = i.secret_no
                         and (expires_at is null or expires_at > clock_timestamp()) limit 1) s on true
       where not exists (select from events where endpoint_id = i.endpoint_id and event_id = i.event_id offset 0)
       order by n`,
    values: [
      texts(events.map((event) => event.endpointId)),
      int4s(events.map((event) => event.secretNo)),
      texts(events.map((event) => event.eventId)),
      float8s(events.map((event) => event.occurredAt)),
      texts(names),
      int8s(names.map((name) => floors.of(name))),
    ],
  });
  const [first] = rows;
  if (first === undefined || rows.length < events.length) return undefined;
  return { rows, hasErased: first.has_erased, hasPending: first.has_pending };
}

const pendingOf = (
  { event, rawBody, data, ahead, trace }: NewEvent,
  { seq, occurred_ms, received_ms }: Admitted,
): PendingEvent => ({
  seq,
  event,
  occurredAt: Math.round(occurred_ms),
  receivedAt: received_ms,
  body: rawBody,
  attempt: 0,
  ...(data && { data }),
  ...(ahead && { ahead }),
  ...(trace !== undefined && { trace }),
});

/** Settles the events that were pending and inserts those that arrived, with their outcomes. */
function write(tx: Tx, { target, events, arriving, settled, erased }: Processed): Promise<unknown>[] {
  const { integration } = target;
  const bySeq = new Map(settled.map((one) => [one.seq, one]));
  const own = arriving.map(({ seq }) => bySeq.get(seq));
  const arrived = new Set(arriving.map(({ seq }) => seq));
  const wasPending = settled.filter(({ seq }) => !arrived.has(seq));
  const isTraced = events.some(({ trace }) => trace !== undefined);
  const inserted = tx.query({
    name: isTraced ? 'insert-applied-traced-events' : 'insert-applied-events',
    text: isTraced ? insertTraced : insertPlain,
    values: [
      integration,
      int8s(arriving.map(({ seq }) => seq)),
      texts(events.map(({ endpointId }) => endpointId)),
      texts(events.map(({ eventId }) => eventId)),
      texts(events.map(({ event }) => event)),
      float8s(arriving.map(({ occurredAt }) => occurredAt)),
      float8s(arriving.map(({ receivedAt }) => receivedAt)),
      bytes(events.map(({ rawBody }) => rawBody)),
      int4s(arriving.map(({ seq }) => Number(erased.has(seq)))),
      texts(own.map((one) => one?.state ?? 'pending')),
      texts(own.map((one) => (one && 'outcome' in one ? one.outcome : undefined))),
      texts(own.map((one) => (one && 'type' in one ? one.type : 'reservation'))),
      texts(own.map((one) => one?.id)),
      int4s(own.map((one) => (one && 'version' in one ? one.version : undefined))),
      ...(isTraced ? [texts(events.map(({ trace }) => trace))] : []),
    ],
  });
  return wasPending.length > 0 ? [settle(tx, integration, wasPending), inserted] : [inserted];
}

const insertPlain = insertSql(false);
const insertTraced = insertSql(true);

/** Fails, and rolls back the whole transaction, if another node stored one of the events meanwhile. */
function insertSql(isTraced: boolean): string {
  const [array, trace] = isTraced ? [', $15::text[]', ', trace'] : ['', ''];
  return `
      insert into events (seq, integration, endpoint_id, event_id, event, occurred_at, received_at, body, body_hash,
                          state, outcome, type, id, version, due_at${trace})
      select seq, $1, endpoint_id, event_id, event, to_timestamp(occurred_ms / 1000.0), to_timestamp(received_ms / 1000.0),
             case when not erased then body end, sha256(body), state, outcome, type, id, version,
             case when state = 'hydrate' then now() end${trace}
        from unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::float8[], $7::float8[], $8::bytea[], $9::int[]::bool[],
                    $10::text[], $11::text[], $12::text[], $13::text[], $14::int[]${array})
          as t (seq, endpoint_id, event_id, event, occurred_ms, received_ms, body, erased, state, outcome, type, id,
                version${trace})
       order by endpoint_id, event_id`;
}
