import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Json } from '../../src/terms.ts';
import { type ApiNode, apiNode, hotelConnector, reservation } from './node.ts';

describe('dead letters by reason', () => {
  let node: ApiNode;
  let operator: string;
  const departure = (id: string, to: Json, more: { [key: string]: Json } = {}) =>
    reservation(id, { leaves: { on: to }, check_out: undefined as never, ...more });
  before(async () => {
    node = await apiNode('', { 'connectors/hotel.yaml': hotelConnector('map: { check_out: leaves.on }\n') });
    operator = await node.token('operator');
    for (let poll = 0; poll < 12; poll++) await node.take('grand', departure('R1', '2026-11-01'));
    await node.take('grand', departure('R2', '2026-11-01'), departure('R3', '2026-12-04', { status: 'on the moon' }));
    await node.take('other', departure('R4', null));
  });
  after(() => node.stop());
  const get = async (at: string) => (await node.call('GET', at, operator)).body;
  const letter = async (id: string) => get(`/dead-letters/${(await get(`/dead-letters?record_id=${id}`)).items[0].id}`);

  test('one row for a reason, with its records and how often they failed', async () => {
    const { items } = await get('/dead-letter-reasons');
    const [first] = items;
    assert.match(first.message, /check_out must not be before check_in/);
    assert.deepEqual([first.records, first.times, first.ids, first.brands], [2, 13, ['R1', 'R2'], 1]);
    assert.equal(items.length, 3);
    const { total } = await get(`/dead-letters?message=${encodeURIComponent(first.message)}`);
    assert.equal(total, 2, 'the reason leads to its letters');
  });

  test('they are found by a part of their id, message or code', async () => {
    const found = async (q: string) =>
      (await get(`/dead-letters?q=${encodeURIComponent(q)}`)).items.map((one: { record_id: string }) => one.record_id);
    assert.deepEqual(await found('r2'), ['R2']);
    assert.deepEqual(await found('before check_in'), ['R1', 'R2']);
    assert.deepEqual(await found('unknown_status'), ['R3']);
    assert.deepEqual(await found('100%'), []);
    const other = await node.token('viewer', ['other']);
    const { items } = (await node.call('GET', '/dead-letter-reasons', other)).body;
    assert.deepEqual(
      items.map(({ ids }: { ids: string[] }) => ids),
      [['R4']],
    );
  });

  test('data that is wrong at the partner is not a fault of the mapping; its places in the payload are named', async () => {
    const wrong = await letter('R1');
    assert.equal(wrong.at_partner, true);
    assert.match(wrong.advice, /mapping is right.*Ask the partner/);
    assert.doesNotMatch(wrong.advice, /correct the mapping|correct it, apply/);
    assert.deepEqual(wrong.marks.toSorted(), ['check_in', 'leaves.on']);
  });

  test('a value that the mapping does not find may be a fault of the mapping', async () => {
    const missing = await letter('R4');
    assert.equal(missing.at_partner, false);
    assert.match(missing.advice, /mapping finds nothing for check_out/);
  });

  test('an unknown status has its own remedy', async () => {
    assert.match((await letter('R3')).advice, /values\.status/);
  });
});
