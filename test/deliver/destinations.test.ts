import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { startFauxqs } from 'fauxqs';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import type { DestinationServices } from '../../src/core/deliver/destination.ts';
import { destinationType as files } from '../../src/core/deliver/destinations/files/destination.ts';
import { destinationType as http } from '../../src/core/deliver/destinations/http/destination.ts';
import { destinationType as postgres } from '../../src/core/deliver/destinations/postgres/destination.ts';
import { bucketStore } from '../../src/core/deliver/destinations/s3/bucket.ts';
import { destinationType as s3 } from '../../src/core/deliver/destinations/s3/destination.ts';
import { destinationType as webhook } from '../../src/core/deliver/destinations/webhook/destination.ts';
import { plainPool, testDatabase } from '../support/database.ts';
import { conformance, type Effect, type Subject } from './conformance.ts';
import { s3Server } from './destinations/s3/server.ts';
import { listen, type Received } from './http-server.ts';
import { services, temporaryFolder } from './support.ts';

type Line = { version: number; idempotency_key: string; event: string; data: { id: string } };

const effectOf = (line: Line, data: string): Effect => ({
  id: line.data.id,
  version: line.version,
  key: line.idempotency_key,
  event: line.event,
  data,
});

async function filesSubject(format: 'ndjson' | 'parquet'): Promise<Subject> {
  const { folder, remove } = await temporaryFolder();
  const offered = services(folder);
  const settings = files.settings.parse({ path: 'out', format, file_size: '4KiB' });
  return {
    isLocal: true,
    open: async () => files.open(settings, offered),
    async effects() {
      const names = await readdir(path.join(folder, 'out'), { recursive: true });
      const wanted = names.filter((name) => name.endsWith(`.${format}`)).sort();
      const effects: Effect[] = [];
      for (const name of wanted) {
        if (format === 'ndjson') {
          const bytes = await readFile(path.join(folder, 'out', name));
          const lines = bytes.toString('utf8').trimEnd().split('\n');
          effects.push(...lines.map((line) => effectOf(JSON.parse(line), line)));
        } else effects.push(...(await parquetEffects(await readFile(path.join(folder, 'out', name)))));
      }
      return effects;
    },
    async close() {
      await offered.close();
      await remove();
    },
  };
}

/** Decimals are read as raw bytes: the reader would turn them into doubles. */
async function parquetEffects(bytes: Buffer): Promise<Effect[]> {
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  const metadata = parquetMetadata(file);
  for (const element of metadata.schema) if (element.converted_type === 'DECIMAL') delete element.converted_type;
  const rows = await parquetReadObjects({ file, metadata });
  return rows.map(({ id, version, idempotency_key, event, guests, total_amount }) => ({
    id: String(id),
    version: Number(version),
    key: String(idempotency_key),
    event: String(event),
    data: `${JSON.stringify(guests)} "total_amount":${decimalText(total_amount as Uint8Array | null)}`,
  }));
}

function decimalText(bytes: Uint8Array | null): string {
  if (bytes === null) return 'null';
  const unscaled = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
    .toString()
    .padStart(10, '0');
  return `${unscaled.slice(0, -9)}.${unscaled.slice(-9)}`.replace(/\.?0+$/, '');
}

/** A bucket of a server with conditional writes, or of one that ignores the conditions. */
async function s3Subject(format: 'ndjson' | 'parquet', isGuarded: boolean): Promise<Subject> {
  const stub = isGuarded ? await s3Server() : undefined;
  const faux = isGuarded
    ? undefined
    : await startFauxqs({ port: 0, host: '127.0.0.1', logger: false, init: { buckets: ['lake'] } });
  const offered = services('/');
  const settings = s3.settings.parse({
    bucket: 'lake',
    region: 'eu-west-1',
    endpoint: stub?.url ?? `http://127.0.0.1:${faux?.port}`,
    addressing: 'path',
    credentials: { access_key_id: 'AKIDTEST', secret_access_key: 'secret-access-key-1' },
    format,
    file_size: '4KiB',
  });
  const store = bucketStore(settings, offered, 10_000);
  return {
    open: async (given = offered) => s3.open(settings, given),
    async effects() {
      const files = (await store.list('')).filter(({ name }) => name.endsWith(`.${format}`));
      const effects: Effect[] = [];
      for (const { name } of files.sort((a, b) => (a.name < b.name ? -1 : 1))) {
        const bytes = Buffer.from((await store.read(name))?.bytes ?? []);
        if (format === 'parquet') effects.push(...(await parquetEffects(bytes)));
        else {
          const lines = bytes.toString('utf8').trimEnd().split('\n');
          effects.push(...lines.map((line) => effectOf(JSON.parse(line), line)));
        }
      }
      return effects;
    },
    async close() {
      await offered.close();
      await stub?.close();
      await faux?.stop();
    },
  };
}

