import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deliverPorts } from '../../src/composition/deliver.ts';
import { drainOnce, startDeliveries } from '../../src/core/deliver/deliveries.ts';
import { applyDocument } from '../../src/operator/operations/edit-documents.ts';
import { resendRecords } from '../../src/operator/operations/resend.ts';
import { type ApiNode, apiNode, reservation } from '../api/node.ts';
import { listen } from '../deliver/http-server.ts';
import { innbound } from '../support/process.ts';

let node: ApiNode;
let crm: Awaited<ReturnType<typeof listen>>;
/** The answers of the CRM wait for it. */
let gate = Promise.resolve();
const brand = (preview: string) => `integration: grand
connector: hotel
brand_id: LIS01
timezone: Europe/Lisbon
push: { enabled: true }
# The hotel looks at the list first.
deliver: [crm, lake]
${preview}`;

before(async () => {
  crm = await listen(async () => {
    await gate;
    return { status: 200, body: {} };
  });
  node = await apiNode('', {
    'integrations/grand.yaml': brand('preview: [crm]\n'),
    'destinations/crm.yaml': `destination: crm\ntype: http\nurl: ${crm.url}\nconcurrency: 1\nfilter: 'total_amount > 100.0'\n`,
  });
});
after(async () => {
  await node.stop();
  await crm.close();
});

const deliver = async () => drainOnce(await deliverPorts(node.runtime), { integration: 'grand' });
const lane = async () => {
  const { body } = await node.call('GET', '/integrations/grand', await node.token('viewer'));
  const { lanes, findings } = body as {
    lanes: { destination: string; preview: boolean; waiting: number; late_ms: number }[];
    findings: { message: string; action?: string }[];
  };
  return { ...lanes.find(({ destination }) => destination === 'crm'), findings };
};
const apply = (preview: string) =>
  applyDocument(node.runtime, { kind: 'integration', name: 'grand', text: brand(preview) }, 'test');

test('a lane in preview sends nothing; its preview shows what a release would send', async () => {
  await node.take('grand', reservation('r1'), reservation('r2'), reservation('small', { total_amount: 20 }));
  await deliver();
  assert.equal(crm.received.length, 0);
  const { preview, waiting, findings } = await lane();
  assert.deepEqual({ preview, waiting }, { preview: true, waiting: 3 });
  assert.deepEqual(
    findings.map(({ message, action }) => [message, action]),
    [['Deliveries to crm are in preview: 3 changes are waiting until you release them.', 'release']],
  );
  const status = await innbound(['status', 'grand', '-w', node.runtime.workspaceDir], { env: node.env });
  assert.match(status.stdout, /crm 3, lake 0 .*in preview: 3 changes/);
  const viewer = await node.token('viewer');
  const { items } = (await node.call('GET', '/deliveries?destination=crm', viewer)).body;
  const { deliveries } = (await node.call('GET', '/integrations/grand/reservations/r1', viewer)).body;
  assert.equal(items[0].waits_for, 'release');
  const stop = (name: string) => deliveries.find((one: { destination: string }) => one.destination === name).waits_for;
  assert.deepEqual([stop('crm'), stop('lake')], ['release', null]);
  const seen = await node.call('GET', '/integrations/grand/release/crm', await node.token('operator'));
  assert.deepEqual(seen.body, {
    total: 3,
    looked_at: null,
    counts: [
      { label: 'reservations to send', count: 2 },
      { label: 'left out: The filter of the destination does not match.', count: 1 },
      { label: 'calls, at least', count: 2 },
    ],
    samples: ['r1', 'r2'].map((id) => ({ integration: 'grand', id, text: 'reservation', diff: null })),
  });
});

test('a viewer releases nothing, and a lane that is not in preview needs no release', async () => {
  const release = async (role: 'viewer' | 'operator', destination: string) =>
    node.call('POST', `/integrations/grand/release/${destination}`, await node.token(role));
  assert.equal((await release('viewer', 'crm')).status, 403);
  assert.equal((await release('operator', 'lake')).body.code, 'operate.conflict');
});

