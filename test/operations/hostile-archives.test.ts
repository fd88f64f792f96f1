import assert from 'node:assert/strict';
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { sealSecret } from '../../src/core/documents/keyring.ts';
import { read } from '../../src/core/pipeline.ts';
import { archivedTables, type CopiedTable, checkedRows, copiedTables } from '../../src/core/store/db/copy.ts';
import type { Pool } from '../../src/core/store/db/pool.ts';
import { transaction } from '../../src/core/store/db/pool.ts';
import { putSecret } from '../../src/core/store/documents/secrets.ts';
import { issueEndpoint } from '../../src/core/store/events/endpoints.ts';
import { ingest } from '../../src/core/store/records/ingest.ts';
import { InnboundError } from '../../src/errors.ts';
import { AlteredArchive, DamagedArchive, readArchive } from '../../src/kit/archive.ts';
import { type Key, newKey, seal } from '../../src/kit/crypto.ts';
import { backup, openedKeys, restore, sealedKeys } from '../../src/operator/operations/backup.ts';
import { openRuntime } from '../../src/operator/operations/open-runtime.ts';
import { exportBrand, importBrand } from '../../src/operator/operations/transfer-brand.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';
import { testDatabase } from '../support/database.ts';
import { type Parts, sealed, setRow, tableOf, takeApart, textOf } from './archive-forgery.ts';

/**
 * Altered files against `innbound restore` and `innbound brand import`. Without the key an altered file is refused before any statement.
 * With a valid seal, the checks of names and rows behind it must hold on their own: nothing is changed.
 */
const documents = (brand: string): Record<string, string> => ({
  'innbound.yaml': 'network: { allow_private: true }\n',
  'connectors/hotel.yaml': `connector: hotel
pull:
  request: { method: GET, path: /api/reservations, query: { dateFrom: "{window.from}", dateTo: "{window.to}" } }
  pagination: { type: none }
shape: { root_path: reservations }
`,
  [`integrations/${brand}.yaml`]: `integration: ${brand}
connector: hotel
brand_id: LIS01
timezone: Europe/Lisbon
country: PT
pull:
  base_url: http://127.0.0.1:1/${brand}
  auth: { type: bearer, token: "\${secret:pms}" }
  syncs: { stay: { every: 15m, range: [-30d, 0d] } }
push: { enabled: true }
deliver: [lake]
`,
  'destinations/lake.yaml': 'destination: lake\ntype: files\npath: out\n',
});

const folders: string[] = [];
const runtimes: Runtime[] = [];

async function installation(brand: string): Promise<{ dir: string; runtime: Runtime }> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-hostile-'));
  folders.push(dir);
  for (const [file, text] of Object.entries(documents(brand))) {
    await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
    await writeFile(path.join(dir, file), text);
  }
  const db = await testDatabase();
  const env = { DATABASE_URL: db.url };
  const runtime = await openRuntime({ workspaceDir: dir, purpose: 'command', describe: 'test', env });
  runtimes.push(runtime);
  const { pool, keyring } = runtime;
  await transaction(pool, (tx) =>
    issueEndpoint(
      tx,
      brand,
      { seal: (plain, boundTo) => seal(keyring, plain, boundTo), open: () => undefined },
      { endpointId: (sandbox) => `ep_${brand}_${sandbox ? 'sandbox' : 'live'}`, secret: () => 'whsec_1' },
    ),
  );
  return { dir, runtime };
}

