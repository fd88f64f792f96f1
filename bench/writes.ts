/**
 * What one event or one pulled record writes: row versions by table, records and bytes of the log without whole pages. `npm run bench -- writes [COUNT]`, by default 200 of
 * each kind. One event at a time, so nothing is shared with others; two guests, one destination. The log
 * of an idle node is subtracted.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { signedHeaders } from '../packages/sender/src/sign.ts';
import { pullPorts } from '../src/composition/pull.ts';
import { syncOnce } from '../src/core/intake/pull/run/sync-once.ts';
import { openPool, type Pool } from '../src/core/store/db/pool.ts';
import { systemClock } from '../src/kit/clock.ts';
import { superuser } from '../src/operator/embedded-postgres/cluster.ts';
import { addressFor } from '../src/operator/operations/endpoints.ts';
import { startService } from '../src/service.ts';
import type { IntegrationName, LocalDate } from '../src/terms.ts';
import { brandId, pushingText, sinkText, writeDocuments } from './push/workspace.ts';

const integration = 'b0' as IntegrationName;
const today = '2026-06-01' as LocalDate;

export async function run([given]: readonly string[]): Promise<void> {
  const count = Number(given ?? 200);
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-bench-'));
  let listed: readonly object[] = [];
  const remote = createServer((request, response) => {
    request.resume();
    if (request.method === 'POST') return void response.writeHead(204).end();
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ reservations: listed }));
  });
  await new Promise<void>((resolve) => remote.listen(0, '127.0.0.1', resolve));
  const { port } = remote.address() as AddressInfo;
  await writeDocuments(folder, {
    'innbound.yaml': 'network: { allow_private: true }\n',
    'connectors/bench-pms.yaml':
      'connector: bench-pms\npull: { request: { path: /list, query: { from: "{window.from}", to: "{window.to}" } } }\nshape: { root_path: reservations }\n',
    'destinations/sink.yaml': sinkText('sink', port, 'concurrency: 4'),
    'integrations/b0.yaml': `${pushingText(integration, 'sink')}pull: { base_url: "http://127.0.0.1:${port}", auth: { type: none } }\n`,
  });
  const service = await startService({
    workspaceDir: folder,
    port: 0,
    host: '127.0.0.1',
    role: 'all',
    logLevel: 'error',
  });
  try {
    const { pool } = service.runtime;
    const { host, database } = pool.options;
    const server = openPool({ connection: { host, database, user: superuser }, applicationName: 'bench' });
    const { endpoint_id, secret = '' } = await addressFor(service.runtime, integration);
    let sent = 0;
    const send = async (reservation: object) => {
      sent += 1;
      const timestamp = new Date().toISOString();
      const body = JSON.stringify({
        event: 'reservation.updated',
        event_id: `e${sent}`,
        timestamp,
        brand_id: brandId,
        data: reservation,
      });
      const headers = signedHeaders(secret, Math.floor(Date.now() / 1000), body);
      const answer = await fetch(`${service.url}/webhooks/${endpoint_id}`, { method: 'POST', headers, body });
      if (answer.status !== 202) throw new Error(`the node answered ${answer.status}: ${await answer.text()}`);
      await settled(pool);
    };
    const each = (work: (n: number) => object) => async () => {
      for (let n = 0; n < count; n += 1) await send(work(n));
    };
    await each((n) => reservationOf(`warm${n}`, first(n)))();
    await server.query('create extension pg_walinspect');
    const quiet = await written(server);
    const { records, bytes } = await logBetween(server, quiet, await written(server));
    idle = { records: records / reportS, bytes: bytes / reportS };
    const news = { new: first, 'one field changed': later, 'no news': later };
    for (const [what, amount] of Object.entries(news)) {
      const events = each((n) => reservationOf(`e${n}`, amount(n)));
      await measured(server, `event, ${what}`, count, events);
    }
    const pull = async () => {
      const request = { integration, kind: 'backfill', from: today, to: today, requestedBy: 'bench' } as const;
      const { state } = await syncOnce(pullPorts(service.runtime), request);
      if (state !== 'complete') throw new Error(`the run is ${state}`);
      await settled(pool);
    };
    const list = (amount: (n: number) => number) =>
      Array.from({ length: count }, (_, n) => reservationOf(`p${n}`, amount(n)));
    for (const [what, amount] of Object.entries(news)) {
      listed = list(amount);
      await measured(server, `pulled, ${what}`, count, pull);
    }
    await server.end();
  } finally {
    await service.stop();
    remote.close();
    remote.closeAllConnections();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Amounts vary, and change by little: the same jump in every row would be held as an accident of the partner. */
