import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ApiNode, apiNode } from '../api/node.ts';

let node: ApiNode;
before(async () => {
  node = await apiNode();
});
after(() => node.stop());

test('a brand can use the connectors in force and the shipped ones', async () => {
  const { items } = (await node.call('GET', '/connectors', await node.token('viewer'))).body;
  const find = (name: string) => items.find((one: { name: string }) => one.name === name);
  assert.equal(find('hotel').shipped, false);
  assert.equal(find('mews').shipped, true);
  assert.match(find('mews').description, /Mews/);
});

test('a system is found by another name, and comes with a complete integration', async () => {
  const token = await node.token('viewer');
  const search = async (words: string) =>
    (await node.call('GET', `/connectors?search=${encodeURIComponent(words)}`, token)).body.items;
  const [smily, ...others] = await search('Smily');
  assert.deepEqual([smily.name, others.length], ['bookingsync', 0]);
  assert.match(smily.system.integration, /^integration: my-bookingsync\n/);
  assert.ok(smily.system.credentials.length > 0);
  assert.deepEqual(
    (await search('hostawai')).map(({ name }: { name: string }) => name),
    ['hostaway'],
    'the nearest name',
  );
  assert.deepEqual(await search('zzzzzzzz'), []);
});
