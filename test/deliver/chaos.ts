import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Reservation } from '../../src/core/canonical/reservation.ts';
import { migrate } from '../../src/core/store/db/migrate.ts';
import { openPool, type Pool } from '../../src/core/store/db/pool.ts';
import { openPrivatePostgres } from '../../src/operator/embedded-postgres/open.ts';
import { storedVersions } from '../support/versions.ts';
import type { WorkerSettings } from './chaos-worker.ts';
import { listen, type Received, type Reply } from './http-server.ts';
import { reservation, takeIn, temporaryFolder } from './support.ts';

/**
 * Deliveries to two destinations by three processes that are killed at random, over a destination that fails at random
 * (before and after it took effect) and a database that is restarted. Afterwards every accepted version is accounted for.
 */
export interface ChaosOptions {
  /** Per brand; there are two. Each gets `versions` changes, each of which goes to two destinations. */
  readonly records: number;
  readonly versions: number;
  readonly kills: number;
  readonly restarts: number;
  readonly say?: (line: string) => void;
}

export interface ChaosResult {
  /** States that came in, for each destination. */
  readonly accepted: number;
  readonly delivered: number;
  readonly superseded: number;
  readonly dead: number;
  readonly pending: number;
  readonly requests: number;
  readonly kills: number;
  readonly restarts: number;
  readonly seconds: number;
}

type Line = {
  integration: string;
  version: number;
  idempotency_key: string;
  data: { id: string; total_amount: number };
};

const brands = ['lisbon', 'porto'] as const;
const destinations = ['crm', 'lake'] as const;

export async function chaos(options: ChaosOptions): Promise<ChaosResult> {
  const startedAt = performance.now();
  const { folder, remove } = await temporaryFolder();
  const server = await openPrivatePostgres(folder, { purpose: 'command', describe: 'chaos' });
  const pool = openPool({ connection: server.connection, applicationName: 'chaos' });
  const crm = await openCrm();
  const lake = path.join(folder, 'lake');
  const settings: WorkerSettings = {
    connection: server.connection as WorkerSettings['connection'],
    url: crm.url,
    folder: lake,
    timeoutMs: 1_000,
  };
  const workers = new Set<ChildProcess>();
  let over = false;
  const start = (): void => {
    const file = fileURLToPath(new URL('./chaos-worker.ts', import.meta.url));
    const env = { ...process.env, CHAOS: JSON.stringify(settings) };
    const worker = spawn(process.execPath, [file], { env, stdio: ['ignore', 'inherit', 'inherit'] });
    workers.add(worker);
    worker.on('exit', () => {
      workers.delete(worker);
      if (!over) start();
    });
  };
  try {
    await migrate(pool);
    for (let i = 0; i < 3; i++) start();
    const intake = takeAllIn(pool, options);
    const share = (0.9 * options.records * brands.length * options.versions) / (options.kills + 1);
    let kills = 0;
    let restarts = 0;
    while (kills < options.kills) {
      // Spread over the work, so that nodes die during it and not while they start.
      const before = crm.received.length;
      for (let i = 0; i < 1_000 && crm.received.length < before + share; i++) await rest(50);
      [...workers][Math.floor(Math.random() * workers.size)]?.kill('SIGKILL');
      kills += 1;
      if (restarts < options.restarts && kills > (restarts + 1) * (options.kills / (options.restarts + 1))) {
        await restart(server.dataDir);
        restarts += 1;
        options.say?.(`database restarted; ${crm.received.length} requests so far, ${kills} kills`);
      }
    }
    await intake;
    await settled(pool, options);
    over = true;
    await Promise.all(
      [...workers].map((worker) => {
        worker.kill('SIGTERM');
        return once(worker, 'exit');
      }),
    );
    const counted = await account(pool, await intake, crm, lake);
    return {
      ...counted,
      requests: crm.received.length,
      kills,
      restarts,
      seconds: (performance.now() - startedAt) / 1_000,
    };
  } finally {
    over = true;
    for (const worker of workers) worker.kill('SIGKILL');
    await crm.close();
    await pool.end().catch(() => {});
    await server.release().catch(() => {});
    await remove();
  }
}

/** Fails before its effect, after it, and slowly; some records it refuses for good. It honours keys. */
async function openCrm() {
  const effects = new Map<string, Line>();
  const order: Line[] = [];
  const open = new Set<string>();
  const overlaps: string[] = [];
  const server = await listen(async ({ body, headers }: Received): Promise<Reply | 'hang' | 'cut'> => {
    const line = body as unknown as Line;
    const record = `${line.integration} ${line.data.id}`;
    assert.equal(headers['idempotency-key'], line.idempotency_key);
    if (open.has(record)) overlaps.push(record);
    open.add(record);
    try {
      await rest(Math.random() * 5);
      const dice = Math.random();
      if (dice < 0.03) return { status: 503 };
      if (dice < 0.04) return 'cut';
      if (dice > 0.995) return { status: 429, headers: { 'retry-after': '1' } };
      if (line.data.id.endsWith('97')) return { status: 422 };
      if (!effects.has(line.idempotency_key)) effects.set(line.idempotency_key, line);
      order.push(line);
      if (dice < 0.05) return 'cut';
      if (dice < 0.055) return 'hang';
      if (dice < 0.07) return { status: 500 };
      return { status: 200 };
    } finally {
      open.delete(record);
    }
  });
  return { ...server, effects, order, overlaps };
}

