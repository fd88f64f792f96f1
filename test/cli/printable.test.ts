import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printable } from '../../src/cli/printable.ts';

test('escape sequences in partner data reach no terminal', () => {
  const hostile = 'R-1\u001b]0;owned\u0007\u001b[2J\u009b31m\u202eevil\r';
  const shown = printable(hostile);
  assert.equal(shown, 'R-1\\u001b]0;owned\\u0007\\u001b[2J\\u009b31m\\u202eevil\\u000d');
  assert.equal(printable('Ana Prado\n\t1 €'), 'Ana Prado\n\t1 €');
  assert.deepEqual(JSON.parse(printable(JSON.stringify({ id: hostile }))), { id: hostile }, 'JSON stays JSON');
});
