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
