import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Simulator, startSimulator } from '../../packages/partner-kit/src/simulate/index.ts';
import { addressFor } from '../../src/operator/operations/endpoints.ts';
import { subscribe, unsubscribe } from '../../src/operator/operations/subscribe.ts';
import { type ApiNode, apiNode } from '../api/node.ts';
import { until } from '../support/process.ts';

let partner: Simulator;
let node: ApiNode;
const connector = (name: string, body: string, verification = '') => `connector: ${name}
pull: { request: { path: /api/reservations, query: { dateFrom: "{window.from}", dateTo: "{window.to}" } } }
push:
${verification}  subscription: { path: /api/subscriptions, body: ${body}, root_path: subscriptions, url: endpointUrl }
`;
const brand = (name: string, of: string) => `integration: ${name}
connector: ${of}
brand_id: ${name.toUpperCase()}
timezone: Europe/Lisbon
pull: { base_url: "${partner.baseUrl}", auth: { type: bearer, token: letmein } }
push: { enabled: true }
`;
before(async () => {
  partner = await startSimulator({ seed: 5, reservations: 5, auth: { type: 'bearer', token: 'letmein' } });
  node = await apiNode('', {
    'connectors/signing.yaml': connector(
      'signing',
      '{ endpointUrl: "{url}", secret: "{secret}", property: "{brand_id}" }',
    ),
    'connectors/plain.yaml': connector(
      'plain',
      '{ endpointUrl: "{url}", secret: whsec_constant_constant_constant_1234, property: "{brand_id}" }',
      '  verification: { type: token, query: token }\n',
    ),
    'integrations/signs.yaml': brand('signs', 'signing'),
    'integrations/tells.yaml': brand('tells', 'plain'),
  });
});
after(async () => {
  await node?.stop();
  await partner.stop();
});

/** What the partner has. */
async function subscriptions(): Promise<{ id: string; endpointUrl: string }[]> {
  const answer = await fetch(`${partner.baseUrl}/api/subscriptions`, { headers: { authorization: 'Bearer letmein' } });
  return ((await answer.json()) as { subscriptions: { id: string; endpointUrl: string }[] }).subscriptions;
}

test('a subscription with the secret in its address is made once, renewed after a rotation, and removed', async () => {
  assert.deepEqual(await subscribe(node.runtime, 'tells'), { result: 'created', removed: 0 });
  assert.deepEqual(await subscribe(node.runtime, 'tells'), { result: 'exists', removed: 0 });
  const { url } = await addressFor(node.runtime, 'tells');
  const [first, ...none] = await subscriptions();
  assert.deepEqual([first?.endpointUrl.split('?token=')[0], none], [url, []]);
  const { secret } = await addressFor(node.runtime, 'tells', { rotate: true });
  assert.deepEqual(await subscribe(node.runtime, 'tells'), { result: 'created', removed: 1 });
  assert.deepEqual(
    (await subscriptions()).map(({ endpointUrl }) => endpointUrl),
    [`${url}?token=${secret}`],
  );
  assert.deepEqual(await unsubscribe(node.runtime, 'tells'), { result: 'none', removed: 1 });
  assert.deepEqual(await subscriptions(), []);
});

test('a subscription that gives the secret to the sender is renewed each time; those of others stay', async () => {
  await subscribe(node.runtime, 'tells');
  assert.deepEqual(await subscribe(node.runtime, 'signs'), { result: 'created', removed: 0 });
  assert.deepEqual(await subscribe(node.runtime, 'signs'), { result: 'created', removed: 1 });
  assert.equal((await subscriptions()).length, 2);
  await until('the simulated hotel sends to both', async () => partner.pushers.length === 2);
  assert.deepEqual(await unsubscribe(node.runtime, 'signs'), { result: 'none', removed: 1 });
});

test('a connector without a description of subscriptions is refused', async () => {
  await assert.rejects(subscribe(node.runtime, 'grand'), /does not say how to subscribe/);
});
