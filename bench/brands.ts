import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type DocumentKind, schemas } from '../src/core/documents/kinds.ts';
import { migrate } from '../src/core/store/db/migrate.ts';
import { openPool, type Pool } from '../src/core/store/db/pool.ts';
import { signalNodes } from '../src/core/store/db/signals.ts';
import { openPrivatePostgres } from '../src/operator/embedded-postgres/open.ts';
import type { NodeReport } from './brands/node.ts';
import { cpuMs, postmasterOf } from './pull/cpu.ts';

/**
 * What many brands cost: `npm run bench -- brands [INTEGRATIONS]`, with 20 connectors; each brand has three syncs, push and two destinations. The
 * documents are in the database, as on the nodes of a large installation. Aims at 100,000: ready in 60 s, 2 GB, 5 % of a core while
 * idle, an edit in force within 2 s.
 */
export async function run(args: readonly string[]): Promise<void> {
  const integrations = Number(args[0] ?? 10_000);
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-bench-'));
  const server = await openPrivatePostgres(folder, { purpose: 'command', describe: 'bench' });
  const { host, user, database } = server.connection as { host: string; user: string; database: string };
  const pool = openPool({ connection: server.connection, applicationName: 'bench', statementMs: 600_000 });
  let node: ChildProcess | undefined;
  try {
    await mkdir(path.join(folder, 'node'));
    await writeFile(path.join(folder, 'node', 'innbound.yaml'), 'network: { allow_private: false }\n');
    await migrate(pool);
    await fill(pool, integrations);
    for (const start of ['first start, schedules made', 'second start']) {
      if (node) await end(node);
      const startedAt = performance.now();
      node = fork(new URL('./brands/node.ts', import.meta.url), [path.join(folder, 'node')], {
        env: {
          ...process.env,
          DATABASE_URL: `postgres://${user}@/${database}?host=${encodeURIComponent(host)}`,
          INNBOUND_KEY: 'A'.repeat(43),
          BENCH_TOKEN: 'token',
        },
        execArgv: ['--disable-warning=ExperimentalWarning'],
      });
      await Promise.race([
        once(node, 'message'),
        once(node, 'exit').then(() => Promise.reject(new Error('the node ended'))),
      ]);
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      const { rssMb, cpuMs: used } = await report(node);
      const busySeconds = ((performance.now() - startedAt) / 1000 - Number(seconds)).toFixed(1);
      console.log(
        `${start}: ready after ${seconds} s, ${(used / 1000).toFixed(1)} s of processor, ${Math.round(rssMb)} MB; the next answer ${busySeconds} s later`,
      );
      // Nothing is polled while the node is measured at rest.
      await pool.query(`update syncs set next_at = now() + interval '1 day'`);
      await pool.query(
        `update runs set state = 'failed', finished_at = now(), due_at = null where state in ('queued', 'running')`,
      );
    }
    if (node === undefined) return;
    // After the start, V8 gives memory back for half a minute.
    await delay(60_000);
    const postmaster = postmasterOf(server.dataDir);
    await idle(node, postmaster, 30);
    await judge(node, postmaster);
    for (const [how, edit] of [
      ['an edit through the API is in force', editThroughApi],
      ['an edit on another node is in force', editElsewhere],
    ] as const) {
      const before = { node: (await report(node)).cpuMs, server: cpuMs(postmaster).server };
      const edits = [];
      for (let i = 0; i < 5; i++) edits.push(await edit(pool, node, `brand-${i}`));
      // What follows an edit, such as its schedules.
      await delay(1_000);
      const perEdit = (after: number, first: number) => `${((after - first) / edits.length).toFixed(0)} ms`;
      console.log(
        `${how} after ${edits.map((ms) => Math.round(ms)).join(', ')} ms; processor time node ${perEdit((await report(node)).cpuMs, before.node)}, PostgreSQL ${perEdit(cpuMs(postmaster).server, before.server)}`,
      );
    }
    console.log(`machine load ${os.loadavg()[0]?.toFixed(1)} on ${os.cpus().length} processors`);
  } finally {
    if (node) await end(node);
    await pool.end();
    await server.release();
    await rm(folder, { recursive: true, force: true });
  }
}

async function report(node: ChildProcess, integration = 'brand-0'): Promise<NodeReport> {
  node.send({ integration });
  const [answer] = (await once(node, 'message')) as [NodeReport];
  return answer;
}

async function end(node: ChildProcess): Promise<void> {
  if (node.exitCode !== null || node.signalCode !== null) return;
  node.kill('SIGTERM');
  await once(node, 'exit');
}

async function idle(node: ChildProcess, postmaster: number, seconds: number): Promise<void> {
  const before = { node: (await report(node)).cpuMs, server: cpuMs(postmaster).server };
  await delay(seconds * 1000);
  const after = await report(node);
  const share = (ms: number) => `${(ms / (seconds * 10)).toFixed(1)} %`;
  console.log(
    `idle: node ${share(after.cpuMs - before.node)} of a core, PostgreSQL ${share(cpuMs(postmaster).server - before.server)}, ${Math.round(after.rssMb)} MB`,
  );
}

