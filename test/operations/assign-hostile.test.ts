import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assignField } from '../../src/operator/operations/assign-field.ts';

test('a text that is not a connector is refused, not an error', () => {
  const texts = ['R1', '', '- a\n- b\n', 'connector: a\nmap: text\n', 'connector: a\nmap: [a]\n', 'a: &x [*x]\n', '\0'];
  for (const text of texts) {
    for (const field of ['check_in', 'guests.last_name', 'extra.floor', 'constructor.name', '__proto__.x', '.', '']) {
      const assigned = assignField(text, field, 'guests[0].family');
      assert.ok(['ok', 'refused'].includes(assigned.kind), `${text} ${field}`);
    }
  }
  assert.equal(assignField('R1', 'check_in', 'arrival').kind, 'refused');
  assert.equal(assignField('connector: a\nmap: text\n', 'check_in', 'arrival').kind, 'refused');
});

test('a field is added where the list is read', () => {
  const text = 'connector: a\nmap: { guests: { from: people, fields: { first_name: given } } }\n';
  const assigned = assignField(text, 'guests.last_name', 'people[0].family');
  assert.ok(assigned.kind === 'ok');
  assert.match(assigned.connector, /last_name: family/);
});
