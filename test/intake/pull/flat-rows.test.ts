import assert from 'node:assert/strict';
import { test } from 'node:test';
import { executeRun } from '../../../src/core/intake/pull/run/execution.ts';
import type { IntegrationName } from '../../../src/terms.ts';
import { listPage, pagination, replyOf } from './support/list.ts';
import type { Asked, Reply } from './support/partner.ts';
import { sync } from './support/runtime.ts';
import { setUpPulls } from './support/set-up.ts';

const { runtime, partnerOf: opened } = setUpPulls();

/** One row per guest per stay; a reservation's rows are scattered over pages, and its two stays over two windows. */
const reservations = Array.from({ length: 12 }, (_, i) => `F${100 + i}`);
const rows = ['2026-03-02', '2026-03-10'].flatMap((from) =>
  ['g1', 'g2', 'g3'].flatMap((guest) =>
    reservations.map((id) => ({
      id: `${id}-${guest}-${from}`,
      res_no: id,
      arrival: '2026-03-02',
      departure: '2026-03-12',
      state: 'confirmed',
      guest_no: guest,
      name: `${guest} of ${id}`,
      room_from: from,
      room: `room ${from}`,
    })),
  ),
);
const connector = {
  shape: {
    root_path: 'reservations',
    flat: { key: 'res_no', guests: { key: 'guest_no' }, rooms: { key: 'room_from' } },
  },
  map: {
    id: 'res_no',
    check_in: 'arrival',
    check_out: 'departure',
    status: 'state',
    guests: { fields: { guest_id: 'guest_no', last_name: 'name' } },
    rooms: { fields: { room_type: 'room', start_date: 'room_from' } },
    charges: false,
  },
};
const range = { from: '2026-03-01', to: '2026-03-14' };
const inWindow = ({ query }: Asked) =>
  rows.filter(({ room_from: on }) => on >= (query.get('dateFrom') ?? '') && on <= (query.get('dateTo') ?? ''));

async function partnerOf(style: 'offset' | 'token', change: (reply: Reply, asked: Asked) => Reply = (reply) => reply) {
  return opened((asked) => {
    const list = inWindow(asked);
    return change(replyOf(listPage(style, list, asked, { total: list.length })), asked);
  });
}

async function assertWhole(integration: string) {
  const stored = await runtime.stored(integration);
  assert.deepEqual(
    stored.map(({ id }) => id),
    reservations,
  );
  for (const { id, data, version } of stored) {
    assert.equal(version, 1);
    assert.deepEqual((data.guests as { last_name: string }[]).map((guest) => guest.last_name).sort(), [
      `g1 of ${id}`,
      `g2 of ${id}`,
      `g3 of ${id}`,
    ]);
    assert.deepEqual((data.rooms as { start_date: string }[]).map((room) => room.start_date).sort(), [
      '2026-03-02',
      '2026-03-10',
    ]);
  }
  const { rows: left } = await runtime.pool.query('select from staged_rows where integration = $1', [integration]);
  assert.equal(left.length, 0);
}

for (const style of ['offset', 'token'] as const) {
  test(`rows of a reservation spread over pages and windows are grouped (${style})`, async () => {
    const integration = `flat-${style}`;
    const partner = await partnerOf(style);
    const ports = runtime.ports({
      integration,
      baseUrl: partner.url,
      connector: { ...connector, pull: { pagination: pagination[style] } },
    });
    const result = await sync(ports, integration, range);
    assert.equal(result.state, 'complete', JSON.stringify(result));
    assert.deepEqual([result.counters.fetched, result.counters.changed], [12, 12]);
    await assertWhole(integration);
    const again = await sync(ports, integration, range);
    assert.deepEqual([again.counters.changed, again.counters.unchanged], [0, 12]);
  });
}

test('a run stopped among flat rows resumes; a run cut short groups nothing', async () => {
  const integration = 'flat-resumed';
  const stop = new AbortController();
  const partner = await partnerOf('token', (reply, { no }) => {
    if (no === 3) stop.abort();
    return reply;
  });
  const ports = runtime.ports({
    integration,
    baseUrl: partner.url,
    connector: { ...connector, pull: { pagination: pagination.token } },
  });
  const queued = await ports.runs.queue(
    { integration: integration as IntegrationName, kind: 'backfill', requestedBy: 'test', ...range },
    { node: 'a', leaseMs: 60_000 },
  );
  assert.ok(queued.kind === 'queued');
  assert.equal((await executeRun(ports, queued.run, { parkable: true, signal: stop.signal })).kind, 'stopped');
  assert.equal((await runtime.stored(integration)).length, 0);
  const next = (await ports.runs.claimDue(1, 'b', 60_000))[0];
  assert.ok(next);
  const outcome = await executeRun(ports, next, { parkable: true });
  assert.ok(outcome.kind === 'finished' && outcome.end.state === 'complete');
  assert.equal(outcome.counters.fetched, 12);
  await assertWhole(integration);

  const circular = await partnerOf('token', (reply) => {
    const { json } = reply as { json: { next_cursor?: string } };
    return { json: { ...json, ...(json.next_cursor && { next_cursor: 'again' }) } };
  });
  const broken = runtime.ports({
    integration: 'flat-broken',
    baseUrl: circular.url,
    connector: { ...connector, pull: { pagination: pagination.token } },
  });
  const result = await sync(broken, 'flat-broken', range);
  assert.deepEqual([result.state, result.error?.code], ['incomplete', 'pull.cursor_repeated']);
  assert.equal((await runtime.stored('flat-broken')).length, 0, 'half a reservation is not stored');
});
