import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { printable, printableColoured } from '../../../packages/partner-kit/src/escape.ts';

test('escape sequences in partner data reach no terminal', () => {
  const hostile = 'R-1\u001b]0;owned\u0007\u001b[2J\u009b31m\u202eevil\r';
  const shown = printable(hostile);
  assert.equal(shown, 'R-1\\u001b]0;owned\\u0007\\u001b[2J\\u009b31m\\u202eevil\\u000d');
  assert.equal(printable('Ana Prado\n\t1 €'), 'Ana Prado\n\t1 €');
  assert.deepEqual(JSON.parse(printable(JSON.stringify({ id: hostile }))), { id: hostile }, 'JSON stays JSON');
});

test('a coloured report keeps its colours and nothing else', () => {
  const report = '\u001b[31mFAIL\u001b[0m the field a\u001b]0;owned\u0007\u001b[2Jb';
  assert.equal(printableColoured(report), '\u001b[31mFAIL\u001b[0m the field a\\u001b]0;owned\\u0007\\u001b[2Jb');
});

test('the commands write to the terminal only through it', () => {
  const root = new URL('../../../', import.meta.url);
  const folders = ['src/operator/cli/', 'packages/partner-kit/src/cli/', 'packages/partner-kit/src/'];
  // They draw counts over each other.
  const counts = ['src/operator/cli/progress.ts', 'src/operator/cli/reprocess.ts'];
  const files = folders.flatMap((folder) =>
    readdirSync(new URL(folder, root))
      .filter((file) => file.endsWith('.ts'))
      .map((file) => folder + file),
  );
  const direct = files.filter((file) => {
    const written =
      readFileSync(new URL(file, root), 'utf8').match(/std(?:out|err)\.write\(.*|console\.\w+\(.*/g) ?? [];
    return written.some((one) => !/printable|\[2K/.test(one));
  });
  assert.deepEqual(direct.toSorted(), counts);
});
