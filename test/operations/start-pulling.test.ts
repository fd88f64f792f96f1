import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inForce } from '../../src/operator/operations/edit-documents.ts';
import { type ApiNode, apiNode } from '../api/node.ts';

const written = [
  'paused: true # until the hotel has looked',
  'paused: True',
  '"paused":   true',
  "'paused': !!bool true",
];
let node: ApiNode;
before(async () => {
  const document = (name: string, paused: string, i: number) => `# The first line stays.
integration: ${name}
connector: hotel
brand_id: ${name}
timezone: Europe/Lisbon
${paused}
pull:
  base_url: http://127.0.0.1:${i + 3}
  auth: { type: none }
  syncs: { stay: { every: 60m, range: [0d, +1d] } }
deliver: []
`;
  node = await apiNode('', {
    'integrations/pushed.yaml':
      'integration: pushed\nconnector: hotel\nbrand_id: pushed\ntimezone: Europe/Lisbon\npaused: true\n',
    ...Object.fromEntries(written.map((paused, i) => [`integrations/b${i}.yaml`, document(`b${i}`, paused, i)])),
  });
});
after(() => node.stop());

test('a brand is started however its document writes the pause, and the answer says whether it pulls', async () => {
  const admin = await node.token('admin');
  for (const [i, paused] of written.entries()) {
    const name = `b${i}`;
    assert.equal((await node.call('GET', `/integrations/${name}`, admin)).body.paused_in_document, true, paused);
    const started = await node.call('POST', `/integrations/${name}/start`, admin);
    assert.deepEqual([started.status, started.body.pulling], [200, true], paused);
    const after = (await node.call('GET', `/integrations/${name}`, admin)).body;
    assert.deepEqual([after.paused_in_document, after.paused], [false, false], paused);
    const { source } = await inForce(node.runtime, 'integration', name);
    assert.match(source ?? '', /^# The first line stays\./);
  }
});

test('what a person paused stays paused, and the answer says so', async () => {
  const admin = await node.token('admin');
  await node.call('POST', '/integrations/b0/pause', admin, {});
  assert.equal((await node.call('POST', '/integrations/b0/start', admin)).body.pulling, false);
  assert.equal((await node.call('POST', '/integrations/b0/start', await node.token('operator'))).status, 403);
});

test('a brand that nothing is pulled for is not paused, whatever its document says', async () => {
  const { body } = await node.call('GET', '/integrations/pushed', await node.token('viewer'));
  assert.deepEqual([body.state, body.reasons], ['new', ['No event has arrived yet.']]);
});
