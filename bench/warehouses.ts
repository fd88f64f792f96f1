import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { DestinationServices, DestinationType } from '../src/core/deliver/destination.ts';
import { destinationType as bigquery } from '../src/core/deliver/destinations/bigquery/destination.ts';
import { destinationType as motherduck } from '../src/core/deliver/destinations/motherduck/destination.ts';
import { destinationType as mysql } from '../src/core/deliver/destinations/mysql/destination.ts';
import type { Delivery } from '../src/core/deliver/message.ts';
import { type Cells, rowsOf, type TableName, tables } from '../src/core/deliver/warehouse/tables.ts';
import { openHttp } from '../src/core/outbound/http.ts';
import { systemClock } from '../src/kit/clock.ts';
import { delivery, reservation } from '../test/deliver/support.ts';
import { startMariadb } from '../test/deliver/warehouse/mariadb.ts';
import { startDuckWire } from '../test/deliver/warehouse/wire.ts';

/**
 * 20,000 reservations into MariaDB and DuckDB, beside the engine's own bulk load of the same rows from a file into the same tables: at most
 * twice as slow, by the clock and in processor time of node and engine together, which other work on the machine disturbs less. `memory`: a first fill of 1,000,000 rows into a server that only answers, after which memory is as before.
 */
export async function run([what]: readonly string[]): Promise<void> {
  if (what === 'memory') return memory();
  await intoMariadb();
  await intoDuck();
  console.log(`machine load ${os.loadavg()[0]?.toFixed(1)} on ${os.cpus().length} processors`);
}

const size = 5_000;
const limits = {
  deadlineMs: 120_000,
  batch: size,
  leaseLeftMs: () => 600_000,
  extend: async () => true,
  signal: new AbortController().signal,
};
const batchOf = (from: number): Delivery[] =>
  Array.from({ length: size }, (_, i) => delivery(reservation(`R-${from + i}`)));
const batches = () => Array.from({ length: 4 }, (_, b) => batchOf(b * size));

const http = openHttp({ allowPrivate: true, userAgent: 'bench' });
const services: DestinationServices = {
  name: 'bench',
  workspaceDir: '/',
  allowPrivate: true,
  node: 'bench',
  clock: systemClock,
  http,
  brandIdsOf: async () => [],
  brandOf: async () => undefined,
  takeRequest: async () => ({ granted: 1, waitMs: 0 }),
  authorizer: () => {
    throw new Error('unused');
  },
};

interface Took {
  readonly ms: number;
  readonly processorMs: number;
}

/** The processor time of an engine outside this process. */
type EngineMs = () => Promise<number>;

async function measured(work: () => Promise<void>, engineMs: EngineMs): Promise<Took> {
  const [startedAt, own, engine] = [performance.now(), process.cpuUsage(), await engineMs()];
  await work();
  const { user, system } = process.cpuUsage(own);
  return { ms: performance.now() - startedAt, processorMs: (user + system) / 1_000 + (await engineMs()) - engine };
}

async function load<Settings>(
  type: DestinationType<Settings>,
  settings: object,
  all: Delivery[][],
  engineMs: EngineMs,
): Promise<[fresh: Took, changed: Took]> {
  const destination = type.open(type.settings.parse(settings), services);
  await destination.deliver([delivery(reservation('first'))], limits);
  const timed = (change: (one: Delivery) => Delivery) =>
    measured(async () => {
      for (const batch of all) {
        const [outcome] = await destination.deliver(batch.map(change), limits);
        if (outcome?.kind !== 'delivered') throw new Error(JSON.stringify(outcome));
      }
    }, engineMs);
  const fresh = await timed((one) => one);
  const changed = await timed((one) => ({ ...one, message: { ...one.message, version: 2 } }));
  await destination.close();
  return [fresh, changed];
}

/** A file per table and batch, in the engine's own format. */
async function files(folder: string, all: Delivery[][], line: (cells: Cells, table: TableName) => string) {
  const written: { table: TableName; file: string }[] = [];
  for (const [b, batch] of all.entries()) {
    const byTable = Map.groupBy(
      batch.flatMap((one) => rowsOf(one, '2026-11-15T12:00:00.000Z')),
      ([table]) => table,
    );
    for (const [table, rows] of byTable) {
      const file = path.join(folder, `${table}${b}.txt`);
      await writeFile(file, `${rows.map(([, cells]) => line(cells, table)).join('\n')}\n`, { mode: 0o644 });
      written.push({ table, file });
    }
  }
  return written;
}

