import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { innbound, inOwnProcess } from '../support/process.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'innbound-run-'));
after(() => rmSync(dir, { recursive: true }));

// The other tests run commands in their own process; here is what holds the two together.
const lines: readonly (readonly string[])[] = [
  ['validate', '-w', dir],
  ['validate', '-w', path.join(dir, 'nowhere'), '--json'],
  ['no-such-command'],
  ['sync', '--json'],
  ['--help'],
  ['help', 'sync'],
  ['secret', 'set', '--help'],
];

for (const args of lines) {
  test(`innbound ${args.join(' ').replaceAll(dir, 'DIR')} answers the same here and in a process of its own`, async () => {
    const [here, there] = await Promise.all([innbound(args), inOwnProcess(args)]);
    assert.deepEqual(
      { code: here.code, stdout: here.stdout, stderr: here.stderr },
      { code: there.code, stdout: there.stdout, stderr: there.stderr },
    );
    assert.ok(here.stdout + here.stderr !== '');
  });
}

test('a command in a folder that does not exist says so', async () => {
  const { code, json } = await innbound(['status', '-w', path.join(dir, 'nowhere'), '--json']);
  assert.equal(code, 1);
  const { error } = json()[0] as { error: { code: string; message: string } };
  assert.equal(error.code, 'documents.no_workspace');
  assert.match(error.message, /There is no folder .*nowhere/);
});
