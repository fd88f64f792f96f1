import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { parquetMetadata } from 'hyparquet';
import type { Delivery } from '../../src/core/deliver/message.ts';
import { limits } from '../deliver/destinations/postgres/support.ts';
import { delivery, services } from '../deliver/support.ts';
import { plainPool, testDatabase } from '../support/database.ts';

/** Adds one line per table to a copy of the sources, runs the generator there, and looks for the new fields everywhere. */

const root = path.join(import.meta.dirname, '..', '..');
const copy = mkdtempSync(path.join(os.tmpdir(), 'innbound-field-'));
after(() => rmSync(copy, { recursive: true, force: true }));
const inCopy = (file: string) => path.join(copy, file);
const textOf = (file: string) => readFileSync(inCopy(file), 'utf8');

for (const folder of [
  'src',
  'scripts',
  'schemas',
  'docs/guides/brands',
  'docs/reference',
  'connectors',
  'presets',
  'console/src',
  'packages/demo/src',
  'packages/receiver/src',
  'packages/partner-kit/src',
  'packages/sender/src',
  'packages/suggest/src',
  'docs/partners',
])
  cpSync(path.join(root, folder), inCopy(folder), { recursive: true });
for (const file of ['package.json', 'docs/errors.md', 'console/build.ts']) cpSync(path.join(root, file), inCopy(file));
symlinkSync(path.join(root, 'node_modules'), inCopy('node_modules'));

const lines = {
  reservation: `deposit: { kind: 'decimal', example: '10.5', about: 'What was paid in advance.' },`,
  guests: `passphrase: { kind: 'text', personal: true, values: 'Passphrases.', example: 'x', about: 'A word.' },`,
  rooms: `is_accessible: { kind: 'boolean', example: true, about: 'Whether it has no steps.' },`,
  charges: `tax: { kind: 'decimal', example: '1', about: 'The tax in the amount.' },`,
};
let table = textOf('src/core/canonical/fields.ts');
for (const [name, line] of Object.entries(lines))
  table = table.replace(`const ${name} = {\n`, (head) => `${head}  ${line}\n`);
writeFileSync(inCopy('src/core/canonical/fields.ts'), table);
execFileSync(process.execPath, [inCopy('scripts/generate.ts')], { stdio: 'inherit' });

async function load<Module>(file: string): Promise<Module> {
  return (await import(pathToFileURL(inCopy(file)).href)) as Module;
}

const raw = {
  id: 'R1',
  check_in: '2026-12-01',
  check_out: '2026-12-04',
  status: 'confirmed',
  deposit: '12345678901234567.89',
  guests: [{ last_name: 'Exemplo', passphrase: 'ABRE', phone: '+351 912 345 678' }],
  rooms: [{ room_type: 'Double', is_accessible: 'yes' }],
  charges: [{ amount: '5', tax: '0.95' }],
};
const expected = {
  deposit: '12345678901234567.89',
  passphrase: 'open sesame',
  is_accessible: true,
  tax: '0.95',
};

async function pathOfRecord() {
  const { mapSchema, valuesSchema } = await load<typeof import('../../src/core/documents/connector-mapping.ts')>(
    'src/core/documents/connector-mapping.ts',
  );
  const { compileShape } = await load<typeof import('../../src/core/shape/shape.ts')>('src/core/shape/shape.ts');
  const { toReservation } =
    await load<typeof import('../../src/core/canonical/check.ts')>('src/core/canonical/check.ts');
  const { normalizeReservation } = await load<typeof import('../../src/core/normalize/normalize.ts')>(
    'src/core/normalize/normalize.ts',
  );
  const values = valuesSchema.parse({ passphrase: { 'open sesame': ['ABRE'] } });
  const map = mapSchema.parse({ deposit: 'deposit', rooms: { fields: { is_accessible: 'is_accessible' } } });
  const shaped = compileShape({ map, values, timezone: 'UTC', unknownStatus: 'dead_letter' });
  assert.ok(shaped.kind === 'ok', JSON.stringify(shaped));
  const read = shaped.shaper.single(raw);
  assert.ok(read.kind === 'ok');
  const checked = toReservation(shaped.shaper.draft(read.record));
  assert.ok(checked.kind === 'ok', JSON.stringify(checked));
  return normalizeReservation(checked.reservation, {}).reservation;
}

type Fields = { readonly [name: string]: unknown };
const newIn = (record: object) => {
  const { guests, rooms, charges, deposit } = record as Fields & Record<'guests' | 'rooms' | 'charges', Fields[]>;
  return {
    deposit,
    passphrase: guests[0]?.passphrase,
    is_accessible: rooms[0]?.is_accessible,
    tax: charges[0]?.tax,
  };
};

