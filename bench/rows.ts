/**
 * What an event costs as the tables grow, and while a reader holds a snapshot, so that no dead row can be removed:
 * `npm run bench -- rows [SIZE...]`, by default 100,000 and 1,000,000 stored reservations. 10,000,000 take 17 GB of disk and an hour.
 * Only processor time is measured, of PostgreSQL and of the node, so that other work on the machine matters little.
 */
import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { Pool as Connections } from 'undici';
import { openPrivatePostgres } from '../src/embedded-postgres/open.ts';
import { systemClock } from '../src/kit/clock.ts';
import { openPool, type Pool, transaction } from '../src/store/db/pool.ts';
import { postmasterUnder, serverMs } from './pull/cpu.ts';
import { ask, end, endAll, start } from './push/processes.ts';
import type { ServiceAddress } from './push/service.ts';
import { writeBenchWorkspace } from './push/workspace.ts';

const brands = Array.from({ length: 10 }, (_, i) => `b${i}`);
const perMeasurement = 2_000;

export async function run(args: readonly string[]): Promise<void> {
  const sizes = args.length > 0 ? args.map(Number) : [100_000, 1_000_000];
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-bench-'));
  try {
    const sink = start('./sink.ts');
    await writeBenchWorkspace(folder, await ask<number>(sink, { ask: 'port' }), { brands, concurrency: 16 });
    const server = await openPrivatePostgres(folder, { purpose: 'command', describe: 'bench' });
    const pool = openPool({ connection: server.connection, applicationName: 'bench', statementMs: 3_600_000 });
    try {
      await withNode(folder, sink, (node) => node.send({ from: 0, events: brands.length, known: 0 }));
      let stored = brands.length;
      for (const size of sizes) {
        const seconds = await fill(pool, stored, size);
        stored = size;
        console.log(`${size} reservations, ${await gigabytes(pool)} GB, filled in ${seconds} s`);
        await withNode(folder, sink, async (node) => {
          await node.send({ from: size, events: 500, known: size });
          await measure(pool, '  alone', node, size, 1);
          // Not from the pool, whose connections may not be idle in a transaction for long.
          const reader = new pg.Client(server.connection);
          await reader.connect();
          await reader.query('begin isolation level repeatable read');
          await reader.query('select count(*) from pg_class');
          await measure(pool, '  a reader holds a snapshot', node, size, 2);
          await node.send({ from: 3 * perMeasurement + size, events: 5 * perMeasurement, known: size });
          await measure(pool, `  the same, after ${6 * perMeasurement} more events`, node, size, 9);
          await reader.end();
        });
        for (const table of ['records', 'outbox', 'guest_keys'])
          await pool.query(`delete from ${table} where id > $1`, [idOf(size - 1)]);
      }
    } finally {
      await pool.end();
      await server.release();
    }
  } finally {
    await endAll();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Load {
  /** Number of the first event. */
  readonly from: number;
  readonly events: number;
  /** Number of stored reservations: every second event updates one of them, evenly distributed. */
  readonly known: number;
}

const issued: ServiceAddress['endpoints'][number][] = [];

interface Node {
  /** Returns when all changes have arrived at the destination, with the processor time used, in milliseconds. */
  send(load: Load): Promise<{ readonly node: number; readonly postgres: number }>;
}

async function withNode(
  folder: string,
  sink: ReturnType<typeof start>,
  work: (node: Node) => Promise<unknown>,
): Promise<void> {
  const service = start('./service.ts', { INNBOUND_ALLOW_PRIVATE_NETWORK: '1' });
  const { port, endpoints } = await ask<ServiceAddress>(service, { workspaceDir: folder, integrations: brands });
  // Secrets are shown once, when they are issued.
  if (issued.length === 0) issued.push(...endpoints);
  const connections = new Connections(`http://127.0.0.1:${port}`, { connections: 16 });
  const postmaster = postmasterUnder(folder);
  const arrivals = async () => (await ask<{ arrivals: number }>(sink, { ask: 'arrivals' })).arrivals;
  const nodeMs = async () => {
    const { user, system } = await ask<NodeJS.CpuUsage>(service, { ask: 'cpu' });
    return (user + system) / 1000;
  };
  const one = async ({ from, known }: Load, n: number) => {
    const isUpdate = known > 0 && n % 2 === 0;
    const reservation = isUpdate ? Number((BigInt(n) * 2_654_435_761n) % BigInt(known)) : from + n;
    const { endpointId = '', secret = '' } = issued[reservation % brands.length] ?? {};
    const body = bodyOf(reservation, `${known}-${from + n}`, from + n);
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac('sha512', secret).update(`${timestamp}.${body}`).digest('hex');
    const headers = {
      'content-type': 'application/json',
      'x-webhook-timestamp': timestamp,
      'x-webhook-signature': `sha512=${signature}`,
    };
    const answer = await connections.request({ method: 'POST', path: `/webhooks/${endpointId}`, headers, body });
    await answer.body.dump();
    if (answer.statusCode !== 202) throw new Error(`the node answered ${answer.statusCode}`);
  };
  await work({
    async send(load) {
      const expected = (await arrivals()) + load.events;
      const before = { node: await nodeMs(), postgres: serverMs(postmaster) };
      let next = 0;
      const sender = async () => {
        while (next < load.events) await one(load, next++);
      };
      await Promise.all(Array.from({ length: 16 }, sender));
      const deadline = performance.now() + 300_000;
      while ((await arrivals()) < expected) {
        if (performance.now() > deadline) throw new Error('changes did not arrive in 300 s');
        await systemClock.wait(20);
      }
      return { node: (await nodeMs()) - before.node, postgres: serverMs(postmaster) - before.postgres };
    },
  });
  await connections.close();
  await end(service);
}

async function measure(pool: Pool, what: string, node: Node, size: number, round: number): Promise<void> {
  const before = await pageUse(pool);
  const used = await node.send({ from: size + round * perMeasurement, events: perMeasurement, known: size });
  const after = await pageUse(pool);
  const ms = (value: number) => (value / perMeasurement).toFixed(2);
  const pages = (of: Exclude<keyof PageUse, 'relations'>) => ((after[of] - before[of]) / perMeasurement).toFixed(1);
  const load = os.loadavg()[0]?.toFixed(1);
  console.log(
    `${what}: PostgreSQL ${ms(used.postgres)} ms, node ${ms(used.node)} ms an event (load ${load}); pages used ${pages('hit')} (${mostUsed(before, after)}), read ${pages('read')}, logged whole ${pages('whole')}; log ${pages('logKb')} kB`,
  );
}

/** Grows with the work: pages found in PostgreSQL's memory, pages read into it, pages logged whole after a checkpoint. */
interface PageUse {
  readonly hit: number;
  readonly read: number;
  readonly whole: number;
  readonly logKb: number;
  /** Pages used of each table and each index. */
  readonly relations: Readonly<Record<string, number>>;
}

function mostUsed(before: PageUse, after: PageUse): string {
  const used = Object.entries(after.relations).map(([name, pages]) => ({
    name,
    pages: (pages - (before.relations[name] ?? 0)) / perMeasurement,
  }));
  const most = used.sort((one, other) => other.pages - one.pages).slice(0, 6);
  return most.map(({ name, pages }) => `${name} ${pages.toFixed(1)}`).join(', ');
}

/** The server's counters are up to a second behind, which matters little over some thousand events. */
async function pageUse(pool: Pool): Promise<PageUse> {
  const { rows } = await pool.query<PageUse>(
    `select blks_hit as hit, blks_read as read, wal_fpi as whole, (wal_bytes / 1024)::float8 as "logKb",
            (select json_object_agg(relation, used) from (
               select relname as relation, heap_blks_hit + heap_blks_read as used from pg_statio_user_tables
               union all
               select indexrelname, idx_blks_hit + idx_blks_read from pg_statio_user_indexes) u) as relations
       from pg_stat_database, pg_stat_wal where datname = current_database()`,
  );
  return rows[0] as PageUse;
}

const idOf = (n: number): string => `r${String(n).padStart(9, '0')}`;

const bodyOf = (reservation: number, eventId: string, change: number): string =>
  JSON.stringify({
    event: 'reservation.updated',
    event_id: eventId,
    timestamp: new Date().toISOString(),
    brand_id: 'BENCH',
    data: {
      reservation_id: idOf(reservation),
      check_in: '2027-03-01',
      check_out: '2027-03-05',
      status: 'confirmed',
      total_amount: change + 0.25,
      currency: 'EUR',
      guests: [{ first_name: 'Marta', last_name: 'Quill', email: `${idOf(reservation)}@mail.example` }],
    },
  });

/** Copies the rows of the first events under other ids. Their history is past its retention: receipts without payload, no versions. */
async function fill(pool: Pool, from: number, size: number): Promise<number> {
  const startedAt = performance.now();
  const step = 50_000;
  await pool.query('drop index guest_keys_by_key');
  for (let first = from; first < size; first += step) {
    await transaction(pool, async (tx) => {
      await tx.query('set local synchronous_commit = off');
      const numbers = `(select 'b' || n % 10 as integration, 'r' || lpad((n % 10)::text, 9, '0') as copied,
        'r' || lpad(n::text, 9, '0') as id, n from generate_series(${first}, ${Math.min(size, first + step) - 1}) n) g`;
      await tx.query(`
      insert into records (integration, type, id, version, effective_at, seq, hash, data, said, pulled_hash)
      select g.integration, t.type, g.id, 1, t.effective_at, t.seq, sha256(g.id::bytea),
             replace(t.data::text, g.copied, g.id)::json, replace(t.said::text, g.copied, g.id)::json, t.pulled_hash
        from ${numbers} join records t on t.integration = g.integration and t.id = g.copied order by 1, 3`);
      await tx.query(`
      insert into guest_keys (integration, type, id, key)
      select g.integration, t.type, g.id, replace(t.key, g.copied, g.id)
        from ${numbers} join guest_keys t on t.integration = g.integration and t.id = g.copied`);
      await tx.query(`
      insert into outbox (integration, destination, type, id, next_version, last_version, delivered_version, fence)
      select g.integration, t.destination, t.type, g.id, 2, 1, 1, 1
        from ${numbers} join outbox t on t.integration = g.integration and t.id = g.copied order by 1, 4`);
      await tx.query(`
      insert into receipts (integration, type, id, received_at, effective_at, seq, cause, cause_id, outcome, version)
      select integration, 'reservation', id, now() - interval '40 days', now(), n, 'event', n::text, 'created', 1 from ${numbers}`);
    });
  }
  await pool.query('create index guest_keys_by_key on guest_keys (key, id)');
  await pool.query('vacuum analyze');
  await pool.query('checkpoint');
  return Math.round((performance.now() - startedAt) / 1000);
}

async function gigabytes(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ bytes: number }>('select pg_database_size(current_database()) as bytes');
  return ((rows[0]?.bytes ?? 0) / 1e9).toFixed(1);
}
