import type { NewEvent, StoreResult } from '../../intake/push/ports.ts';
import { rowsTable } from '../db/columns.ts';
import { type Pool, type Tx, together } from '../db/pool.ts';

/** An event that was not stored, and why. */
interface AppendRow {
  readonly n: number;
  readonly known: boolean;
  readonly same_body: boolean;
  readonly retired: boolean;
  readonly secret_ended: boolean;
}

/**
 * Stores a batch of events with one statement and one fsync. The same statement checks that the endpoint is not retired and
 * that the secret has not expired, so a retired endpoint accepts nothing on any node.
 *
 * Sequence numbers follow the order of arrival. Rows are inserted in the order of their keys, so that nodes which receive the
 * same events in a different order do not deadlock.
 */
export async function appendEvents(
  pool: Pool,
  events: readonly NewEvent[],
  written: () => void = () => {},
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
  const rows = await insertDistinct(pool, distinct, written).catch((error) => {
    // One retry, because a failover cuts connections. Events that the lost attempt stored are duplicates now.
    if (!passing.test((error as { code?: string }).code ?? (error as Error).message)) throw error;
    return insertDistinct(pool, distinct, written);
  });
  const results = new Map<number, StoreResult>();
  for (const [n, i] of [...first.values()].entries()) results.set(i, verdictOf(rows.get(n)));
  return events.map((event, i): StoreResult => {
    const at = firstOf[i] ?? i;
    const result = results.get(at) ?? { kind: 'refused', reason: 'retired' };
    if (at === i || result.kind === 'refused') return result;
    return { kind: 'duplicate', sameBody: events[at]?.rawBody.equals(event.rawBody) ?? false };
  });
}

const passing = /^(?:08|40|57P|ECONNRESET|EPIPE|Connection terminated|Client .* not queryable)/;

function verdictOf(row: AppendRow | undefined): StoreResult {
  if (row === undefined) return { kind: 'stored' };
  if (row.retired) return { kind: 'refused', reason: 'retired' };
  // Known, or just stored by another node; in that case its body is not visible yet and counts as the same.
  if (row.known) return { kind: 'duplicate', sameBody: row.same_body };
  return row.secret_ended ? { kind: 'refused', reason: 'secret_ended' } : { kind: 'duplicate', sameBody: true };
}

/**
 * An explicit transaction, so that `written` is called before the commit, whose fsync takes the time. The three statements are
 * pipelined: if the insert fails, the commit rolls back.
 */
async function insertDistinct(
  pool: Pool,
  events: readonly NewEvent[],
  written: () => void,
): Promise<Map<number, AppendRow>> {
  const client = await pool.connect();
  try {
    const insert = async () => {
      const inserted = await insertRows(client, events);
      written();
      return inserted;
    };
    const [, rows] = await together([client.query('begin'), insert(), client.query('commit')]);
    client.release();
    return rows;
  } catch (error) {
    // The connection may be in any state: close it.
    client.release(true);
    throw error;
  }
}

async function insertRows(tx: Tx, events: readonly NewEvent[]): Promise<Map<number, AppendRow>> {
  const { rows } = await tx.query<AppendRow>({
    name: 'append-events',
    text: appendSql,
    values: appended.values(
      events.map(({ integration, endpointId, secretNo, eventId, event, occurredAt, rawBody, trace }) => ({
        integration,
        endpoint_id: endpointId,
        secret_no: secretNo,
        event_id: eventId,
        event,
        occurred_ms: occurredAt,
        body: rawBody,
        trace,
      })),
    ),
  });
  return new Map(rows.map((row) => [row.n, row]));
}

const appended = rowsTable(1, {
  text: ['integration', 'endpoint_id', 'event_id', 'event', 'trace'],
  int: ['secret_no'],
  float8: ['occurred_ms'],
  bytea: ['body'],
});

/**
 * Each lookup is by key. As plain joins, a plan that was made while the tables were new reads all events for every batch, for as long as
 * its connection lasts or until the tables are analyzed. Sub-selects hide the length of the arrays: otherwise PostgreSQL plans every
 * execution again.
 */
const appendSql = `
      with incoming as materialized (
        select n::int - 1 as n, nextval('intake_seq') as seq, integration, endpoint_id, secret_no, event_id, event,
               coalesce(to_timestamp(occurred_ms / 1000.0), statement_timestamp()) as occurred_at,
               statement_timestamp() as received_at, body, trace
          from ${appended.unnest} with ordinality as t (${appended.names}, n)
      ), checked as (
        select i.*, e.endpoint_id is null or e.retired_at is not null as retired,
               s.endpoint_id is null or s.expires_at <= clock_timestamp() as secret_ended
          from incoming i
          left join lateral (select * from endpoints where endpoint_id = i.endpoint_id limit 1) e on true
          left join lateral (select * from endpoint_secrets
                              where endpoint_id = i.endpoint_id and secret_no = i.secret_no limit 1) s on true
      ), inserted as (
        insert into events (seq, integration, endpoint_id, event_id, event, occurred_at, received_at, body,
                            body_hash, trace)
        select seq, integration, endpoint_id, event_id, event, occurred_at, received_at,
               body, sha256(body), trace
          from checked where not retired and not coalesce(secret_ended, false) order by endpoint_id, event_id
        on conflict (endpoint_id, event_id) do nothing
        returning endpoint_id, event_id
      )
      select c.n, c.retired, coalesce(c.secret_ended, false) as secret_ended,
             old.event_id is not null as known,
             coalesce(old.body_hash = sha256(c.body), true) as same_body
        from checked c
        left join inserted i using (endpoint_id, event_id)
        left join lateral (select * from events where i.event_id is null
                              and endpoint_id = c.endpoint_id and event_id = c.event_id limit 1) old on true
       where i.event_id is null`;