test('a mapping can fill it, translate it, check it and normalize it', async () => {
  const record = await pathOfRecord();
  assert.deepEqual(newIn(record), expected);
  const schemas = await load<typeof import('../../src/core/canonical/schema.ts')>('src/core/canonical/schema.ts');
  schemas.reservationSchema.parse(record);
});

test('it is encoded and decoded with every digit', async () => {
  const { encodeRecord, decodeRecord } = await load<typeof import('../../src/core/canonical/reservation.ts')>(
    'src/core/canonical/reservation.ts',
  );
  const text = encodeRecord(await pathOfRecord());
  assert.match(text, /"deposit":12345678901234567\.89\b/);
  assert.deepEqual(newIn(decodeRecord('reservation', text)), expected);
});

test('a rule can read and set it', async () => {
  const { reservationFields, lists } =
    await load<typeof import('../../src/core/transform/fields.ts')>('src/core/transform/fields.ts');
  assert.equal(reservationFields.deposit, 'decimal');
  assert.equal(lists.guests.fields.passphrase, 'text');
  assert.equal(lists.rooms.fields.is_accessible, 'flag');
});

test('the warehouse has a column for it, also in the versions, and the delivery fills it', async (t) => {
  const { destinationType } = await load<typeof import('../../src/core/deliver/destinations/postgres/destination.ts')>(
    'src/core/deliver/destinations/postgres/destination.ts',
  );
  const db = await testDatabase({ empty: true });
  const pool = plainPool(db.connection);
  const offered = services('/');
  const warehouse = destinationType.open(destinationType.settings.parse({ url: db.url }), offered);
  t.after(async () => {
    await Promise.all([warehouse.close(), offered.close(), pool.end()]);
  });
  const outcomes = await warehouse.deliver([delivery(await pathOfRecord())], limits);
  assert.equal(outcomes[0]?.kind, 'delivered', JSON.stringify(outcomes));
  const { rows } = await pool.query(
    `select r.deposit, v.deposit as version, g.passphrase, m.is_accessible, c.tax
       from innbound.reservations r, innbound.reservation_versions v, innbound.guests g, innbound.rooms m, innbound.charges c`,
  );
  assert.deepEqual(rows, [{ ...expected, version: expected.deposit }]);
  const { mistypedColumns } = await load<typeof import('../../src/core/deliver/destinations/postgres/failure.ts')>(
    'src/core/deliver/destinations/postgres/failure.ts',
  );
  assert.deepEqual(await mistypedColumns(pool, 'innbound'), []);
  const profiles = await pool.query('select passphrase from innbound.guest_profiles');
  assert.deepEqual(profiles.rows, []);
});

test('Parquet files have it with its type', async () => {
  const { parquet } = await load<typeof import('../../src/core/deliver/lake/parquet.ts')>(
    'src/core/deliver/lake/parquet.ts',
  );
  const one: Delivery = delivery({ ...(await pathOfRecord()), deposit: '10.5' } as never);
  const bytes = parquet.file([parquet.encode(one).row]) as Uint8Array<ArrayBuffer>;
  const [row] = await parquet.read(bytes);
  assert.deepEqual(newIn(row ?? {}), { ...expected, deposit: 10_500_000_000n, tax: 950_000_000n });
  const { schema } = parquetMetadata(bytes.buffer);
  const typeOf = (name: string) => schema.find((element) => element.name === name)?.converted_type;
  assert.deepEqual([typeOf('deposit'), typeOf('passphrase')], ['DECIMAL', 'UTF8']);
});

test('viewers see it masked if it is personal', async () => {
  const { redacted } = await load<typeof import('../../src/operator/api/redact.ts')>('src/operator/api/redact.ts');
  assert.deepEqual(redacted({ passphrase: 'x', deposit: 1 }), { passphrase: '•••', deposit: 1 });
});

test('a destination can leave it out, and a sample of the same name suggests it', async () => {
  const { commonShape } = await load<typeof import('../../src/core/documents/destination.ts')>(
    'src/core/documents/destination.ts',
  );
  assert.deepEqual(commonShape.drop.parse(['deposit', 'guests[].passphrase']), ['deposit', 'guests[].passphrase']);
  const { guestLexicon } = await load<typeof import('../../packages/suggest/src/lexicon.ts')>(
    'packages/suggest/src/lexicon.ts',
  );
  assert.ok(Object.hasOwn(guestLexicon, 'passphrase'));
});

test('the API, the published schemas, the documentation and the console’s form know it', async () => {
  const { openApi } = await load<typeof import('../../scripts/openapi-doc.ts')>('scripts/openapi-doc.ts');
  const texts = {
    api: JSON.stringify(openApi()),
    schema: textOf('schemas/connector.json'),
    canonical: textOf('docs/reference/canonical.md'),
    mapping: textOf('docs/reference/mapping.md'),
  };
  for (const [where, text] of Object.entries(texts))
    for (const name of Object.keys(expected)) assert.ok(text.includes(name), `${where}: ${name}`);
});
