import assert from 'node:assert/strict';
import { test } from 'node:test';
import { activate } from '../../src/runtime/active.ts';
import { transaction } from '../../src/store/db/pool.ts';
import { applyDocuments, changedDocuments, type StoredDocument } from '../../src/store/documents/documents.ts';
import type { Json } from '../../src/terms.ts';
import { testStore } from '../support/store.ts';

const document = (kind: StoredDocument['kind'], name: string, body: Json, version = 1): StoredDocument => ({
  kind,
  name,
  version,
  body: { [kind]: name, ...(body as object) },
  hash: `${name} ${version}`,
});

const brand = (name: string, more: object = {}, version = 1) =>
  document(
    'integration',
    name,
    { connector: 'pms', brand_id: name, timezone: 'Europe/Lisbon', deliver: ['crm'], ...more },
    version,
  );
const connector = (version = 1) => document('connector', 'pms', { map: { id: 'number' } }, version);
const crm = (receives: string[], version = 1) =>
  document('destination', 'crm', { type: 'http', url: 'https://crm.example/', receives }, version);
const bare = ({ kind, name, version }: StoredDocument) => ({ kind, name, version });

test('brands of one connector in one time zone share its compiled mapping', () => {
  const { integrations } = activate([
    connector(),
    crm(['reservation']),
    brand('a'),
    brand('b'),
    brand('c', { timezone: 'Asia/Tokyo' }),
  ]);
  const shaper = (name: string) => integrations.get(name)?.path.shaper ?? assert.fail(name);
  assert.equal(shaper('a'), shaper('b'));
  assert.notEqual(shaper('a'), shaper('c'));
});

test('a change of one document keeps what it does not concern, and needs no other body', () => {
  const before = activate([connector(), crm(['reservation']), brand('a'), brand('b')]);
  const [a, b] = [before.integrations.get('a'), before.integrations.get('b')];
  const edited = activate(
    [bare(connector()), bare(crm([])), bare(brand('a')), brand('b', { timezone: 'Asia/Tokyo' }, 2)],
    before,
  );
  assert.equal(edited.integrations.get('a'), a);
  assert.notEqual(edited.integrations.get('b'), b);
  assert.equal(edited.integrations.get('b')?.body.timezone, 'Asia/Tokyo');
  assert.equal(edited.integrations.get('b')?.target.integrationVersion, 2);

  const fed = activate([bare(connector()), crm(['guest'], 2), bare(brand('a')), bare(brand('b', {}, 2))], edited);
  assert.deepEqual(fed.integrations.get('a')?.target.destinations.guest, ['crm'], 'a destination concerns its brands');
  const mapped = activate([connector(2), bare(crm([], 2)), bare(brand('a')), bare(brand('b', {}, 2))], fed);
  assert.equal(mapped.integrations.get('a')?.target.connectorVersion, 2, 'a connector concerns its brands');
  assert.equal(activate([connector(2), crm([], 2), brand('a'), brand('b', {}, 2)], mapped), mapped, 'nothing changed');
  const fewer = activate([bare(connector(2)), bare(crm([], 2)), bare(brand('a'))], mapped);
  assert.deepEqual([...fewer.integrations.keys()], ['a']);
});

test('a document that this version cannot use stays reported until it changes', () => {
  const broken = brand('b', { timezone: 5 });
  const before = activate([connector(), brand('a'), broken]);
  assert.deepEqual(
    before.broken.map((one) => one.document),
    ['integration b'],
  );
  const later = activate([bare(connector()), brand('a', {}, 2), bare(broken)], before);
  assert.deepEqual(later.broken, before.broken);
  assert.deepEqual(activate([bare(connector()), bare(brand('a', {}, 2)), brand('b', {}, 2)], later).broken, []);
});

test('of many brands, one that does not compile is found and reported when it is used', () => {
  const wrong = brand('wrong', { transforms: [{ when: 'no_such_field == 1', set: { source: '"x"' } }] });
  const many = Array.from({ length: 1_001 }, (_, i) => brand(`b${i}`));
  assert.deepEqual(
    activate([connector(), wrong, brand('a')]).broken.map((one) => one.document),
    ['integration wrong'],
    'few are compiled at once',
  );
  const active = activate([connector(), ...many, wrong]);
  assert.equal(active.broken.length, 0);
  assert.equal(active.integrations.has('wrong'), true);
  assert.equal(active.integrations.get('wrong'), undefined);
  assert.deepEqual(
    active.broken.map((one) => one.document),
    ['integration wrong'],
  );
  assert.ok(active.integrations.get('b7')?.path);
});

test('only documents that differ are read from the database', async () => {
  const pool = await testStore();
  try {
    const apply = (...documents: StoredDocument[]) =>
      transaction(pool, (tx) =>
        applyDocuments(
          tx,
          documents.map((one) => ({ ...one, source: '', olderHashes: [] })),
          'test',
          async (one) => one,
        ),
      );
    await apply(connector(), crm(['reservation']), brand('a'), brand('b'), brand('c'));
    const before = activate(await changedDocuments(pool, new Map()));
    assert.deepEqual([...before.integrations.keys()], ['a', 'b', 'c']);
    await apply(brand('b', { timezone: 'Asia/Tokyo' }, 2));
    const changed = await changedDocuments(pool, before.versions);
    assert.deepEqual(
      changed.filter((one) => 'body' in one).map(({ name }) => name),
      ['b'],
    );
    const after = activate(changed, before);
    assert.equal(after.integrations.get('b')?.body.timezone, 'Asia/Tokyo');
    assert.equal(after.integrations.get('a'), before.integrations.get('a'));
  } finally {
    await pool.end();
  }
});