/** A row in every table that holds lists, JSON, numbers or times of its own kind. */
async function fill({ pool, keyring, active }: Runtime, brand: string): Promise<void> {
  await putSecret(pool, 'pms', sealSecret(keyring, 'pms', 'let me in'));
  const own = active().integrations.get(brand) ?? assert.fail();
  const value = {
    id: 'R1',
    check_in: '2026-12-01',
    check_out: '2026-12-03',
    status: 'confirmed',
    total_amount: '120.50',
    guests: [{ first_name: 'Ana', last_name: 'Reis', email: 'ana@guests.example', is_primary: true }],
  };
  for (const [mode, cause] of [
    ['pull', 'run'],
    ['push', 'event'],
  ] as const) {
    const arrival = { mode, effectiveAt: Date.now(), cause, causeId: 'test' } as const;
    const prepared = read(own, { key: 'R1', value: { ...value, channel: mode } }, arrival);
    await transaction(pool, (tx) => ingest(tx, own, [prepared]));
  }
  await pool.query(
    `insert into events (integration, endpoint_id, event_id, event, occurred_at, received_at, body, body_hash)
       values ('${brand}', 'ep_${brand}_live', 'e1', 'reservation.updated', now(), now(), '{}', '');
     insert into sightings values ('${brand}', now(), 'run_1', '{R1,"R 2"}');
     insert into syncs (integration, sync, feed, read_at) values ('${brand}', 'stay', 5, now())
       on conflict (integration, sync) do update set feed = 5;
     insert into run_pages values ('${brand}', 'run_1', 1, '2026-12-01', '2026-12-02', 1, now(), 1, 1, 0, 1, 1, 1, 1, 0.5, 0.25, null, '{a}');
     insert into dead_letters (integration, kind, fingerprint, code, message) values ('${brand}', 'event', 'f', 'push.x', 'x');
     insert into activity (integration, step, at, quality) values ('${brand}', '1d', '2026-12-01', '{"rows":1}');
     insert into erasures (erasure_id, requested_by, subject) values ('er_1', 'test', 'x');
     insert into erased_guests (hash, erasure_id) values ('\\x01', 'er_1');
     insert into tokens (token_id, kind, hash, name, role, created_by) values ('tk_1', 'api', '\\x02', 'n', 'viewer', 'test')`,
  );
}

let from: { dir: string; runtime: Runtime };
let to: { dir: string; runtime: Runtime };
let scratch: string;
let wholeKey: Key;
let brandKey: Key;
let whole: Parts;
let brand: Parts;
const files: Record<'backup' | 'brand', Buffer> = { backup: Buffer.alloc(0), brand: Buffer.alloc(0) };
const passphrase = 'correct horse battery staple';

before(async () => {
  [from, to] = [await installation('grand'), await installation('palace')];
  await fill(from.runtime, 'grand');
  scratch = path.join(from.dir, 'forged.innbound');
  const [one, two] = [path.join(from.dir, 'whole.innbound'), path.join(from.dir, 'brand.innbound')];
  await backup(from.runtime, one, undefined, () => {});
  await exportBrand(from.runtime, 'grand', two, { by: 'test', passphrase, onTable: () => {} });
  [files.backup, files.brand, whole, brand] = [
    await readFile(one),
    await readFile(two),
    await takeApart(one),
    await takeApart(two),
  ];
  wholeKey = from.runtime.keyring[0];
  brandKey = openedKeys(brand.header.keys as Parameters<typeof openedKeys>[0], passphrase)[0];
});

