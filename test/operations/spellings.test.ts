import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pullPorts } from '../../src/composition/pull.ts';
import { syncOnce } from '../../src/core/intake/pull/run/sync-once.ts';
import { addSpelling } from '../../src/operator/operations/spellings.ts';
import type { IntegrationName } from '../../src/terms.ts';
import { type ApiNode, apiNode } from '../api/node.ts';
import { bookings, type ScriptedPartner, startPartner } from '../intake/pull/support/partner.ts';

const [one, two, three] = bookings(3, '2031-03-01');
const channels = ['BDC', 'Booking.com', 'Walk In'];
let partner: ScriptedPartner;
let node: ApiNode;
const brand = (name: string, connector: string) => `integration: ${name}
connector: ${connector}
brand_id: ${name}
timezone: Europe/Lisbon
pull: { base_url: "${partner.url}/${name}", auth: { type: none } }
`;
const request = 'pull: { request: { path: /list, query: { from: "{window.from}", to: "{window.to}" } } }';
before(async () => {
  partner = await startPartner(() => ({
    json: [one, two, three].map((booking, n) => ({ ...booking, channel: channels[n], rooms: [{ board: 'HP' }] })),
  }));
  node = await apiNode('spellings:\n  # for all brands\n  channel: { booking: [BDC] }\n  board: {}\n', {
    'connectors/hotel.yaml': `connector: hotel\n${request}\n`,
    'connectors/own.yaml': `connector: own\n${request}\nvalues: { channel: { agency: [BDC], desk: [Walk In] } }\n`,
    'integrations/grand.yaml': brand('grand', 'hotel'),
    'integrations/other.yaml': brand('other', 'own'),
  });
});
after(async () => {
  await node?.stop();
  await partner.close();
});

async function poll(name: string): Promise<{ changed: number; unchanged: number; channels: unknown[] }> {
  const range = { from: '2031-03-01', to: '2031-03-02', requestedBy: 'test' };
  const run = { integration: name as IntegrationName, kind: 'backfill', ...range } as const;
  const { state, counters } = await syncOnce(pullPorts(node.runtime), run);
  assert.equal(state, 'complete');
  const { rows } = await node.runtime.pool.query(
    `select data ->> 'channel' as channel from records where integration = $1 and type = 'reservation' order by id`,
    [name],
  );
  const { changed, unchanged } = counters;
  return { changed, unchanged, channels: rows.map(({ channel }) => channel) };
}

test('a connector’s own spellings come before those of the workspace', async () => {
  assert.deepEqual((await poll('grand')).channels, ['booking', 'Booking.com', 'Walk In']);
  assert.deepEqual((await poll('other')).channels, ['agency', 'Booking.com', 'desk']);
});

test('unknown spellings of all brands are listed with their counts, and one call adds one', async () => {
  const viewer = await node.token('viewer');
  const unknown = async () => {
    const { body } = await node.call('GET', '/spellings/unknown', viewer);
    return body.items.map((item: { [key: string]: unknown }) => [item.field, item.value, item.times, item.brands]);
  };
  assert.deepEqual(await unknown(), [
    ['board', 'HP', 6, ['grand', 'other']],
    ['channel', 'Booking.com', 2, ['grand', 'other']],
    ['channel', 'Walk In', 1, ['grand']],
  ]);
  const spelling = { field: 'channel', value: 'Booking.com', as: 'booking' };
  assert.equal((await node.call('POST', '/spellings', viewer, spelling)).status, 403);
  const added = await node.call('POST', '/spellings', await node.token('admin'), spelling);
  assert.deepEqual([added.status, added.body.file], [200, 'innbound.yaml']);
  const text = await readFile(path.join(node.runtime.workspaceDir, 'innbound.yaml'), 'utf8');
  assert.equal(text, 'spellings:\n  # for all brands\n  channel: { booking: [ BDC, Booking.com ] }\n  board: {}\n');
  assert.deepEqual(
    (await unknown()).map(([, value]: unknown[]) => value),
    ['HP', 'Walk In'],
  );
});

test('rows that were read under other spellings are read again, and then known again', async () => {
  assert.deepEqual(await poll('grand'), { changed: 1, unchanged: 2, channels: ['booking', 'booking', 'Walk In'] });
  assert.deepEqual((await poll('other')).channels, ['agency', 'booking', 'desk']);
  assert.deepEqual(await poll('grand'), { changed: 0, unchanged: 3, channels: ['booking', 'booking', 'Walk In'] });
});

test('the first spelling of a value, and of a field, is written too', async () => {
  const { runtime } = node;
  await addSpelling(runtime, { field: 'board', value: 'HP', as: 'half_board' }, 'test');
  await addSpelling(runtime, { field: 'source', value: 'GDS', as: 'gds' }, 'test');
  assert.deepEqual(runtime.active().settings.spellings, {
    channel: { booking: ['BDC', 'Booking.com'] },
    board: { half_board: ['HP'] },
    source: { gds: ['GDS'] },
  });
});