test('released: what waited is sent, and the document says so', async () => {
  await node.runtime.pool.query(`update outbox set due_at = now() - interval '2 days' where destination = 'crm'`);
  const { body } = await node.call('POST', '/integrations/grand/release/crm', await node.token('operator'));
  assert.equal(body.file, 'integrations/grand.yaml');
  const { source } = (await node.call('GET', '/documents/integration/grand', await node.token('admin'))).body;
  assert.ok(source.includes('# The hotel looks at the list first.'));
  assert.ok(!source.includes('preview:'));
  assert.ok(((await lane()).late_ms ?? 0) < 60_000, 'it is not late: it waited for the release');
  await deliver();
  assert.equal(crm.received.length, 2);
  const { preview, waiting } = await lane();
  assert.deepEqual({ preview, waiting }, { preview: false, waiting: 0 });
});

test('before a filter becomes wider: who is new, and who is there already', async () => {
  await apply('preview: [crm]\n');
  const { rows } = await node.runtime.pool.query<{ source: string }>(
    `select source from documents where kind = 'destination' and name = 'crm'`,
  );
  const text = String(rows[0]?.source).replace('> 100.0', '> 10.0');
  await applyDocument(node.runtime, { kind: 'destination', name: 'crm', text }, 'test');
  await resendRecords(node.runtime, { destination: 'crm', integration: 'grand' });
  await deliver();
  const seen = await node.call('GET', '/integrations/grand/release/crm', await node.token('operator'));
  assert.deepEqual(seen.body.counts, [
    { label: 'reservations to send', count: 3 },
    { label: 'reservations of these that it has already', count: 2 },
    { label: 'calls, at least', count: 3 },
  ]);
  assert.equal(crm.received.length, 2, 'nothing is sent before the release');
  await apply('');
  await deliver();
  assert.equal(crm.received.length, 5);
});

test('a lane that goes into preview in the middle of a send stops, and continues when it is released', async (t) => {
  crm.received.length = 0;
  await apply('preview: [crm]\n');
  const ids = Array.from({ length: 300 }, (_, i) => `many-${i}`);
  await node.take('grand', ...ids.map((id) => reservation(id)));
  await apply('');
  const { promise, resolve: open } = Promise.withResolvers<void>();
  gate = promise;
  const ports = await deliverPorts(node.runtime);
  let scansInPreview = 0;
  const lanes = () => {
    const inForce = ports.lanes();
    const isPreview = inForce.of('grand').some(({ destination, inPreview }) => destination.name === 'crm' && inPreview);
    scansInPreview = isPreview ? scansInPreview + 1 : 0;
    return inForce;
  };
  const deliveries = startDeliveries({ ...ports, lanes });
  t.after(async () => {
    open();
    await deliveries.stop();
  });
  const until = async (isSo: () => boolean | Promise<boolean>) => {
    while (!(await isSo())) await new Promise((wait) => setTimeout(wait, 5));
  };
  const isSettled = async () =>
    (await node.runtime.pool.query(`select from outbox where destination = 'crm' and leased`)).rowCount === 0;
  await until(() => crm.received.length > 0);
  await apply('preview: [crm]\n');
  await until(() => scansInPreview > 0);
  open();
  // Calls in progress end; then nothing more is sent.
  await until(isSettled);
  const sent = crm.received.length;
  const before = scansInPreview;
  await until(() => scansInPreview >= before + 2);
  assert.ok(sent < ids.length, `${sent} sent`);
  assert.equal(crm.received.length, sent);
  assert.equal((await lane()).waiting, ids.length - sent);
  await apply('');
  await until(() => crm.received.length >= ids.length);
  await deliveries.stop();
  assert.equal(new Set(crm.received.map(({ headers }) => headers['idempotency-key'])).size, ids.length);
  assert.equal(crm.received.length, ids.length);
});

test('a document cannot preview what the brand does not deliver to', async () => {
  await assert.rejects(apply('preview: [warehouse]\n'), { code: 'documents.invalid' });
});