async function postgresSubject(): Promise<Subject> {
  const db = await testDatabase({ empty: true });
  const pool = plainPool(db.connection);
  const offered = services('/');
  const settings = postgres.settings.parse({ url: db.url, schema: 'stays' });
  const opened: { close(): Promise<void> }[] = [];
  return {
    newestOnly: true,
    async open(given = offered) {
      const destination = postgres.open(settings, given);
      opened.push(destination);
      // A drained engine closes what it opened; a second close would throw.
      return { ...destination, close: async () => {} };
    },
    async effects() {
      const { rows } = await pool.query(
        `select r.*, (select json_agg(g) from stays.guests g where g.reservation_id = r.id)::text as guests,
                json_build_object('total_amount', r.total_amount)::text as money from stays.reservations r order by loaded_at`,
      );
      return rows.map((row) => ({
        id: row.id,
        version: row.version,
        key: row.idempotency_key,
        event: row.event,
        data: `${row.guests}${row.money}`,
      }));
    },
    refuse: async (id) => {
      await pool.query(`alter table stays.reservations add constraint refused check (id <> '${id}') not valid`);
    },
    async close() {
      await Promise.all(opened.map((one) => one.close()));
      await offered.close();
      await pool.end();
    },
  };
}

/** A server that honours keys: a repeated key has no effect. */
async function serverSubject(
  open: (url: string, offered: DestinationServices) => ReturnType<typeof http.open>,
): Promise<Subject> {
  const refused = new Set<string>();
  const effects: Effect[] = [];
  const seen = new Set<string>();
  const take = (line: Line): void => {
    if (seen.has(line.idempotency_key)) return;
    seen.add(line.idempotency_key);
    effects.push(effectOf(line, ''));
  };
  const server = await listen((request: Received) => {
    const lines = [request.body].flat() as unknown as Line[];
    if (lines.some(({ data }) => refused.has(data.id))) return { status: 422 };
    const before = effects.length;
    for (const line of lines) take(line);
    for (let i = before; i < effects.length; i++) {
      const effect = effects[i];
      if (effect) effects[i] = { ...effect, data: request.text };
    }
    return { status: 200 };
  });
  const offered = services('/');
  return {
    isReceiver: true,
    open: async (given = offered) => open(server.url, given),
    effects: async () => effects,
    refuse: async (id) => void refused.add(id),
    async close() {
      await offered.close();
      await server.close();
    },
  };
}

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

conformance('files (ndjson)', () => filesSubject('ndjson'));
conformance('files (parquet)', () => filesSubject('parquet'));
conformance('s3 (ndjson)', () => s3Subject('ndjson', true));
conformance('s3 (parquet)', () => s3Subject('parquet', true));
conformance('s3 (without conditional writes)', () => s3Subject('ndjson', false));
conformance('postgres', postgresSubject, { batch: 100 });
conformance('http', () => serverSubject((url, offered) => http.open(http.settings.parse({ url }), offered)), {
  batch: 1,
});
conformance('http (batched)', () => serverSubject((url, offered) => http.open(http.settings.parse({ url }), offered)), {
  batch: 10,
});
conformance(
  'webhook',
  () => serverSubject((url, offered) => webhook.open(webhook.settings.parse({ url, secret }), offered)),
  { batch: 1 },
);
