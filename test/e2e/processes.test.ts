import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startSimulator } from '../../packages/partner-kit/src/simulate/index.ts';
import { openPrivatePostgres } from '../../src/embedded-postgres/open.ts';
import { openPool, type Pool } from '../../src/store/db/pool.ts';
import { testDatabase } from '../support/database.ts';
import { innbound, type ServiceProcess, serve, until } from '../support/process.ts';
import { deliveredLines, hotelWorkspace } from './workspace.ts';

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** The processes of the service that have reported to the database. */
async function pids(pool: Pool): Promise<number[]> {
  const { rows } = await pool.query<{ node: string }>('select node from nodes order by started_at');
  return rows.map(({ node }) => Number(node.split(':').at(-1)));
}

/** By process: samples of the metric, from one scrape of any process. */
async function scraped(url: string, metric: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const samples = text.matchAll(new RegExp(`^${metric}\\{.*process="(\\d)".*\\} (\\S+)$`, 'gm'));
  assert.equal(text.split(`# HELP ${metric} `).length, 2, 'one group of lines per metric');
  return new Map([...samples].map(([, number = '', value]) => [number, Number(value)]));
}

let service: ServiceProcess;
let pool: Pool;
let workspace: Awaited<ReturnType<typeof hotelWorkspace>>;
let env: { DATABASE_URL: string };
const sender = { retries: 5_000, backoff: { firstMs: 100, factor: 1.2, maxMs: 400 }, timeoutMs: 3_000 };
const partner = await startSimulator({
  seed: 31,
  reservations: 60,
  auth: { type: 'bearer', token: 'letmein' },
  sender,
});

before(async () => {
  env = { DATABASE_URL: (await testDatabase()).url };
  pool = openPool({ connection: { connectionString: env.DATABASE_URL }, applicationName: 'test', maxConnections: 2 });
  workspace = await hotelWorkspace(partner.baseUrl);
  await appendFile(path.join(workspace.dir, 'innbound.yaml'), 'metrics: { access: open }\n');
  service = await serve(workspace.dir, { env, args: ['--processes', '2'] });
});
after(async () => {
  await service?.kill();
  await pool.end();
  await partner.stop();
  await workspace.remove();
});

test('two processes share the port; one that is killed comes back, and no event is lost or out of order', async () => {
  const at = (...args: string[]) => innbound([...args, '--workspace', workspace.dir, '--json'], { env });
  const [issued = {}] = (await at('endpoint', 'grand')).json();
  await partner.pushTo({
    url: `${service.url}/webhooks/${issued.endpoint_id}`,
    secret: String(issued.secret),
    brand_id: 'LIS01',
  });
  const first = await until('both processes report', async () => {
    const found = await pids(pool);
    return found.length === 2 && found;
  });
  const living = setInterval(() => partner.hotel.advance(1), 50);
  await until('both answer webhooks', async () => {
    // A new connection each time, so that the processes take turns.
    await fetch(`${service.url}/webhooks/none`, { method: 'POST', headers: { connection: 'close' }, body: '{}' });
    return (await scraped(service.url, 'innbound_webhooks_total')).size === 2;
  });
  process.kill(first[0] ?? 0, 'SIGKILL');
  const second = await until('a new process takes its place', async () => {
    const found = await pids(pool);
    return found.some((pid) => !first.includes(pid)) && found;
  });
  assert.ok(second.includes(first[1] ?? 0), 'the other process keeps running');
  await until(
    'both answer the scrape',
    async () => (await scraped(service.url, 'process_start_time_seconds')).size === 2,
  );
  clearInterval(living);
  // The leases of a killed process end after a minute; ends them now.
  await pool.query('update outbox set due_at = now() where leased and due_at > now()');
  await partner.pushed();
  assert.equal(partner.stats.pushes.dead, 0);
  assert.match(service.stderr(), /"process":\d,"ended":"SIGKILL".*"restart_in_ms":250/);

  const { rows } = await pool.query<{ id: string }>(`select id from records where type = 'reservation'`);
  const lines = await until('everything that was accepted is delivered', async () => {
    const found = await deliveredLines(path.join(workspace.dir, 'out'));
    const byId = new Map(found.map((line) => [line.data.id, line.data.status]));
    const wanted = partner.hotel.list().filter(({ id }) => rows.some((row) => row.id === id));
    return wanted.length > 0 && wanted.every(({ id, status }) => byId.get(id) === status) && found;
  });
  const versions = new Map<string, number>();
  for (const { data, version } of lines) {
    const before = versions.get(data.id) ?? 0;
    // A version that the killed process had sent may come once more, never an older one after a newer one.
    assert.ok(version === before + 1 || version === before, `${data.id}: version ${version} came after ${before}`);
    versions.set(data.id, version);
  }
});

test('a process that cannot start ends the service with its error', async () => {
  const { code, stderr } = await innbound(
    ['serve', '-w', workspace.dir, '--processes', '2', '--port', new URL(service.url).port],
    { env },
  );
  assert.equal(code, 1);
  assert.match(stderr, /^error operate\.port_taken: Port \d+ on 127\.0\.0\.1 is taken\./m);
  assert.doesNotMatch(stderr, /restarting/);
});

test('SIGTERM ends every process', async () => {
  const found = (await pids(pool)).filter(isRunning);
  assert.equal(found.length, 2);
  assert.equal(await service.stop(), 0);
  assert.deepEqual(found.filter(isRunning), []);
  const left = await pids(pool);
  assert.ok(!found.some((pid) => left.includes(pid)), 'every process has signed off');
});

test('the parent runs the private server, and a restart that cannot succeed ends both', async () => {
  const { dir, remove } = await hotelWorkspace('http://127.0.0.1:9');
  await appendFile(path.join(dir, 'innbound.yaml'), 'log: { level: error }\n');
  const own = await serve(dir, { args: ['--processes', '2'], env: { INNBOUND_LOG_LEVEL: '' } });
  const exit = once(own.child, 'exit');
  try {
    const server = await openPrivatePostgres(dir, { purpose: 'command', describe: 'test' });
    const inside = openPool({ connection: server.connection, applicationName: 'test' });
    const found = await until('both processes report', async () => {
      const reported = await pids(inside);
      return reported.length === 2 && reported;
    });
    await inside.end();
    await server.release();
    await rm(path.join(dir, '.innbound', 'key'));
    process.kill(found[1] ?? 0, 'SIGKILL');
    assert.deepEqual(await exit, [1, null]);
    assert.match(own.stderr(), /^error store\.other_key: /m);
    assert.doesNotMatch(own.stderr(), /"level":30/, 'log.level of innbound.yaml applies');
    assert.deepEqual(found.filter(isRunning), []);
    assert.ok(!existsSync(path.join(dir, '.innbound', 'pg', 'postmaster.pid')));
  } finally {
    await own.kill();
    await remove();
  }
});
