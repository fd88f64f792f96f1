import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { bin, serve } from '../support/process.ts';
import { hotelWorkspace } from './workspace.ts';

const postmaster = (dir: string) => path.join(dir, '.innbound', 'pg', 'postmaster.pid');

async function isGone(file: string): Promise<boolean> {
  return readdir(path.dirname(file)).then(
    (names) => !names.includes(path.basename(file)),
    () => true,
  );
}

test('a signal during the start leaves no process and no lock', async () => {
  const { dir, remove } = await hotelWorkspace('http://127.0.0.1:9');
  try {
    for (const afterMs of [400, 900, 1500]) {
      const child = spawn(bin, ['serve', '-w', dir, '--port', '0'], { stdio: 'ignore' });
      setTimeout(() => child.kill('SIGTERM'), afterMs);
      await once(child, 'exit');
      // Before Node has run a line of ours, the default action ends it; nothing was started then either.
      assert.ok(await isGone(postmaster(dir)), `stopped ${afterMs} ms after the start`);
    }
  } finally {
    await remove();
  }
});

test('SIGTERM stops the service and its server, and leaves no lock', async () => {
  const { dir, remove } = await hotelWorkspace('http://127.0.0.1:9');
  try {
    for (let round = 0; round < 2; round++) {
      const service = await serve(dir);
      assert.equal((await fetch(`${service.url}/readyz`)).status, 200);
      assert.equal(await service.stop(), 0);
      assert.ok(await isGone(postmaster(dir)));
      assert.deepEqual(await readdir(path.join(dir, '.innbound', 'run')), []);
    }
  } finally {
    await remove();
  }
});
