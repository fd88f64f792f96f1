import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ApiNode, apiNode, reservation } from './node.ts';

/** Search by what a caller says. The brands of the test are in Portugal. */
let node: ApiNode;
let operator: string;
before(async () => {
  node = await apiNode('', {
    'connectors/hotel.yaml': `connector: hotel
pull:
  request: { method: GET, path: /api/reservations, query: { dateFrom: "{window.from}", dateTo: "{window.to}" } }
  pagination: { type: none }
shape: { root_path: reservations }
map: { extra: { booking_site_number: ref, room_number: room } }
`,
  });
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
  await node.take(
    'other',
    reservation('X1', { ...stay('2032-01-01'), ref: 'BDC-4471', room: 412 }),
    reservation('X2', { ...stay('2032-02-02'), ref: 'BDC-9', room: '412' }),
  );
});
after(() => node.stop());

const stay = (check_in: string) => ({ check_in, check_out: '2032-03-01' });
const search = async (q: string): Promise<string[]> => {
  const { body } = await node.call('GET', `/reservations?q=${encodeURIComponent(q)}`, operator);
  return body.items.map(({ id }: { id: string }) => id);
};

test('names are found with and without accents, in any case', async () => {
  for (const q of ['Kovac', 'kovač', 'KOVAČ', 'marko kovac', 'Kovac, Marko'])
    assert.deepEqual(await search(q), ['R1'], q);
  for (const q of ['zolc', 'Żółć', 'lukasz zolc']) assert.deepEqual(await search(q), ['R4'], q);
  assert.deepEqual(await search('ana kovac'), []);
});

test('an initial matches the first name', async () => {
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
  for (const q of ['silva 2031-09-01', 'sil 2031-09-01', 'R. Silva 2031-09-01'])
    assert.deepEqual(await search(q), ['R5'], q);
  assert.deepEqual(await search('ana silva 2031-09-01'), []);
});

test('an arrival date alone finds the arrivals of that day', async () => {
  assert.deepEqual(await search('2031-09-01'), ['R5']);
  assert.deepEqual((await search('2031-05-04')).sort(), ['R1', 'R2', 'R3', 'R4']);
});

test('a booking site’s number and a room are found among the further fields', async () => {
  for (const q of ['BDC-4471', 'bdc-4471', 'booking no. BDC-4471']) assert.deepEqual(await search(q), ['X1'], q);
  assert.deepEqual((await search('412')).sort(), ['X1', 'X2']);
  assert.deepEqual((await search('room 412')).sort(), ['X1', 'X2']);
  assert.deepEqual(await search('room 412 2032-02-02'), ['X2']);
  await node.take('other', reservation('X2', { ...stay('2032-02-02'), ref: 'BDC-9', room: '414' }));
  assert.deepEqual(await search('412'), ['X1']);
});
