import { hash } from 'node:crypto';
import { isSqlState, isTooSlow } from '../../../kit/sql-state.ts';
import type { Settled } from '../../intake/push/brand-batch.ts';
import type { NewEvent, StoreResult } from '../../intake/push/ports.ts';
import type { EventSession } from '../../intake/push/worker.ts';
import { rowsTable } from '../db/columns.ts';
import { type Pool, type Tx, together, transaction } from '../db/pool.ts';
import { applyArrived, type EventStore, lockIdle } from './work-events.ts';

/** Where arriving events are applied in the transaction that stores them. */
export interface Applying {
  readonly store: Omit<EventStore, 'pool'>;
  /** A new one for each attempt. */
  readonly session: () => EventSession;
}

/** With more in one group the node is busy: they are stored, and the worker applies them while the next ones are stored. */
const mostApplied = 8;
/** The longest wait for a record's lock before the group is stored and left to the worker. */
const appliedWaitsMs = 100;

/**
 * Stores a batch of events with one flush to disk. The same transaction checks that the endpoint is not retired and that the secret has not
 * expired, so a retired endpoint accepts nothing on any node.
 *
 * Sequence numbers follow the order of arrival. Rows are inserted in the order of their keys, so that nodes which receive the
 * same events in a different order do not deadlock.
 *
 *   check ─▶ apply, if there is `applying` (bench/mechanisms.md, 13) ─▶ insert, as done or as pending
 *
 * If it cannot be applied, for whatever reason, it is stored as pending: the worker finds out, event by event.
 */
export async function appendEvents(
  pool: Pool,
  events: readonly NewEvent[],
  written: () => void = () => {},
  applying?: Applying,
): Promise<StoreResult[]> {
  // The first of equal ids in the batch is stored; the others are its duplicates.
  const first = new Map<string, number>();
  const firstOf = events.map((event, i) => {
    const key = `${event.endpointId} ${event.eventId}`;
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, i);
    return earlier ?? i;
  });
  const distinct = events.filter((_, i) => firstOf[i] === i);
  const apply = applying && distinct.length <= mostApplied ? applying : undefined;
  const stored =
    (apply && (await storeApplied(pool, distinct, apply).catch(leaveToWorker))) ??
    (await storePending(pool, distinct, written));
  const results = new Map([...first.values()].map((i, n) => [i, stored[n]]));
  return events.map((event, i): StoreResult => {
    const at = firstOf[i] ?? i;
    const result = results.get(at) ?? { kind: 'refused', reason: 'retired' };
    if (at === i || result.kind === 'refused') return result;
    return { kind: 'duplicate', sameBody: events[at]?.rawBody.equals(event.rawBody) ?? false };
  });
}

/** A server that does not answer is not asked again: the senders wait. */
function leaveToWorker(error: unknown): undefined {
  if (isTooSlow(error) && !isSqlState(error, 'lockNotAvailable')) throw error;
}

const passing = /^(?:08|40|57P|ECONNRESET|EPIPE|Connection terminated|Client .* not queryable)/;

/** `written` is called before the commit, whose flush takes the time. */
async function storePending(pool: Pool, events: readonly NewEvent[], written: () => void): Promise<StoreResult[]> {
  const store = () =>
    transaction(
      pool,
      async (tx) => ({ checked: await check(tx, events), taken: new Set<number>() }),
      async (tx, { checked, taken }) => {
        for (const seq of await insert(tx, freshOf(events, checked), { isAlone: false })) taken.add(seq);
        written();
      },
    );
  // One retry, because a failover cuts connections. Events that the lost attempt stored are duplicates now.
  const { checked, taken } = await store().catch((error) => {
    if (!passing.test((error as { code?: string }).code ?? (error as Error).message)) throw error;
    return store();
  });
  return checked.map((one) => {
    const verdict = verdictOf(one);
    // Another node has just stored it; its body is not visible yet and counts as the same.
    return verdict.kind === 'stored' && !taken.has(one.seq) ? { kind: 'duplicate', sameBody: true } : verdict;
  });
}

/** Fails if another node stores one of them meanwhile. */
async function storeApplied(
  pool: Pool,
  events: readonly NewEvent[],
  { store, session: open }: Applying,
): Promise<StoreResult[]> {
  const { checked, applied, session } = await transaction(
    pool,
    async (tx) => {
      const session = open();
      const names = [...new Set(events.map(({ integration }) => integration))];
      const [checked, brands] = await together([check(tx, events), lockIdle(tx, names)]);
      const arrived = freshOf(events, checked).flatMap(({ event, checked: { seq, received_ms: receivedAt } }) => {
        const { integration, event: kind, occurredAt = receivedAt, rawBody: body, trace } = event;
        const traced = trace === undefined ? {} : { trace };
        return brands.has(integration)
          ? [{ integration, event: { seq, event: kind, occurredAt, receivedAt, body, attempt: 0, ...traced } }]
          : [];
      });
      return { checked, session, applied: await applyArrived(tx, store, arrived, session.work) };
    },
    (tx, { checked, applied }) => insert(tx, freshOf(events, checked), { settled: applied.settled, isAlone: true }),
    appliedWaitsMs,
  );
  applied.outgoing.send();
  session.done();
  return checked.map((one) => {
    const verdict = verdictOf(one);
    return verdict.kind === 'stored' && applied.settled.has(one.seq) ? { ...verdict, isApplied: true } : verdict;
  });
}