function report(engine: string, bulk: Took, took: [Took, Took]): void {
  const [fresh, changed] = took.map(
    ({ ms, processorMs }) =>
      `${(ms / bulk.ms).toFixed(2)} times its time, ${(processorMs / bulk.processorMs).toFixed(2)} times its processor time`,
  );
  const rate = Math.round((4 * size) / (took[0].ms / 1_000));
  console.log(`${engine}, against its own bulk load: new ${fresh} (${rate} reservations/s); changed ${changed}`);
}

async function intoMariadb(): Promise<void> {
  const server = await startMariadb();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-bench-'));
  try {
    await server.database('own');
    const all = batches();
    const took = await load(mysql, { url: server.url('own') }, all, server.processorMs);
    await server.query('create database bare');
    for (const table of ['reservations', 'reservation_versions'])
      await server.query(`create table bare.${table} like own.${table}`);
    const escaped = (text: string) => text.replace(/[\\\t\n]/g, (one) => `\\${one}`);
    const line = (cells: Cells, table: TableName) =>
      tables[table].columns
        .map(({ name, kind }) => {
          const text = cells[name];
          if (text === undefined) return '\\N';
          return kind === 'time' ? text.replace('T', ' ').replace('Z', '') : escaped(text);
        })
        .join('\t');
    const list = await files(folder, all, line);
    const bulk = await measured(async () => {
      for (const { table, file } of list) {
        await server.query(
          `load data infile '${file}' into table bare.${table} character set utf8mb4 (${tables[table].columns.map(({ name }) => `\`${name}\``).join(', ')})`,
        );
      }
    }, server.processorMs);
    report('MariaDB', bulk, took);
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const inProcess: EngineMs = async () => 0;

async function intoDuck(): Promise<void> {
  const server = await startDuckWire('token');
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-bench-'));
  try {
    const all = batches();
    const settings = { token: 'token', database: 'hotels', endpoint: server.endpoint };
    const took = await load(motherduck, settings, all, inProcess);
    await server.ask('create schema bare');
    const list = await files(folder, all, (cells) => JSON.stringify(cells));
    for (const name of ['reservations', 'reservation_versions'] as const) {
      const { key } = tables[name];
      await server.ask(`create table bare.${name} as from innbound.${name} limit 0`);
      await server.ask(`alter table bare.${name} add primary key (${key.join(', ')})`);
    }
    const bulk = await measured(async () => {
      for (const { table, file } of list) await server.ask(`copy bare.${table} from '${file}' (format json)`);
    }, inProcess);
    report('DuckDB', bulk, took);
  } finally {
    await server.stop();
    await http.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function memory(): Promise<void> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end(request.url === '/token' ? '{"access_token":"t","expires_in":3600}' : '{"jobComplete":true}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const key = {
    client_email: 'a@b.example',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    token_uri: `${endpoint}/token`,
  };
  const settings = bigquery.settings.parse({ project: 'my-hotels', credentials: JSON.stringify(key), endpoint });
  const destination = bigquery.open(settings, services);
  const seen: number[] = [];
  for (let from = 0; from < 1_000_000; from += size) {
    const [outcome] = await destination.deliver(batchOf(from), limits);
    if (outcome?.kind !== 'delivered') throw new Error(JSON.stringify(outcome));
    if ((from + size) % 100_000 === 0) {
      (globalThis as { gc?: () => void }).gc?.();
      seen.push(process.memoryUsage().rss / 2 ** 20);
      console.log(`${from + size} rows: ${Math.round(seen.at(-1) ?? 0)} MiB resident`);
    }
  }
  console.log(`memory at the end: ${((seen.at(-1) ?? 0) / (seen[0] ?? 1)).toFixed(2)} times that after 100,000 rows`);
  await destination.close();
  server.closeAllConnections();
  server.close();
  await http.close();
}
