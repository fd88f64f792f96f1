import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Reservation } from '../../src/core/canonical/reservation.ts';
import { compileCondition } from '../../src/core/transform/condition.ts';

interface Case {
  readonly case: string;
  readonly expression: string;
  readonly over?: 'guest';
  /** The text at the position of the mistake. */
  readonly under: string;
  /** Where that is, if not at its first occurrence. */
  readonly offset?: number;
  readonly message: string;
}

for (const golden of JSON.parse(readFileSync(new URL('cases/mistakes.json', import.meta.url), 'utf8')) as Case[]) {
  test(golden.case, () => {
    const result = compileCondition(golden.expression, golden.over ?? 'reservation');
    assert.equal(result.kind, 'invalid');
    if (result.kind !== 'invalid') return;
    const [first] = result.problems;
    assert.ok(first);
    assert.equal(golden.expression.slice(first.offset, first.offset + (first.length ?? 0)), golden.under);
    assert.equal(first.offset, golden.offset ?? golden.expression.indexOf(golden.under));
    assert.ok(first.message.includes(golden.message), first.message);
    assert.match(first.message, /[.?]$/);
    assert.doesNotMatch(first.message, /\b(?:Has|Matches|Split|Join)\b(?=\(| ?$)/);
  });
}

const words = [
  'channel',
  'guests',
  'guest',
  'g',
  'extra',
  'total_amount',
  '.',
  '.',
  '.exists(g, ',
  '.map(g, ',
  '.matches(',
  '.split(',
  '.join(',
  'has(',
  'size(',
  ')',
  ')',
  '(',
  '[',
  ']',
  '{',
  '}',
  '"a"',
  "'b'",
  '"(a+)+$"',
  'r"\\d"',
  '1',
  '0.5',
  '==',
  '&&',
  '||',
  '!',
  '+',
  '-',
  '*',
  '/',
  '%',
  '?',
  ':',
  'in',
  ' ',
  '\n',
  '// x\n',
  'true',
  'null',
  'email',
  'cel.bind(',
  '🏨',
  '"""',
  '\\',
];

test('any text compiles or is refused at a position inside it; a compiled expression never throws', () => {
  const record: Reservation = {
    id: '1',
    check_in: '2026-01-01',
    check_out: '2026-01-02',
    status: 'confirmed',
    channel: 'a,b',
    guests: [{ email: 'a@example.com' }, {}],
    rooms: [],
    charges: [{ amount: '1.5' }],
    extra: { a: [1, 'x'] },
  };
  const text = fc.oneof(
    { weight: 4, arbitrary: fc.array(fc.constantFrom(...words), { maxLength: 12 }).map((parts) => parts.join('')) },
    { weight: 1, arbitrary: fc.string({ maxLength: 40 }) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  );
  fc.assert(
    fc.property(text, (expression) => {
      const result = compileCondition(expression, 'reservation');
      if (result.kind === 'ok') {
        assert.ok(['tested', 'failed'].includes(result.test(record).kind));
        return;
      }
      assert.ok(result.problems.length > 0);
      for (const { offset, length = 0 } of result.problems) {
        assert.ok(Number.isInteger(offset) && offset >= 0 && length >= 0 && offset + length <= expression.length);
      }
    }),
    { numRuns: 3_000 },
  );
});
