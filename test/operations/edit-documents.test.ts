import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ApiNode, apiNode } from '../api/node.ts';

let node: ApiNode;
let admin: string;
before(async () => {
  node = await apiNode();
  admin = await node.token('admin');
});
after(() => node.stop());

const path = '/documents/destination/lake';
const sourceOf = async (at: string) => (await node.call('GET', at, admin)).body.source as string;

test('an edit that breaks another document is refused, with that document’s file and line', async () => {
  const text = (await sourceOf('/documents/connector/hotel')).replace(/^pull:[\s\S]*?^shape/m, 'shape');
  const refused = await node.call('PUT', '/documents/connector/hotel', admin, { text });
  assert.equal(refused.status, 422);
  const files = refused.body.mistakes.map(({ file }: { file: string }) => file);
  assert.deepEqual([...new Set(files)].sort(), ['integrations/grand.yaml', 'integrations/other.yaml']);
});

test('a document that was broken before does not block the edit of another', async () => {
  await node.runtime.pool.query(
    `update documents set source = replace(source, 'timezone: Europe/Lisbon', 'timezone: Europe/Atlantis')
      where kind = 'integration' and name = 'other'`,
  );
  const applied = await node.call('PUT', path, admin, { text: `# a comment\n${await sourceOf(path)}` });
  assert.equal(applied.status, 200, JSON.stringify(applied.body));
  const itself = await node.call('PUT', path, admin, { text: `${await sourceOf(path)}nonsense: true\n` });
  assert.equal(itself.status, 422, 'its own mistakes still do');
});