after(async () => {
  for (const runtime of runtimes) await runtime.close();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

/** A pool that no statement may reach. */
const untouchable = new Proxy({} as Pool, {
  get: (_, name) => assert.fail(`the pool was used: ${String(name)}`),
});

const restoreInto = (pool: Pool) =>
  restore(pool, scratch, {
    workspaceDir: from.dir,
    env: {},
    passphrase: undefined,
    replace: true,
    erasureLists: [],
    onTable: () => {},
  });

const refusal = async (attempt: Promise<unknown>, what: string): Promise<string> => {
  const error = await attempt.then(
    () => assert.fail(`${what} was accepted`),
    (caught: unknown) => caught,
  );
  assert.ok(error instanceof InnboundError, `${what}: ${(error as Error).stack}`);
  assert.match(error.message, /\.$/, what);
  assert.doesNotMatch(error.message, /guests\.example|Reis|let me in/, 'no guest data, no secret');
  return error.code;
};

/** Deterministic places in a file, at both ends and all over it. */
const places = (length: number, count: number): number[] => [
  ...Array.from({ length: 40 }, (_, i) => i * 7).filter((at) => at < length),
  ...Array.from({ length: 33 }, (_, i) => length - 1 - i),
  ...Array.from({ length: count }, (_, i) => Math.floor((i / count) * length)),
];

test('a file that was changed, cut or extended anywhere is refused before any statement', async () => {
  const seen = new Map<string, number>();
  const count = (code: string) => seen.set(code, (seen.get(code) ?? 0) + 1);
  const stranger = newKey();
  const forgeries = (name: 'backup' | 'brand', parts: Parts): [string, Buffer][] => {
    const bytes = files[name];
    const text = textOf(parts);
    const lines = text.split('\n');
    const line = Math.floor(lines.length / 2);
    const own = { ...parts.header, key_id: stranger.id, keys: sealedKeys([stranger], 'another passphrase') };
    return [
      ...places(bytes.length, 40).map((at, i): [string, Buffer] => {
        const flipped = Buffer.from(bytes);
        flipped[at] = (flipped[at] ?? 0) ^ (1 << (i % 8));
        return [`${name}: bit ${i % 8} of byte ${at}`, flipped];
      }),
      ...[0, 1, 31, 32, 33, 64, bytes.length - 33, bytes.length - 32, bytes.length - 1].map(
        (length): [string, Buffer] => [`${name}: cut to ${length}`, bytes.subarray(0, length)],
      ),
      ...['\0', '\n', bytes.subarray(-32), bytes].map((more, i): [string, Buffer] => [
        `${name}: extended ${i}`,
        Buffer.concat([bytes, Buffer.from(more)]),
      ]),
      [`${name}: without a seal`, bytes.subarray(0, -32)],
      [`${name}: with zeros for a seal`, Buffer.concat([bytes.subarray(0, -32), Buffer.alloc(32)])],
      [`${name}: sealed with another key`, sealed(stranger, parts.header, text)],
      [`${name}: sealed with another key and passphrase`, sealed(stranger, own, text)],
      [`${name}: a line dropped`, altered(parts, lines.toSpliced(line, 1))],
      [`${name}: a line repeated`, altered(parts, lines.toSpliced(line, 0, lines[line] ?? ''))],
      [`${name}: lines reversed`, altered(parts, lines.toReversed())],
      [`${name}: another header`, sealed(stranger, { ...parts.header, version: '9.9.9' }, text)],
    ];
  };
  const altered = (parts: Parts, lines: string[]) =>
    Buffer.concat([sealed(stranger, parts.header, lines.join('\n')).subarray(0, -32), files.backup.subarray(-32)]);
  for (const [what, bytes] of forgeries('backup', whole)) {
    await writeFile(scratch, bytes);
    count(await refusal(restoreInto(untouchable), what));
  }
  for (const [what, bytes] of forgeries('brand', brand)) {
    await writeFile(scratch, bytes);
    // With the right key at hand: whoever knows only the file does not have it.
    const read = readArchive(
      scratch,
      async () => ({ key: brandKey }),
      () => assert.fail(`${what} was opened`),
    );
    const error = await read.catch((caught: unknown) => caught);
    assert.ok(error instanceof AlteredArchive || error instanceof DamagedArchive, `${what}: ${error}`);
    count(error.constructor.name);
  }
  await writeFile(scratch, sealed(stranger, { ...brand.header, keys: sealedKeys([stranger], 'x') }, textOf(brand)));
  const options = { passphrase, apply: true };
  assert.equal(
    await refusal(importBrand(to.runtime, scratch, options), 'a passphrase of their own'),
    'store.passphrase',
  );
  await writeFile(scratch, sealed(stranger, brand.header, textOf(brand)));
  assert.equal(await refusal(importBrand(to.runtime, scratch, options), 'a foreign seal'), 'store.backup_altered');
  const all = [...seen.values()].reduce((sum, one) => sum + one, 2);
  assert.ok(all >= 200, `${all} files`);
});

/** Forgeries with a valid seal: what a person who knows the key could try. Each changes the parts, or returns the whole text. */
type Forgery = (parts: Parts) => unknown;

const sqlName = `x" (a int); copy (select 1) to program 'touch ${os.tmpdir()}/innbound-hostile-${process.pid}'; --`;
const rename =
  (name: string, head: unknown): Forgery =>
  (parts) =>
    Object.assign(tableOf(parts, name), { head });
const headOf = (parts: Parts, name: string) => tableOf(parts, name).head as { table: string; columns: string[] };
const row =
  (table: string, values: Record<string, string>, copy = false): Forgery =>
  (parts) =>
    setRow(parts, table, values, copy);
const json = (value: unknown): string => JSON.stringify(value).replaceAll('\\', '\\\\');
const columns =
  (table: string, change: (columns: string[]) => unknown): Forgery =>
  (parts) => {
    const head = headOf(parts, table);
    tableOf(parts, table).head = { table: head.table, columns: change([...head.columns]) };
  };

const structure: Record<string, Forgery> = {
  'SQL as the name of a table': rename('secrets', { table: sqlName, columns: ['name'] }),
  'SQL as the name of a column': columns('secrets', ([, ...others]) => [sqlName, ...others]),
  'a table of the catalogue': rename('secrets', { table: 'pg_authid', columns: ['rolname'] }),
  'a table of another schema': rename('secrets', { table: 'innbound_service"."secrets', columns: ['name'] }),
  'the list of migrations': rename('secrets', { table: 'migrations', columns: ['number'] }),
  'a column too few': columns('secrets', (names) => names.slice(1)),
  'a column too many': columns('secrets', (names) => [...names, 'sealed']),
  'columns in another order': columns('secrets', (names) => names.toReversed()),
  'columns that are not a list': columns('secrets', (names) => ({ length: names.length })),
  'no columns': columns('secrets', () => undefined),
  'a head that is null': rename('secrets', null),
  'a head that is a text': rename('secrets', 'secrets'),
  'a head that is a list': rename('secrets', ['secrets']),
  'a head that is not JSON': (parts) => textOf(parts).replace('{"table":"secrets"', '{"table":secrets'),
  'a head of 1 MB': rename('secrets', { table: 'x'.repeat(1_000_000), columns: [] }),
  'a table twice': (parts) => void parts.tables.splice(1, 0, parts.tables[0] ?? assert.fail()),
  'a table missing': (parts) => void parts.tables.splice(2, 1),
  'tables in another order': (parts) => void parts.tables.reverse(),
  'no tables': (parts) => void parts.tables.splice(0),
  'a table without its end': (parts) => textOf(parts).replace('\n\\.\n', '\n'),
  'an end within a table': (parts) => textOf(parts).replace('\n\\.\n', '\n\\.\n\\.\n'),
  'no end': (parts) => textOf(parts).replace('{"end":true}\n', ''),
  'an end without a line break': (parts) => textOf(parts).slice(0, -1),
  'something after the end': (parts) => `${textOf(parts)}{"table":"tokens","columns":[]}\n\\.\n`,
  'an end before the tables': (parts) => `{"end":true}\n${textOf(parts)}`,
  'nothing at all': () => '',
  'one line of 64 MB': (parts) => void tableOf(parts, 'records').rows.unshift('x'.repeat(64_000_000)),
};

const record = { id: 'R9', check_in: '2026-12-01', check_out: '2026-12-03', status: 'confirmed', guests: [] };
const contents: Record<string, Forgery> = {
  'a field too few': (parts) => void tableOf(parts, 'records').rows.push('grand\treservation'),
  'a field too many': (parts) => void tableOf(parts, 'records').rows.push(`${tableOf(parts, 'records').rows[0]}\tmore`),
  'an empty row': (parts) => void tableOf(parts, 'records').rows.push(''),
  'a row twice': (parts) => void tableOf(parts, 'records').rows.push(tableOf(parts, 'records').rows[0] ?? ''),
  'an escape in hexadecimal': row('records', { id: '\\x52' }),
  'an escape in octal': row('records', { id: '\\122' }),
  'a backslash at the end': row('records', { id: 'R\\' }),
  'a marked end in a row': row('records', { id: '\\.' }),
  'a carriage return': row('records', { id: 'R\r' }),
  'a NUL': row('records', { id: 'R\0' }),
  'bytes that are not UTF-8': row('records', { id: 'R\xff' }),
  'null where a value must be': row('records', { id: '\\N' }),
  'a type that does not exist': row('records', { type: 'invoice' }),
  'a text for a number': row('records', { version: 'one' }),
  'a number beyond int': row('records', { version: '4294967296' }),
  'a number that loses digits': row('records', { seq: '9007199254740993' }),
  'an infinite time': row('records', { effective_at: 'infinity' }),
  'a time before Christ': row('records', { effective_at: '0044-03-15 12:00:00+00 BC' }),
  'a time after the year 9999': row('records', { effective_at: '12026-12-01 00:00:00+00' }),
  'a time without a zone': row('records', { effective_at: '2026-12-01 00:00:00' }),
  'an infinite date': row('run_pages', { window_from: 'infinity' }),
  'not a number': row('run_pages', { mark: 'NaN' }),
  'an infinite number': row('run_pages', { mark: 'Infinity' }),
  'a list in a list': row('sightings', { ids: '{{a},{b}}' }),
  'null in a list': row('sightings', { ids: '{a,NULL}' }),
  'a list that does not end': row('sightings', { ids: '{a' }),
  'an event that is not text': row('events', { body: '\\\\xff' }),
  'an event in the older notation of bytes': row('events', { body: '\\\\377' }),
  'a mark without a time': row('records', { unlisted: '{"since":"yesterday"}' }),
  'notes that are texts': row('history', { notes: '["x"]' }),
  'JSON that is not JSON': row('records', { data: '{' }),
  'a record that is a list': row('records', { data: '[]' }),
  'a record that is null': row('records', { data: 'null' }),
  'a record without an id': row('records', { data: json({ ...record, id: undefined }), type: 'reservation' }),
  'a record with a number for a date': row('records', { data: json({ ...record, check_in: 5 }), type: 'reservation' }),
  'a record of an unknown status': row('records', { data: json({ ...record, status: 'x' }), type: 'reservation' }),
  'a record whose guests are not a list': row('records', {
    data: json({ ...record, guests: {} }),
    type: 'reservation',
  }),
  'a guest with an object for a name': row('records', { data: json({ first_name: { a: 1 } }), type: 'guest' }),
  'JSON of 100,000 levels': row('records', { data: `${'['.repeat(100_000)}${']'.repeat(100_000)}` }),
  'extra of 5,000 levels': row('records', {
    data: json(record).replace('"guests"', `"extra":{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}},"guests"`),
    type: 'reservation',
  }),
  'claims that are a text': row('records', { claims: '"pull"' }),
  'a claim without a time': row('records', { claims: '{"pull":[{"values":{}}]}' }),
  'a claim whose lists are texts': row('records', {
    claims: '{"pull":[{"at":[1,1],"values":{},"lists":{"rooms":"x"}}]}',
  }),
  'no claims of a source': row('records', { claims: '{"push":[]}' }),
  'claims of nothing': row('records', { claims: '{"push":null}' }),
  'a difference that is an object': row('history', { diff: '{}' }),
  'a difference without a path': row('history', { diff: '[{"before":1}]' }),
  'notes that are an object': row('history', { notes: '{}' }),
  'an outcome that does not exist': row('history', { outcome: 'forged' }),
  'details that are a list': row('dead_letters', { detail: '[]' }),
  'counts that are a number': row('activity', { quality: '1' }),
  'a document called ../../../x': row('documents', { name: '../../../x' }),
  'a document called a/b': row('documents', { name: 'a/b' }),
  'a document without a name': row('documents', { name: '' }),
  'a document called .': row('documents', { name: '.' }),
  'a document in capitals': row('documents', { name: 'GRAND' }),
  'a document with a name of 64 letters': row('documents', { name: 'a'.repeat(64) }),
  'a document with a line break in its name': row('documents', { name: 'grand\\n' }),
  'a document whose body has another name': row('documents', {
    kind: 'integration',
    name: 'grand',
    body: json({ integration: '../../x' }),
  }),
  'a document whose body is a list': row('documents', { body: '[]' }),
  'a document of an unknown kind': row('documents', { kind: 'script' }),
};

const brandTables = ['records', 'history', 'endpoints', 'outbox'];

const integrationRow = (parts: Parts, change: (source: string, body: Record<string, unknown>) => [string, unknown]) => {
  const table = tableOf(parts, 'documents');
  const names = headOf(parts, 'documents').columns;
  table.rows = table.rows.map((line) => {
    const fields = line.split('\t');
    if (fields[names.indexOf('kind')] !== 'integration') return line;
    const [s, b] = [names.indexOf('source'), names.indexOf('body')];
    const [source, body] = change(fields[s] ?? '', JSON.parse((fields[b] ?? '').replaceAll('\\\\', '\\')));
    return fields.with(s, source).with(b, json(body)).join('\t');
  });
};

const belonging: Record<string, Forgery> = {
  ...Object.fromEntries(
    brandTables.map((table, i) => [
      `a row of another brand in ${table}`,
      row(table, { integration: 'palace' }, i % 2 === 1),
    ]),
  ),
  'a table of tokens': (parts) =>
    void parts.tables.push({
      head: headOf(whole, 'tokens'),
      rows: [...tableOf(whole, 'tokens').rows],
    }),
  'tokens in place of another table': (parts) => {
    const table = tableOf(parts, 'activity');
    [table.head, table.rows] = [headOf(whole, 'tokens'), [...tableOf(whole, 'tokens').rows]];
  },
  'the audit of another installation': (parts) => void parts.tables.push({ head: headOf(whole, 'audit'), rows: [] }),
  'the keys of the hashes': row('secrets', { name: 'innbound.hash_keys' }),
  'a secret that no document names': row('secrets', { name: 'of-another-brand' }),
  'a secret for the address of another brand': row('endpoint_secrets', { endpoint_id: 'ep_palace_live' }, true),
  'an event at the address of another brand': row('events', { endpoint_id: 'ep_palace_live' }),
  'an event of the stream of another brand': row('events', { endpoint_id: 'stream:palace' }),
  'the settings of the workspace': row('documents', { kind: 'workspace', name: 'innbound', body: '{}' }, true),
  'the document of another brand': row(
    'documents',
    { kind: 'integration', name: 'palace', body: json({ integration: 'palace' }) },
    true,
  ),
  'a destination that the brand does not use': row(
    'documents',
    { kind: 'destination', name: 'other', body: json({ destination: 'other' }), version: '7' },
    true,
  ),
  'no document of the brand': (parts) => {
    const table = tableOf(parts, 'documents');
    table.rows = table.rows.filter((line) => !line.startsWith('integration\t'));
  },
  'a document whose text says otherwise': (parts) =>
    integrationRow(parts, (source, body) => [source, { ...body, brand_id: 'OTHER' }]),
  'a document that is not valid': (parts) =>
    integrationRow(parts, (source, body) => [source.replace('country: PT', 'country: Narnia'), body]),
  'destinations that are not a list': (parts) =>
    integrationRow(parts, (source, body) => [source, { ...body, deliver: 'lake' }]),
};

const headers: Record<string, (header: Parts['header']) => unknown> = {
  'another brand': (header) => ({ ...header, brand: 'palace' }),
  'a brand called ../x': (header) => ({ ...header, brand: '../x' }),
  'no brand': ({ brand: _, ...header }) => header,
  'an epoch of zero': (header) => ({ ...header, epoch: 0 }),
  'an epoch without end': (header) => ({ ...header, epoch: 2 ** 31 - 1 }),
  'an epoch that is a text': (header) => ({ ...header, epoch: '1; drop table records' }),
  'another kind': (header) => ({ ...header, innbound: 'both' }),
  'a further key': (header) => ({ ...header, more: true }),
  'another schema': (header) => ({ ...header, schema: ['1 x'] }),
  'a schema that is a text': (header) => ({ ...header, schema: 'x' }),
  'a version with escapes': (header) => ({ ...header, version: '\u001b[2J' }),
  'no time': (header) => ({ ...header, created_at: 'yesterday' }),
  'a list': (header) => [header],
  'no JSON': () => 'header\n',
  'a line of 100 kB': () => `${JSON.stringify({ innbound: 'x'.repeat(100_000) })}\n`,
};

/** Everything in the database, but what a connection itself renews. */
async function contentOf({ pool }: Runtime): Promise<string> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'innbound_service'::regnamespace and relkind in ('r', 'p')
        and not relispartition and relname not in ('nodes', 'store_state', 'marks', 'activity') order by 1`,
  );
  const parts = tables.map(
    ({ name }) => `(select md5(string_agg(t::text, '|' order by t::text)) from ${name} t) as ${name}`,
  );
  return JSON.stringify((await pool.query(`select ${parts.join(', ')}`)).rows);
}

const forgedOf = (parts: Parts, forge: Forgery): { readonly parts: Parts; readonly text: string } => {
  const copy = structuredClone(parts);
  const text = forge(copy);
  return { parts: copy, text: typeof text === 'string' ? text : textOf(copy) };
};

/** Reads a file as a restore or an import does, without a database. The checks of a row are behind those of its table. */
async function readWithoutDatabase(key: Key, parts: Parts, tables: readonly CopiedTable[]): Promise<void> {
  const names = parts.tables.map(({ head }) => (head as { table: string }).table);
  const expected = names.map((name) => tables.find(({ table }) => table === name) ?? sequences);
  await readArchive(
    scratch,
    async () => ({ key }),
    async (_, found) => {
      for await (const one of archivedTables(found, expected)) for await (const _rows of checkedRows(one, one.rows));
    },
  );
}
const sequences = { table: 'positions', columns: ['name', 'value'], types: ['text', 'bigint'], estimate: 0 };

/** Refused by a type, a key or a rule of the database. */
const leftToDatabase = new Set([
  'a row twice',
  'null where a value must be',
  'a type that does not exist',
  'a text for a number',
  'a number beyond int',
  'an outcome that does not exist',
]);
/** Tried on the whole way too, though they are refused before it. */
const onTheWholeWay = new Set([
  'SQL as the name of a table',
  'SQL as the name of a column',
  'a table missing',
  'something after the end',
  'an infinite time',
  'a record that is a list',
  'a document called ../../../x',
]);
const hostile = Object.entries({ ...structure, ...contents });

test('hostile contents under a valid seal are refused before any statement, or by a rule of the database', async () => {
  const tables = await copiedTables(to.runtime.pool);
  for (const [key, parts] of [
    [wholeKey, whole],
    [brandKey, brand],
  ] as const) {
    for (const [what, forge] of hostile) {
      const forged = forgedOf(parts, forge);
      await writeFile(scratch, sealed(key, parts.header, forged.text));
      const read = readWithoutDatabase(key, parts, tables);
      if (leftToDatabase.has(what)) await read;
      else await assert.rejects(read, DamagedArchive, what);
    }
  }
});

test('a file with a valid seal and hostile contents changes nothing when it is restored', async () => {
  const unchanged = await contentOf(to.runtime);
  const codes = new Set<string>();
  for (const [what, forge] of hostile) {
    if (!leftToDatabase.has(what) && !onTheWholeWay.has(what)) continue;
    const forged = forgedOf(whole, forge);
    await writeFile(scratch, sealed(wholeKey, forged.parts.header, forged.text));
    codes.add(await refusal(restoreInto(to.runtime.pool), what));
  }
  for (const [what, change] of Object.entries(headers)) {
    if (/brand|epoch/.test(what)) continue;
    await writeFile(scratch, sealed(wholeKey, change({ ...whole.header }), textOf(whole)));
    codes.add(await refusal(restoreInto(what === 'another schema' ? to.runtime.pool : untouchable), `header: ${what}`));
  }
  assert.deepEqual([...codes].sort(), ['store.backup_unreadable', 'store.backup_version']);
  assert.equal(await contentOf(to.runtime), unchanged);
});

test('a file with a valid seal and hostile contents changes nothing when it is imported', async () => {
  const unchanged = await contentOf(to.runtime);
  const codes = new Set<string>();
  const importFile = (apply = true) =>
    importBrand(to.runtime, scratch, { passphrase: undefined, apply, keysOf: () => [brandKey] });
  const tried = hostile.filter(([what]) => leftToDatabase.has(what) || onTheWholeWay.has(what));
  for (const [what, forge] of [...tried, ...Object.entries(belonging)]) {
    const forged = forgedOf(brand, forge);
    await writeFile(scratch, sealed(brandKey, forged.parts.header, forged.text));
    codes.add(await refusal(importFile(!what.startsWith('SQL')), what));
  }
  for (const [what, change] of Object.entries(headers)) {
    await writeFile(scratch, sealed(brandKey, change({ ...brand.header }), textOf(brand)));
    codes.add(await refusal(importFile(), `header: ${what}`));
  }
  const expected = ['operate.transfer_refused', 'store.backup_unreadable', 'store.backup_version'];
  assert.deepEqual([...codes].sort(), expected);
  assert.equal(await contentOf(to.runtime), unchanged);
  await assert.rejects(access(path.join(os.tmpdir(), `innbound-hostile-${process.pid}`)));

  // The untouched file still goes in.
  await writeFile(scratch, sealed(brandKey, brand.header, textOf(brand)));
  assert.ok((await importFile()).records > 0);
  await writeFile(scratch, files.backup);
  await restoreInto(to.runtime.pool);
});