const first = (n: number): number => 100 + (n % 50);
const later = (n: number): number => first(n) + 1;

const reservationOf = (id: string, total_amount: number): object => ({
  id,
  confirmation_number: `C-${id}`,
  check_in: today,
  check_out: '2026-06-04',
  booking_date: '2026-05-01',
  status: 'confirmed',
  channel: 'WEB',
  total_amount,
  currency: 'EUR',
  guests: [
    { first_name: 'Ana', last_name: 'Reis', email: `ana.${id}@example.com`, phone: '+351912000001', nationality: 'PT' },
    { first_name: 'Rui', last_name: 'Reis', email: `rui.${id}@example.com`, nationality: 'PT' },
  ],
  rooms: [{ room_type: 'DBL', adults: 2, start_date: today, end_date: '2026-06-04' }],
});

/** Everything that was accepted has been applied and delivered. */
async function settled(pool: Pool): Promise<void> {
  for (;;) {
    const { rows } = await pool.query(
      `select from events where state <> 'done' union all select from outbox where due_at is not null limit 1`,
    );
    if (rows.length === 0) return;
    await systemClock.wait(2);
  }
}

interface Written {
  readonly rows: Readonly<Record<string, number>>;
  readonly at: string;
}

let idle = { records: 0, bytes: 0 };

async function measured(pool: Pool, what: string, count: number, work: () => Promise<unknown>): Promise<void> {
  const before = await written(pool);
  const startedAt = performance.now();
  await work();
  const after = await written(pool);
  const seconds = (performance.now() - startedAt) / 1000;
  const tables = Object.entries(after.rows)
    .map(([name, rows]) => ({ name, each: (rows - (before.rows[name] ?? 0)) / count }))
    .filter(({ each }) => each >= 0.05)
    .sort((one, other) => other.each - one.each);
  const all = tables.reduce((sum, { each }) => sum + each, 0);
  const names = tables.map(({ name, each }) => `${name} ${each.toFixed(1)}`).join(', ');
  const log = await logBetween(pool, before, after);
  const records = ((log.records - idle.records * seconds) / count).toFixed(0);
  const kb = ((log.bytes - idle.bytes * seconds) / count / 1000).toFixed(1);
  console.log(
    `${what}: ${all.toFixed(1)} row versions in ${tables.length} tables (${names}); log: ${records} records, ${kb} kB`,
  );
}

async function logBetween(pool: Pool, before: Written, after: Written): Promise<typeof idle> {
  const { rows } = await pool.query<typeof idle>(
    `select sum(count)::float8 as records, sum(record_size)::float8 as bytes from pg_get_wal_stats($1::pg_lsn, $2::pg_lsn)`,
    [before.at, after.at],
  );
  return rows[0] ?? { records: 0, bytes: 0 };
}

/** Inserted, updated and deleted rows since the server's start. Idle sessions report them up to ten seconds late. */
async function written(pool: Pool): Promise<Written> {
  await systemClock.wait(reportS * 1_000);
  const { rows } = await pool.query<Written>(
    `select (select json_object_agg(relname, n) from (
               select regexp_replace(relname, '_(kept|\\d.*)$', '') as relname, sum(n_tup_ins + n_tup_upd + n_tup_del) as n
                 from pg_stat_user_tables where relname <> all ($1)
                group by 1) t) as rows,
            pg_current_wal_insert_lsn()::text as at`,
    [background],
  );
  const [now] = rows;
  if (now === undefined) throw new Error('the server reports nothing');
  return now;
}

const reportS = 11;

/** Written once in some seconds, however many events there are. */
const background = ['nodes', 'store_state', 'marks', 'activity', 'totals', 'hotels'];
