import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { countQuality } from '../../../src/operator/store/measures/quality.ts';
import { type ApiNode, apiNode, reservation } from '../../api/node.ts';

let node: ApiNode;
let viewer: string;
before(async () => {
  node = await apiNode();
  viewer = await node.token('viewer', ['grand']);
});
after(() => node.stop());

test('what a brand sends is counted by day: usable addresses, aliases, invalid values and missing fields', async () => {
  const guests = (...all: object[]) => ({ guests: all as never });
  await node.take(
    'grand',
    reservation('Q1', guests({ last_name: 'A', email: 'a@mail.example', phone: '+351912345678' })),
    reservation('Q2', guests({ last_name: 'B', email: 'x.1@guest.booking.com' }, { email: 'not an address' })),
    reservation('Q3', { guests: [], total_amount: null, currency: null }),
  );
  // Unchanged, because the stored amount stays.
  const known = { last_name: 'A', email: 'a@mail.example', phone: '+351912345678' };
  await node.take('grand', reservation('Q1', { ...guests(known), total_amount: '1.234,56' }));
  await node.take('other', reservation('X1'));
  await countQuality(node.runtime.pool);
  const { body } = await node.call('GET', '/integrations/grand/quality', viewer);
  const [today, ...more] = body.items;
  assert.deepEqual(more, []);
  const { day: _, counted_at: __, ...counts } = today;
  assert.deepEqual(counts, {
    reservations: 3,
    guests: 3,
    email: 1,
    email_proxy: 1,
    email_invalid: 1,
    phone: 1,
    phone_invalid: 0,
    last_name: 2,
    nationality: 0,
    total_amount: 2,
    currency: 2,
    channel: 0,
    rooms: 0,
    lead_guest: 2,
    unreadable: 2,
    events: 0,
    late_events: 0,
  });
  assert.equal((await node.call('GET', '/integrations/other/quality', viewer)).status, 404);
});

test('marks name what operators changed; a limited caller sees those of its brands', async () => {
  const operator = await node.token('operator');
  await node.call('POST', '/integrations/grand/pause', operator, {});
  await node.call('POST', '/integrations/other/pause', operator, {});
  const marks = async (token: string) =>
    (await node.call('GET', '/overview/marks', token)).body.items.map(
      ({ action, integration }: { action: string; integration: string }) => `${action} ${integration}`,
    );
  // The start took up the documents.
  const all = ['integrations.pause other', 'integrations.pause grand', 'documents.apply null'];
  assert.deepEqual(await marks(operator), all);
  assert.deepEqual(await marks(await node.token('operator', ['other'])), ['integrations.pause other']);
});