interface Checked {
  readonly n: number;
  readonly seq: number;
  readonly received_ms: number;
  readonly known: boolean;
  readonly same_body: boolean;
  readonly retired: boolean;
  readonly secret_ended: boolean;
}

function verdictOf(one: Checked): StoreResult {
  if (one.retired) return { kind: 'refused', reason: 'retired' };
  if (one.known) return { kind: 'duplicate', sameBody: one.same_body };
  return one.secret_ended ? { kind: 'refused', reason: 'secret_ended' } : { kind: 'stored' };
}

const freshOf = (events: readonly NewEvent[], checked: readonly Checked[]) =>
  checked.flatMap((one) => {
    const event = events[one.n];
    return event !== undefined && verdictOf(one).kind === 'stored' ? [{ event, checked: one }] : [];
  });

const checking = rowsTable(1, { text: ['endpoint_id', 'event_id'], int: ['secret_no'], bytea: ['body_hash'] });

/**
 * Each lookup is by key. As plain joins, a plan that was made while the tables were new reads all events for every batch, for as long as
 * its connection lasts or until the tables are analyzed.
 */
async function check(tx: Tx, events: readonly NewEvent[]): Promise<readonly Checked[]> {
  const { rows } = await tx.query<Checked>({
    name: 'check-events',
    text: `
      select n::int - 1 as n, nextval('intake_seq') as seq, (extract(epoch from now()) * 1000)::bigint as received_ms,
             e.endpoint_id is null or e.retired_at is not null as retired,
             s.endpoint_id is null or s.expires_at <= clock_timestamp() as secret_ended,
             old.body_hash is not null as known, coalesce(old.body_hash = t.body_hash, true) as same_body
        from ${checking.unnest} with ordinality as t (${checking.names}, n)
        left join lateral (select * from endpoints where endpoint_id = t.endpoint_id limit 1) e on true
        left join lateral (select * from endpoint_secrets
                            where endpoint_id = t.endpoint_id and secret_no = t.secret_no limit 1) s on true
        left join lateral (select body_hash from events where endpoint_id = t.endpoint_id and event_id = t.event_id limit 1) old on true
       order by n`,
    values: checking.values(
      events.map(({ endpointId, eventId, secretNo, rawBody }) => ({
        endpoint_id: endpointId,
        event_id: eventId,
        secret_no: secretNo,
        body_hash: bodyHash(rawBody),
      })),
    ),
  });
  return rows;
}

const bodyHash = (body: Buffer): Buffer => hash('sha256', body, 'buffer');

const inserted = rowsTable(1, {
  text: ['integration', 'endpoint_id', 'event_id', 'event', 'trace', 'state', 'outcome', 'reason', 'type', 'id'],
  int: ['version'],
  bigint: ['seq'],
  float8: ['occurred_ms'],
  bytea: ['body', 'body_hash'],
});

/** Returns what was inserted. With `isAlone`, the transaction fails if one of them is stored already. */
async function insert(
  tx: Tx,
  fresh: ReturnType<typeof freshOf>,
  { settled, isAlone }: { readonly settled?: ReadonlyMap<number, Settled>; readonly isAlone: boolean },
): Promise<readonly number[]> {
  if (fresh.length === 0) return [];
  const { rows } = await tx.query<{ seq: number }>({
    name: isAlone ? 'insert-events-alone' : 'insert-events',
    text: `
      insert into events (seq, integration, endpoint_id, event_id, event, occurred_at, received_at, body, body_hash, trace, state, outcome,
                          reason, type, id, version, due_at)
      select seq, integration, endpoint_id, event_id, event, coalesce(to_timestamp(occurred_ms / 1000.0), now()), now(), body, body_hash,
             trace, state, outcome, reason, type, id, version, case when state = 'hydrate' then now() end
        from ${inserted.sql} order by endpoint_id, event_id
      ${isAlone ? '' : 'on conflict (endpoint_id, event_id) do nothing'}
      returning seq`,
    values: inserted.values(
      fresh.map(
        ({ event: { integration, endpointId, eventId, event, occurredAt, rawBody, trace }, checked: { seq } }) => ({
          ...(settled?.get(seq) ?? { state: 'pending' }),
          seq,
          integration,
          endpoint_id: endpointId,
          event_id: eventId,
          event,
          occurred_ms: occurredAt,
          body: rawBody,
          body_hash: bodyHash(rawBody),
          trace,
        }),
      ),
    ),
  });
  return rows.map(({ seq }) => seq);
}
