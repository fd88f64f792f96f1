import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Asked, Reply } from '../support/partner.ts';
import { sync } from '../support/runtime.ts';
import { setUpPulls } from '../support/set-up.ts';

/** One row per room; rows of a group name the number of their first row. The list filters rows by their own arrival. */
const { runtime, partnerOf } = setUpPulls();

interface Room {
  readonly no: string;
  readonly master: string;
  readonly from: string;
  readonly to: string;
  readonly price: string;
  readonly state: string;
}

const week = { from: '2026-03-01', to: '2026-03-07' };
const key = { first: ['master', 'no'] };
const mapped = {
  shape: { flat: { key, rooms: { key: 'no' } } },
  map: {
    id: key,
    check_in: 'from',
    check_out: 'to',
    status: 'state',
    total_amount: { sum: '$rows.*.price' },
    guests: false,
    rooms: { fields: { room_type: 'no', start_date: 'from', end_date: 'to' } },
    charges: false,
  },
} as const;

const row = (no: string, master: string, from: string): Room => ({
  no,
  master,
  from,
  to: '2026-03-20',
  price: '100.00',
  state: 'confirmed',
});

async function brand(integration: string, shape: object = {}, single = false) {
  const state = { rows: [row('1', '', '2026-03-02'), row('2', '1', '2026-03-02'), row('3', '', '2026-03-03')] };
  const partner = await partnerOf(({ path, query }: Asked): Reply => {
    const id = path.split('/')[3];
    if (id !== undefined) return { json: state.rows.filter(({ no, master }) => no === id || master === id) };
    const [from, to] = [query.get('dateFrom') ?? '', query.get('dateTo') ?? ''];
    return { json: state.rows.filter((one) => one.from >= from && one.from <= to) };
  });
  const pull = { pagination: { type: 'none' }, ...(single && { single: { path: '/api/reservations/{id}' } }) };
  const connector = { ...mapped, shape: { flat: { ...mapped.shape.flat, ...shape } }, pull };
  const ports = runtime.ports({ integration, baseUrl: partner.url, connector });
  const stored = async () =>
    (await runtime.stored(integration)).map(({ id, version, data }) => ({
      id,
      version,
      total: data.total_amount,
      rooms: (data.rooms as { start_date: string }[]).map((room) => room.start_date),
    }));
  const pulled = () => sync(ports, integration, week);
  assert.equal((await pulled()).state, 'complete');
  assert.deepEqual(await stored(), [
    { id: '1', version: 1, total: 200, rooms: ['2026-03-02', '2026-03-02'] },
    { id: '3', version: 1, total: 100, rooms: ['2026-03-03'] },
  ]);
  return { state, pulled, stored };
}

test('a group cut by the range is held back, and the run says so', async () => {
  const { state, pulled, stored } = await brand('cut-held');
  state.rows = [row('1', '', '2026-03-02'), row('2', '1', '2026-03-09'), row('3', '', '2026-03-04')];
  const result = await pulled();
  assert.deepEqual([result.state, result.error?.code], ['incomplete', 'pull.group_cut']);
  assert.deepEqual(
    (await stored()).map(({ id, version, rooms }) => [id, version, rooms.length]),
    [
      ['1', 1, 2],
      ['3', 2, 1],
    ],
  );
  state.rows = state.rows.map((one) => ({ ...one, state: 'cancelled' }));
  await pulled();
  const [first] = await runtime.stored('cut-held');
  assert.equal(first?.data.status, 'cancelled', 'a cancellation is accepted');
});

test('a group cut by the range is completed by the single request', async () => {
  const { state, pulled, stored } = await brand('cut-completed', {}, true);
  state.rows = [row('1', '', '2026-03-02'), row('2', '1', '2026-03-09'), row('3', '', '2026-03-03')];
  const result = await pulled();
  assert.equal(result.state, 'complete', JSON.stringify(result));
  assert.deepEqual((await stored())[0], { id: '1', version: 2, total: 200, rooms: ['2026-03-02', '2026-03-09'] });
});

test('if the list always shows all rows, a missing room is removed', async () => {
  const { state, pulled, stored } = await brand('cut-whole', { whole: true });
  state.rows = [row('1', '', '2026-03-02'), row('3', '', '2026-03-03')];
  assert.equal((await pulled()).state, 'complete');
  assert.deepEqual((await stored())[0], { id: '1', version: 2, total: 100, rooms: ['2026-03-02'] });
});
