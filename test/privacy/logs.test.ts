import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { test } from 'node:test';

/** Messages that cannot quote a record: about the start of the private server or of a process, and about the export of spans. */
const allowed = new Set(['src/runtime/runtime.ts', 'src/kit/trace-otlp.ts']);
const call = /\blog\.(?:warn|error|info|fatal)\((?:[^()]|\([^()]*\))*\)/g;

test('no log call takes the message of an error: it may quote guest data', async () => {
  const found: string[] = [];
  let calls = 0;
  for await (const file of glob('src/**/*.ts')) {
    for (const [text] of (await readFile(file, 'utf8')).matchAll(call)) {
      calls += 1;
      if (/\berror\b[^,}]*\.message\b/.test(text) && !allowed.has(file)) found.push(`${file}: ${text}`);
    }
  }
  assert.ok(calls > 30, 'the pattern still finds log calls');
  assert.deepEqual(found, []);
});