async function judge(node: ChildProcess, postmaster: number): Promise<void> {
  const before = { node: (await report(node)).cpuMs, server: cpuMs(postmaster).server };
  const startedAt = performance.now();
  node.send({ judge: true });
  await once(node, 'message');
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(
    `judging all alerts once takes ${seconds} s; processor time node ${Math.round((await report(node)).cpuMs - before.node)} ms, PostgreSQL ${cpuMs(postmaster).server - before.server} ms`,
  );
}

/** Until the node answers and has the new version in force. */
async function editThroughApi(_: Pool, node: ChildProcess, name: string): Promise<number> {
  const text = JSON.stringify({ ...rawIntegration(Number(name.slice('brand-'.length))), country: 'ES' });
  const startedAt = performance.now();
  node.send({ integration: name, edit: text });
  const [{ kind }] = (await once(node, 'message')) as [{ kind: string }];
  if (kind !== 'applied') throw new Error(`the edit was answered with ${kind}`);
  if ((await report(node, name)).version !== 2) throw new Error('the edit is not in force');
  return performance.now() - startedAt;
}

/** Stores a new version of one integration, as another node does, and waits until the node has it. */
async function editElsewhere(pool: Pool, node: ChildProcess, name: string): Promise<number> {
  const version = ((await report(node, name)).version ?? 0) + 1;
  await pool.query(
    `update documents set in_force = false, position = null where kind = 'integration' and name = $1 and in_force`,
    [name],
  );
  await pool.query(
    `insert into documents (kind, name, version, source, body, hash, applied_by, in_force, position)
     select kind, name, version + 1, source, body, hash || 'x', 'bench', true, nextval('document_positions') from documents
      where kind = 'integration' and name = $1 order by version desc limit 1`,
    [name],
  );
  const startedAt = performance.now();
  await signalNodes(pool, 'documents');
  while ((await report(node, name)).version !== version) await delay(5);
  return performance.now() - startedAt;
}

const zones = ['Europe/Lisbon', 'Europe/Paris', 'America/New_York', 'Asia/Tokyo', 'Australia/Sydney'];

const rawIntegration = (i: number) => ({
  integration: `brand-${i}`,
  connector: `pms-${i % 20}`,
  brand_id: `B${i}`,
  timezone: zones[i % zones.length],
  country: 'PT',
  pull: {
    base_url: `https://pms-${i % 20}.example`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference as documents write it
    auth: { type: 'bearer', token: '${env:BENCH_TOKEN}' },
    syncs: {
      pre_stay: { every: '30m', range: ['+1d', '+7d'] },
      stay: { every: '15m', range: ['-6d', '0d'] },
      post_stay: { every: '60m', range: ['-7d', '-1d'] },
    },
  },
  push: { enabled: true },
  transforms: [{ when: 'channel == "BDC"', set: { source: '"OTA"' } }],
  deliver: ['crm', 'warehouse'],
});

async function fill(pool: Pool, integrations: number): Promise<void> {
  const put = async (kind: DocumentKind, documents: readonly { readonly name: string; readonly raw: object }[]) => {
    await pool.query(
      `insert into documents (kind, name, version, source, body, hash, applied_by, in_force, position)
       select $1, name, 1, source, body::json, md5(body), 'bench', true, nextval('document_positions')
         from unnest($2::text[], $3::text[], $4::text[]) as t (name, source, body)`,
      [
        kind,
        documents.map(({ name }) => name),
        documents.map(({ raw }) => JSON.stringify(raw)),
        documents.map(({ raw }) => JSON.stringify(schemas[kind].parse(raw))),
      ],
    );
  };
  const connectors = Array.from({ length: 20 }, (_, i) => ({
    name: `pms-${i}`,
    raw: {
      connector: `pms-${i}`,
      pull: {
        request: { path: '/api/reservations', query: { dateFrom: '{window.from}', dateTo: '{window.to}' } },
        pagination: { type: 'offset', offset: 'query.offset', limit: 'query.limit', page_size: 200 },
      },
      shape: { root_path: 'reservations' },
      map: {
        id: 'number',
        check_in: 'arrival',
        guests: { from: 'people', fields: { first_name: 'given', email: 'contact.mail' } },
      },
      values: { status: { confirmed: ['CONF'] } },
    },
  }));
  await put('connector', connectors);
  await put(
    'destination',
    ['crm', 'warehouse'].map((name) => ({
      name,
      raw: { destination: name, type: 'http', url: 'https://crm.example/x' },
    })),
  );
  for (let from = 0; from < integrations; from += 5_000) {
    const some = Array.from({ length: Math.min(5_000, integrations - from) }, (_, i) => from + i);
    await put(
      'integration',
      some.map((i) => ({ name: `brand-${i}`, raw: rawIntegration(i) })),
    );
  }
  await pool.query('analyze');
}
