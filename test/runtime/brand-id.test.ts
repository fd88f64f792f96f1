import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiNode } from '../api/node.ts';

test('a brand_id may be a reference: requests, events and deliveries have its value, and so does every node', async (t) => {
  const yaml = (name: string, id: string) =>
    `integration: ${name}\nconnector: hotel\nbrand_id: ${id}\ntimezone: Europe/Lisbon\npush: { enabled: true }\n`;
  const node = await apiNode('', {
    'integrations/grand.yaml': yaml('grand', `"\${file:property}"`),
    'integrations/other.yaml': yaml('other', `"\${env:UNSET_PROPERTY}"`),
    property: 'LIS07\n',
  });
  t.after(() => node.stop());
  const idOf = (name: string) => node.runtime.active().integrations.get(name)?.body.brand_id;
  assert.equal(idOf('grand'), 'LIS07');
  assert.equal(idOf('other'), `\${env:UNSET_PROPERTY}`, 'what cannot be read stays, for the first run to name');
});
