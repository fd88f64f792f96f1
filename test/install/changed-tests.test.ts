import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reachedBy, reaching } from '../../scripts/changed-tests.ts';

const files = {
  'src/kit/clock.ts': '',
  'src/main.ts': `import { clock } from './kit/clock.ts';`,
  'src/kit/words.ts': `import type { Clock } from './clock.ts';`,
  'connectors/one.yaml': '',
  'test/support/run.ts': `export const bin = path.join(root, 'bin', 'innbound');`,
  'test/spawns.test.ts': `import { bin } from './support/run.ts';`,
  'test/words.test.ts': `const words = await import('../src/kit/words.ts');`,
  'test/connectors.test.ts': `readdirSync('connectors');`,
  'test/worker.test.ts': `fork(new URL('./worker.ts', import.meta.url));`,
  'test/worker.ts': `import '../src/kit/words.ts';`,
};
const names = new Set(Object.keys(files));
const dependencies = new Map(Object.entries(files).map(([file, text]) => [file, reachedBy(file, text, names)]));

const tests = (changed: string) =>
  [...reaching([changed], dependencies)].filter((file) => file.endsWith('.test.ts')).sort();

test('a change reaches the tests that import, load, read or spawn what changed, and no others', () => {
  assert.deepEqual(tests('src/kit/clock.ts'), ['test/spawns.test.ts'], 'types do not count');
  assert.deepEqual(tests('src/kit/words.ts'), ['test/words.test.ts', 'test/worker.test.ts']);
  assert.deepEqual(tests('connectors/one.yaml'), ['test/connectors.test.ts']);
  assert.deepEqual(tests('test/worker.ts'), ['test/worker.test.ts']);
});
