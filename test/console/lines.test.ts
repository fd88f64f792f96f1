import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { lineDiff, parts } from '../../console/src/parts/lines.ts';

const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 }).map((lines) => lines.join('\n'));

test('both texts can be rebuilt from their difference', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = lineDiff(before, after);
      const read = (but: string) =>
        lines
          .filter(({ kind }) => kind !== but)
          .map((line) => line.text)
          .join('\n');
      // A line break at the end of a file does not start another line.
      assert.equal(read('new'), before.replace(/\n$/, ''));
      assert.equal(read('gone'), after.replace(/\n$/, ''));
      if (before === after) assert.ok(lines.every(({ kind }) => kind === 'same'));
    }),
  );
});

test('only the surroundings of changes are shown, with the number of lines left out', () => {
  const before = Array.from({ length: 30 }, (_, i) => `line ${i}`);
  const after = before.with(10, 'other').with(25, 'another');
  const [first, second, ...more] = parts(lineDiff(before.join('\n'), after.join('\n')));
  assert.deepEqual([first?.skipped, first?.lines.length], [7, 8]);
  assert.deepEqual([second?.skipped, second?.lines.length], [8, 8]);
  assert.deepEqual(more, []);
});
