import type { Claim, StreamEvent, StreamStore } from '../../intake/stream/ports.ts';
import { rowsTable } from '../db/columns.ts';
import { type Pool, rowsOf, type Tx, transaction, withoutNulls } from '../db/pool.ts';
import { changeHeld, claimDue, type Held, type LeasedTable } from '../lease.ts';

const table: LeasedTable = { name: 'streams', key: ['stream'] };
const held = ({ id, fence }: Claim): Held => [id, fence];
const moment = (parameter: string) => `to_timestamp(${parameter}::float8 / 1000.0)`;
const ms = (column: string) => `(extract(epoch from t.${column}) * 1000)::float8`;

const claimSql = `with ${claimDue(table, {
  where: 'stream = any($3::text[])',
  set: 'connected_at = null, account = ($4::text[])[array_position($3::text[], t.stream)]',
  returning: `t.stream as id, t.fence, t.resume_from as "offset", ${ms('resume_at')} as "offsetAt", ${ms('read_to')} as "readTo",
    t.failures, t.failure, t.refused, t.accepted_at is not null as "hasAccepted"`,
})} select * from claimed`;

export function openStreamStore(pool: Pool, accountOf: (id: string) => string): StreamStore {
  return {
    async claim(ids, leaseMs) {
      const accounts = ids.map(accountOf);
      await pool.query(
        'insert into streams (stream, account) select * from unnest($1::text[], $2::text[]) on conflict do nothing',
        [ids, accounts],
      );
      return (await rowsOf(pool)<Claim>(claimSql, [ids.length, leaseMs, ids, accounts])).map(withoutNulls);
    },
    extend: (claim, leaseMs, isUpToDate) =>
      changeHeld(
        pool,
        table,
        held(claim),
        `due_at = now() + $3 * interval '1 ms', failures = case when $4 then 0 else failures end,
         read_to = case when $4 then now() else read_to end, connected_at = coalesce(connected_at, case when $4 then now() end)`,
        [leaseMs, isUpToDate],
      ),
    store: (claim, { events, offset, offsetAt, readTo, refused }) =>
      transaction(pool, async (tx) => {
        const set = `failures = 0, resume_from = coalesce($3, resume_from), resume_at = coalesce(${moment('$4')}, resume_at),
                     read_to = greatest(read_to, ${moment('$5')}), connected_at = coalesce(connected_at, now()), message_at = now(),
                     refused = $6, accepted_at = case when $7 then now() else accepted_at end`;
        const values = [offset, offsetAt, readTo, refused && JSON.stringify(refused), events.length > 0];
        const isHeld = await changeHeld(tx, table, held(claim), set, values);
        return isHeld ? insert(tx, events) : 'fenced';
      }),
    noteGap: async (claim) => void (await changeHeld(pool, table, held(claim), 'gap_at = now()')),
    release: async (claim, afterMs, failure) => {
      const set = `fence = fence + 1, connected_at = null, due_at = now() + $3 * interval '1 ms', failure = $4, said = $5,
                   failures = case when $4::text is null then 0 else failures + 1 end`;
      await changeHeld(pool, table, held(claim), set, [afterMs, failure?.code, failure?.said]);
    },
  };
}

const streamed = rowsTable(1, { text: ['integration', 'event_id', 'event'], float8: ['occurred_ms'], bytea: ['body'] });

/** The sender is the brand's stream, whatever its key is: an event that comes again after a change of key is a duplicate. */
async function insert(tx: Tx, events: readonly StreamEvent[]): Promise<number> {
  if (events.length === 0) return 0;
  const { rowCount } = await tx.query({
    name: 'append-streamed-events',
    text: `
      insert into events (integration, endpoint_id, event_id, event, occurred_at, received_at, body, body_hash)
      select integration, 'stream:' || integration, event_id, event,
             coalesce(to_timestamp(occurred_ms / 1000.0), statement_timestamp()), statement_timestamp(), body, sha256(body)
        from ${streamed.unnest} with ordinality as t (${streamed.names}, n) order by n
      on conflict (endpoint_id, event_id) do nothing`,
    values: streamed.values(
      events.map(({ integration, eventId, event, occurredAt, rawBody }) => ({
        integration,
        event_id: eventId,
        event,
        occurred_ms: occurredAt,
        body: rawBody,
      })),
    ),
  });
  return rowCount ?? 0;
}