/** Every version in its order; some are followed by an older, late state. Returns the names of all states. */
async function takeAllIn(pool: Pool, { records, versions }: ChaosOptions): Promise<Set<string>> {
  const perBatch = 100;
  const accepted = new Set<string>();
  const take = async (brand: string, batch: readonly Reservation[], lateByMs: number): Promise<void> => {
    for (;;) {
      try {
        await takeIn(pool, batch, destinations, { integration: brand, lateByMs });
        break;
      } catch {
        await rest(50); // the database is unreachable for a moment
      }
    }
    for (const { id, total_amount: amount } of batch) accepted.add(`${brand} ${id} ${amount}`);
  };
  for (let version = 1; version <= versions; version++) {
    for (let from = 0; from < records; from += perBatch) {
      for (const brand of brands) {
        const batch = Array.from({ length: Math.min(perBatch, records - from) }, (_, i) =>
          reservation(`r${from + i}`, { total_amount: String(version) }),
        );
        await take(brand, batch, 0);
        const late = batch.filter((_, i) => i % 10 === version % 10);
        await take(
          brand,
          late.map(({ id }) => reservation(id, { total_amount: `${version}.5` })),
          86_400_000,
        );
      }
    }
  }
  return accepted;
}

async function restart(dataDir: string): Promise<void> {
  const [pid] = (await readFile(path.join(dataDir, 'postmaster.pid'), 'utf8')).split('\n');
  process.kill(Number(pid), 'SIGINT');
}

/** Nothing is due, leased or waiting for a retry any more; what remains is held back. */
async function settled(pool: Pool, { say }: ChaosOptions): Promise<void> {
  for (let i = 1; ; i++) {
    try {
      const { rows } = await pool.query<{ open: number }>(
        'select count(*)::int as open from outbox where due_at is not null',
      );
      if (rows[0]?.open === 0) return;
      if (i % 50 === 0) say?.(`${rows[0]?.open} records still have work`);
    } catch {
      // it is being put back
    }
    await rest(100);
  }
}

/** Names are destination, brand, record, amount: each state has a different amount. */
async function account(pool: Pool, states: Set<string>, crm: Awaited<ReturnType<typeof openCrm>>, lake: string) {
  const amounts = (await storedVersions(pool)).map(({ integration, type, id, version, data }) => ({
    integration,
    type,
    id,
    version,
    amount: (data as { total_amount?: number }).total_amount,
  }));
  const keyed = async (sql: string): Promise<Set<string>> => {
    const { rows } = await pool.query<{ key: string }>(sql, sql.includes('$1') ? [JSON.stringify(amounts)] : []);
    const keys = new Set(rows.map(({ key }) => key));
    assert.equal(keys.size, rows.length, 'counted twice');
    return keys;
  };
  const accepted = new Set(
    destinations.flatMap((destination) => [...states].map((state) => `${destination} ${state}`)),
  );
  const key = `concat_ws(' ', destination, integration, id, amount) as key`;
  const version = `join json_to_recordset($1) as made (integration text, type text, id text, version int, amount text)
      using (integration, type, id, version)`;
  const delivered = await keyed(
    `select ${key} from outbox cross join generate_series(1, next_version - 1) as version ${version}`,
  );
  const dead = await keyed(`select ${key} from dead_letters ${version} where kind = 'delivery' and state = 'open'`);
  const pending = await keyed(
    `select ${key} from outbox cross join generate_series(next_version + 1, last_version) as version ${version}
      where held_by is not null`,
  );
  // If the database was lost before its answer, the same late state was stored twice.
  const superseded = await keyed(
    `select distinct concat_ws(' ', destination, integration, id, raw ->> 'total_amount') as key
       from history cross join unnest(array['crm', 'lake']) as destination where outcome = 'superseded'`,
  );
  const together = new Set([...delivered, ...superseded, ...dead, ...pending]);
  const sum = delivered.size + superseded.size + dead.size + pending.size;
  assert.equal(together.size, sum, 'the parts overlap');
  assert.deepEqual([...accepted].filter((one) => !together.has(one)).slice(0, 3), [], 'accepted and lost');
  assert.deepEqual([...together].filter((one) => !accepted.has(one)).slice(0, 3), [], 'delivered and never accepted');

  const lines = await readLake(lake);
  for (const [name, effects] of [
    ['crm', [...crm.effects.values()]],
    ['lake', lines],
  ] as const) {
    const names = effects.map((line) => `${name} ${line.integration} ${line.data.id} ${line.data.total_amount}`);
    assert.equal(new Set(names).size, names.length, `${name}: an effect is doubled`);
    assert.equal(new Set(effects.map((line) => line.idempotency_key)).size, names.length, `${name}: a key is reused`);
    const told = new Set(names);
    const missing = [...delivered].filter((one) => one.startsWith(`${name} `) && !told.has(one));
    assert.deepEqual(missing.slice(0, 3), [], `${name}: acknowledged without effect`);
    // A version whose last try took effect without an answer is rightly a dead letter: we cannot know.
    const extra = names.filter((one) => !delivered.has(one) && !dead.has(one));
    assert.deepEqual(extra.slice(0, 3), [], `${name}: took effect and is not accounted for`);
  }
  const newest = new Map<string, number>();
  for (const line of crm.order) {
    const record = `${line.integration} ${line.data.id}`;
    const before = newest.get(record) ?? 0;
    assert.ok(line.version === before || line.version === before + 1, `${record}: ${line.version} after ${before}`);
    newest.set(record, line.version);
  }
  assert.deepEqual(crm.overlaps, [], 'two in flight for one record');
  return {
    accepted: accepted.size,
    delivered: delivered.size,
    superseded: superseded.size,
    dead: dead.size,
    pending: pending.size,
  };
}

async function readLake(lake: string): Promise<Line[]> {
  const names = (await readdir(lake, { recursive: true })).filter((name) => name.endsWith('.ndjson'));
  const texts = await Promise.all(names.map((name) => readFile(path.join(lake, name), 'utf8')));
  return texts.flatMap((text) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line),
  );
}

const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
