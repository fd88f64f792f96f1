import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { deliverPorts } from '../../../src/composition/deliver.ts';
import { drainOnce } from '../../../src/core/deliver/deliveries.ts';
import { resealSome } from '../../../src/core/store/documents/secrets.ts';
import { newKey } from '../../../src/kit/crypto.ts';
import { eraseGuest } from '../../../src/operator/operations/erase-guest.ts';
import { forgetErasures } from '../../../src/operator/operations/watch-loops.ts';
import type { ErasureReceipt } from '../../../src/operator/store/erasure/erasures.ts';
import { noteConfirmations } from '../../../src/operator/store/erasure/erasures.ts';
import { type ApiNode, apiNode, reservation } from '../../api/node.ts';
import { tablesWith } from '../../operations/erase-support.ts';

/** What an erased guest was known by, while a destination refuses the erasure: sealed, only if needed, and not for ever. */

let answer = 503;
const forgotten: string[] = [];
const crm = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk: Buffer) => (text += chunk.toString()));
  request.on('end', () => {
    if (request.url === '/forget' && answer === 200) forgotten.push(JSON.parse(text).email);
    response.writeHead(request.url === '/contacts' ? 200 : answer).end('{}');
  });
});
let node: ApiNode;
let destinations = '[crm, hook]';
const brand = () => `integration: grand
connector: hotel
brand_id: LIS01
timezone: Europe/Lisbon
push: { enabled: true }
deliver: ${destinations}
`;

before(async () => {
  await new Promise<void>((ready) => crm.listen(0, '127.0.0.1', ready));
  const url = `http://127.0.0.1:${(crm.address() as AddressInfo).port}`;
  node = await apiNode('', {
    'destinations/crm.yaml': `destination: crm
type: http
url: ${url}/contacts
each: guest
requires: [guest.email]
body: { email: "{guest.email}" }
on: { erased: { url: "${url}/forget", body: { email: "{guest.email}" } } }
`,
    'destinations/hook.yaml': `destination: hook
type: webhook
url: ${url}/hook
secret: whsec_${Buffer.alloc(32, 7).toString('base64')}
`,
    'integrations/grand.yaml': brand(),
  });
});
after(async () => {
  await node.stop();
  crm.close();
});

const deliver = async () => drainOnce(await deliverPorts(node.runtime));
const kept = async () =>
  (await node.runtime.pool.query<{ id: string }>('select id from erased_identifiers order by id')).rows.map(
    ({ id }) => id,
  );
const due = () => node.runtime.pool.query('update outbox set due_at = now() where due_at is not null');

async function erase(id: string): Promise<{ email: string; receipt: () => Promise<ErasureReceipt> }> {
  const email = `${id.toLowerCase()}.lind@mail.example`;
  const guests = [{ first_name: 'Vera', last_name: `Lind${id}`, email, phone: '+351912345678' }];
  await node.take('grand', reservation(id, { guests }));
  await deliver();
  const erased = await eraseGuest(node.runtime, { email }, 'officer');
  await deliver();
  const admin = await node.token('admin');
  const path = `/privacy/erasures/${erased.erasure_id}`;
  return { email, receipt: async () => (await node.call('GET', path, admin)).body as ErasureReceipt };
}

test('nothing names the guest in clear while a destination refuses, and the destination still learns whom to erase', async () => {
  const { email } = await erase('S1');
  assert.deepEqual(await tablesWith(node, email), []);
  assert.deepEqual(await tablesWith(node, 'LindS1'), []);
  await forgetErasures(node.runtime);
  assert.deepEqual(await kept(), ['S1']);
  answer = 200;
  await due();
  await deliver();
  assert.deepEqual(forgotten, [email]);
  await forgetErasures(node.runtime);
  assert.deepEqual(await kept(), []);
});

test('the sealed identifiers follow a rotation of the key', async () => {
  answer = 503;
  const { email } = await erase('S2');
  const { pool, keyring } = node.runtime;
  const ring = [newKey(), ...keyring] as const;
  await resealSome(pool, ring, [], 100);
  (keyring as unknown as unknown[]).unshift(ring[0]);
  answer = 200;
  await due();
  await deliver();
  assert.equal(forgotten.at(-1), email);
});

test('a destination that does not find guests by identifiers keeps none', async () => {
  answer = 503;
  destinations = '[hook]';
  const admin = await node.token('admin');
  assert.equal((await node.call('PUT', '/documents/integration/grand', admin, { text: brand() })).status, 200);
  await node.runtime.refresh();
  await erase('S3');
  await forgetErasures(node.runtime);
  assert.deepEqual(await kept(), []);
  destinations = '[crm, hook]';
  assert.equal((await node.call('PUT', '/documents/integration/grand', admin, { text: brand() })).status, 200);
  await node.runtime.refresh();
});

test('after the retention of payloads they are deleted, and the receipt says so and stays open', async () => {
  answer = 503;
  const { receipt } = await erase('S4');
  await node.runtime.pool.query(`update erased_identifiers set at = now() - interval '31 days'`);
  await forgetErasures(node.runtime);
  assert.deepEqual(await kept(), []);
  const notified = async () =>
    (await receipt()).notified.map(({ destination, given_up, confirmed_at }) => [
      destination,
      given_up,
      confirmed_at !== null,
    ]);
  assert.deepEqual(
    (await notified()).find(([destination]) => destination === 'crm'),
    ['crm', 1, false],
  );
  answer = 200;
  await due();
  await deliver();
  await noteConfirmations(node.runtime.pool);
  assert.deepEqual(
    (await notified()).find(([destination]) => destination === 'crm'),
    ['crm', 1, false],
    'a late answer proves nothing',
  );
  assert.equal((await receipt()).state, 'notifying');
});
