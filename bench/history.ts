import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { migrate } from '../src/core/store/db/migrate.ts';
import { dropPartitions } from '../src/core/store/db/partitions.ts';
import { openPool, type Pool } from '../src/core/store/db/pool.ts';
import { pruneEvents } from '../src/core/store/events/retention.ts';
import { openPrivatePostgres } from '../src/operator/embedded-postgres/open.ts';

const day = 86_400_000;

/**
 * What history costs: bytes per event in each table, deleting rows compared with
 * dropping partitions. `npm run bench -- history [ROWS]`; a million rows take 6 GB of disk for some minutes.
 */
export async function run(args: readonly string[]): Promise<void> {
  const rows = Number(args[0] ?? 1_000_000);
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-bench-'));
  const server = await openPrivatePostgres(folder, { purpose: 'command', describe: 'bench' });
  const pool = openPool({ connection: server.connection, applicationName: 'bench', statementMs: 3_600_000 });
  try {
    await migrate(pool);
    await timed(`fill ${rows} events with entry and attempt`, () => fill(pool, rows));
    await sizes(pool, rows);
    const part = Math.min(rows, 100_000);
    await perRow('empty raw payloads by update', part, () =>
      pool.query(
        `update history r set raw = null from (select integration, id, type, entry_id from history order by entry_id limit $1) o
          where r.integration = o.integration and r.id = o.id and r.type = o.type and r.entry_id = o.entry_id`,
        [part],
      ),
    );
    await pool.query(`update events set received_at = now() - interval '40 days' where seq <= $1`, [part]);
    await perRow('delete events in batches', part, () =>
      pruneEvents(pool, { rawMs: 30 * day, eventIdsMs: 30 * day }).then(({ events }) =>
        console.log(`  ${events} events`),
      ),
    );
    await timed(`drop a partition of ${rows} entries`, () => dropPartitions(pool, -32 * day));
    console.log(`machine load ${os.loadavg()[0]?.toFixed(1)} on ${os.cpus().length} processors`);
  } finally {
    await pool.end();
    await server.release();
    await rm(folder, { recursive: true, force: true });
  }
}

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  const result = await work();
  console.log(`${what}: ${((performance.now() - start) / 1000).toFixed(2)} s`);
  return result;
}

async function perRow(what: string, rows: number, work: () => Promise<unknown>): Promise<void> {
  const start = performance.now();
  await work();
  console.log(`${what}: ${(((performance.now() - start) / rows) * 1000).toFixed(0)} µs a row (${rows} rows)`);
}

/** Bodies of about 1.2 kB that do not compress better than real ones: names, ids and amounts differ in every row. */
const body = `json_build_object('event_id', md5(n::text), 'reservation_id', 'R' || n, 'confirmation_number', md5('c' || n),
  'status', 'confirmed', 'check_in', '2026-12-01', 'check_out', '2026-12-04', 'currency', 'EUR', 'total_amount', n % 90000 / 100.0,
  'guests', json_build_array(json_build_object('guest_id', md5('g' || n), 'first_name', md5('f' || n), 'last_name', md5('l' || n),
    'email', md5('e' || n) || '@mail.example', 'phone', '+3519' || lpad((n % 100000000)::text, 8, '0'), 'nationality', 'PT')),
  'stays', json_build_array(json_build_object('room_type', 'DLX', 'room_number', n % 900, 'rate_plan', md5('r' || n % 50), 'from', '2026-12-01')),
  'charges', (select json_agg(json_build_object('line_no', l, 'code', md5(n::text || l), 'amount', l * 13.37, 'date', '2026-12-02'))
                from generate_series(1, 5) l))`;

async function fill(pool: Pool, rows: number): Promise<void> {
  const step = 50_000;
  for (let from = 1; from <= rows; from += step) {
    const range = [from, Math.min(rows, from + step - 1)];
    await pool.query(
      `with payload as materialized (select n, (${body})::text as text from generate_series($1::int, $2::int) n),
       e as (insert into events (integration, seq, endpoint_id, event_id, event, occurred_at, received_at, body, body_hash, state)
             select 'brand-' || n % 100, n, 'ep_' || n % 100, md5(n::text), 'reservation.updated', now(), now(),
                    convert_to(text, 'UTF8'), sha256(convert_to(text, 'UTF8')), 'done' from payload),
       h as (insert into history (integration, type, id, effective_at, seq, cause, cause_id, outcome, version, connector_version,
                                  integration_version, diff, idempotency_key)
             select 'brand-' || n % 100, 'reservation', 'R' || n % 200000, now(), n, 'event', n::text, 'updated', 1 + n / 200000, 1, 1,
                    '[{"path": "status", "before": "confirmed", "after": "checked_in"}]', 'ib_' || md5(n::text)
               from payload)
       select from payload limit 1`,
      range,
    );
  }
  await pool.query('analyze');
}

async function sizes(pool: Pool, rows: number): Promise<void> {
  const { rows: found } = await pool.query<{ name: string; bytes: number; indexes: number }>(
    `select t as name, sum(pg_total_relation_size(coalesce(p.relid, t::regclass)))::float8 as bytes,
            sum(pg_indexes_size(coalesce(p.relid, t::regclass)))::float8 as indexes
       from unnest(array['events', 'history']) t left join lateral pg_partition_tree(t) p on true group by t`,
  );
  for (const { name, bytes, indexes } of found) {
    console.log(`${name}: ${Math.round(bytes / rows)} bytes an event, ${Math.round(indexes / rows)} of them indexes`);
  }
  console.log(`together: ${Math.round(found.reduce((sum, { bytes }) => sum + bytes, 0) / rows)} bytes an event`);
}
