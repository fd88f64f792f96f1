import assert from 'node:assert/strict';
import { test } from 'node:test';
import { activate, withChanges } from '../../src/core/brand/active.ts';
import type { StoredDocument } from '../../src/core/documents/kinds.ts';
import { transaction } from '../../src/core/store/db/pool.ts';
import {
  applyDocuments,
  documentsChangedSince,
  documentsPosition,
  removeDocuments,
} from '../../src/core/store/documents/documents.ts';
import { openActiveDocuments } from '../../src/runtime/runtime.ts';
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
const put = (...documents: StoredDocument[]) => ({ put: documents, removed: [] });

test('brands of one connector in one time zone share its compiled mapping', () => {
  const { integrations } = activate([
    connector(),
    crm(['reservation']),
    brand('a'),
    brand('b'),
    brand('c', { timezone: 'Asia/Tokyo' }),
  ]);
  const shaper = (name: string) => integrations.get(name)?.shapers.pull ?? assert.fail(name);
  assert.equal(shaper('a'), shaper('b'));
  assert.notEqual(shaper('a'), shaper('c'));
});

test('a change of one document keeps what it does not concern', () => {
  const before = activate([connector(), crm(['reservation']), brand('a'), brand('b')]);
  const [a, b] = [before.integrations.get('a'), before.integrations.get('b')];
  const edited = withChanges(before, put(brand('b', { timezone: 'Asia/Tokyo' }, 2)));
  assert.equal(edited.integrations.get('a'), a);
  assert.notEqual(edited.integrations.get('b'), b);
  assert.equal(edited.integrations.get('b')?.body.timezone, 'Asia/Tokyo');
  assert.equal(edited.integrations.get('b')?.integrationVersion, 2);
  assert.equal(before.integrations.get('b'), b, 'the earlier set is unchanged');

  const paused = withChanges(edited, put(crm(['reservation'], 2)));
  assert.equal(paused.destinations.get('crm')?.version, 2);
  assert.equal(paused.integrations.get('a'), a, 'a destination with the same types affects no brand');
  const fed = withChanges(paused, put(crm(['guest'], 3)));
  assert.deepEqual(fed.integrations.get('a')?.destinations.guest, ['crm'], 'a changed destination affects its brands');
  assert.equal(fed.integrations.get('a')?.shapers, a?.shapers, 'which are not compiled again');
  const mapped = withChanges(fed, put(connector(2)));
  assert.equal(mapped.integrations.get('a')?.connectorVersion, 2, 'a changed connector affects its brands');
  assert.notEqual(mapped.integrations.get('a')?.shapers, a?.shapers);
  assert.equal(withChanges(mapped, put(connector(2), crm([], 3), brand('a'))), mapped, 'nothing changed');
  const fewer = withChanges(mapped, { put: [brand('aa')], removed: [{ kind: 'integration', name: 'b' }] });
  assert.deepEqual([...fewer.integrations.keys()], ['a', 'aa']);
  assert.deepEqual([...withChanges(fewer, put(brand('0'))).integrations.keys()], ['0', 'a', 'aa'], 'in order');
});

test('a brand whose connector is removed stops, and goes on when it returns', () => {
  const before = activate([connector(), brand('a')]);
  const without = withChanges(before, { put: [], removed: [{ kind: 'connector', name: 'pms' }] });
  assert.equal(without.integrations.size, 0);
  assert.deepEqual(
    without.broken.map((one) => one.document),
    ['integration a'],
  );
  const again = withChanges(without, put(connector(2)));
  assert.equal(again.integrations.get('a')?.connector.version, 2);
  assert.deepEqual(again.broken, []);
});

test('a document that this version cannot use stays reported until it changes', () => {
  const before = activate([connector(), brand('a'), brand('b', { timezone: 5 })]);
  assert.deepEqual(
    before.broken.map((one) => one.document),
    ['integration b'],
  );
  const later = withChanges(before, put(brand('a', {}, 2)));
  assert.deepEqual(later.broken, before.broken);
  assert.deepEqual(withChanges(later, put(brand('b', {}, 2))).broken, []);
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
  assert.ok(active.integrations.get('b7')?.shapers);
});

test('only documents that changed are read from the database', async () => {
  const pool = await testStore();
  try {
    const apply = (...documents: StoredDocument[]) =>
      transaction(pool, (tx) =>
        applyDocuments(
          tx,
          documents.map((one) => ({ ...one, source: '', olderHashes: [], textHashes: [] })),
          'test',
          async (one) => one,
        ),
      );
    await apply(connector(), crm(['reservation']), brand('a'), brand('b'), brand('c'));
    let epoch = 1;
    const node = await openActiveDocuments(pool, () => epoch, undefined);
    const before = node.active();
    const position = await documentsPosition(pool);
    assert.equal(await node.refresh(), false);
    assert.equal(node.active(), before);

    await apply(brand('b', { timezone: 'Asia/Tokyo' }, 2));
    await transaction(pool, (tx) => removeDocuments(tx, [brand('c')]));
    const changes = await documentsChangedSince(pool, position);
    assert.deepEqual(
      [changes.put, changes.removed].map((some) => some.map(({ kind, name }) => `${kind} ${name}`)),
      [['integration b'], ['integration c']],
    );
    const both = await Promise.all([node.refresh(), node.refresh()]);
    assert.deepEqual(both, [true, false], 'one at a time');
    assert.equal(node.active().integrations.get('b')?.body.timezone, 'Asia/Tokyo');
    assert.equal(node.active().integrations.get('a'), before.integrations.get('a'));
    assert.deepEqual([...node.active().integrations.keys()], ['a', 'b']);

    await apply(brand('c', {}, 2));
    assert.equal(await node.refresh(), true);
    assert.equal(node.active().integrations.get('c')?.integrationVersion, 2, 'it returns with its next version');

    // As after the restore of an older backup.
    await pool.query(`update documents set in_force = false where name = 'b'`);
    await pool.query('update documents set position = position - 100');
    assert.equal(await node.refresh(), true);
    assert.deepEqual([...node.active().integrations.keys()], ['a', 'c']);
    const [known] = [node.active()];
    epoch = 2;
    assert.equal(await node.refresh(), true);
    assert.notEqual(node.active(), known, 'everything is read again');
  } finally {
    await pool.end();
  }
});
