import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ApiNode, apiNode, asked, countPage, reservation } from '../api/node.ts';

let node: ApiNode;
before(async () => {
  node = await apiNode();
});
after(() => node.stop());

test('an erasure also reaches the earlier versions that the figures of a hotel keep, and the figures stay', async () => {
  const today = Temporal.Now.plainDateISO('Europe/Lisbon');
  const day = (n: number) => today.add({ days: n }).toString();
  const stay = { check_in: day(10), check_out: day(12), booking_date: day(-20) };
  await asked(node, 'grand', day(-30), day(100));
  // The partner wrote the guest's name where a segment belongs.
  await node.take('grand', reservation('E1', { ...stay, segment: 'Party of Ana Prado' }));
  await node.take('grand', reservation('E1', { ...stay, segment: 'leisure', check_out: day(13) }));
  const sold = async () => {
    await countPage(node, 'grand');
    const { body } = await node.call('GET', '/integrations/grand/hotel', await node.token('viewer'));
    return (body.report.nights as { sold: number }[]).slice(10, 14).map((night) => night.sold);
  };
  const kept = async () =>
    JSON.stringify((await node.runtime.pool.query('select version, data from stays order by version')).rows);
  assert.deepEqual(await sold(), [1, 1, 1, 0]);
  assert.match(await kept(), /Ana Prado/);
  const admin = await node.token('admin');
  const { status } = await node.call('POST', '/privacy/erasures', admin, { email: 'ana.e1@mail.example' });
  assert.ok(status >= 200 && status < 300, String(status));
  assert.doesNotMatch(await kept(), /Ana Prado/);
  assert.deepEqual(await sold(), [1, 1, 1, 0]);
  assert.match(await kept(), /"version":1/);
  assert.doesNotMatch(await kept(), /Ana Prado/);
});
