import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ApiNode, apiNode } from '../api/node.ts';
import { bookings, type ScriptedPartner, startPartner } from '../intake/pull/support/partner.ts';

const [booking] = bookings(1, '2026-03-01');
let held: object | undefined = booking;
let partner: ScriptedPartner;
let node: ApiNode;
let operator: string;
before(async () => {
  partner = await startPartner(() => (held ? { json: held } : { status: 404, json: {} }));
  node = await apiNode('', {
    'connectors/hotel.yaml': `connector: hotel
pull:
  request: { path: /list, query: { from: "{window.from}", to: "{window.to}" } }
  single: { path: "/one/{id}" }
`,
    'integrations/grand.yaml': `integration: grand
connector: hotel
brand_id: LIS01
timezone: Europe/Lisbon
pull: { base_url: "${partner.url}", auth: { type: none } }
push: { enabled: true }
deliver: [lake]
`,
  });
  operator = await node.token('operator', ['grand']);
});
after(async () => {
  await node.stop();
  await partner.close();
});

const refetch = (id: string) => node.call('POST', '/integrations/grand/refetch', operator, { id });

test('one reservation is requested by its id, and the answer is processed like any other', async () => {
  const id = booking?.id ?? '';
  const first = await refetch(id);
  assert.deepEqual(
    [first.status, first.body.result, first.body.outcome, first.body.version],
    [200, 'applied', 'created', 1],
  );
  assert.equal(partner.requests.at(-1)?.pathQuery, `/one/${id}`);
  assert.equal((await node.call('GET', `/runs/${first.body.run_id}`, operator)).body.changed, 1);
  assert.equal((await refetch(id)).body.outcome, 'unchanged');
  held = { ...booking, status: 'cancelled' };
  assert.equal((await refetch(id)).body.outcome, 'cancelled');
  const other = await refetch('R-other');
  assert.deepEqual([other.status, other.body.code], [409, 'pull.wrong_shape'], 'the answer is another reservation');
  held = undefined;
  assert.deepEqual((await refetch(id)).body, { result: 'absent', outcome: null, version: null, run_id: null });
});

test('an id of dots never changes the path of the request', async () => {
  const before = partner.requests.length;
  for (const id of ['.', '..']) {
    const refused = await refetch(id);
    assert.deepEqual([refused.status, refused.body.code], [409, 'pull.bad_request']);
  }
  assert.equal(partner.requests.length, before);
});
