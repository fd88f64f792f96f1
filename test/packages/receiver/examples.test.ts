import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { buildLibrary } from '../../../scripts/packages/library.ts';

/** The examples as they are printed, with the package as npm would install it. */

const root = fileURLToPath(new URL('../../../', import.meta.url));
const secret = `whsec_${Buffer.alloc(24, 3).toString('base64')}`;
let folder: string;

before(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'innbound-examples-'));
  const home = path.join(folder, 'node_modules', 'innbound-receiver');
  mkdirSync(home, { recursive: true });
  for (const part of ['package.json', 'src', 'examples', 'tsconfig.json'])
    cpSync(path.join(root, 'packages', 'receiver', part), path.join(home, part), { recursive: true });
  await buildLibrary(home);
  for (const name of ['express', 'fastify'])
    symlinkSync(path.join(root, 'node_modules', name), path.join(folder, 'node_modules', name));
});
after(() => rmSync(folder, { recursive: true, force: true }));

async function deliver(url: string, version: number, by = secret): Promise<number> {
  const body = JSON.stringify({
    type: 'reservation',
    integration: 'lisbon-grand',
    brand_id: 'LIS01',
    event: 'updated',
    version,
    idempotency_key: `key-${version}`,
    data: { id: 'R-1' },
  });
  const at = new Date();
  const headers = {
    'content-type': 'application/json',
    'webhook-id': `key-${version}`,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(by).sign(`key-${version}`, at, body),
  };
  return (await fetch(url, { method: 'POST', headers, body })).status;
}

for (const name of ['express', 'fastify', 'queue']) {
  test(`${name}.mjs keeps the newest version, and refuses what is not signed`, async () => {
    const file = path.join(folder, 'node_modules', 'innbound-receiver', 'examples', `${name}.mjs`);
    const child = spawn(process.execPath, [file], {
      cwd: folder,
      env: { PATH: process.env.PATH, PORT: '0', WEBHOOK_SECRET: secret },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'close');
    try {
      const { value: url } = (await createInterface(child.stdout)[Symbol.asyncIterator]().next()) as { value: string };
      assert.equal(await deliver(url, 2), 204);
      assert.equal(await deliver(url, 1), 204);
      assert.equal(await deliver(url, 2), 204);
      assert.equal(await deliver(url, 3, `whsec_${Buffer.alloc(24, 4).toString('base64')}`), 401);
      const stored = async () =>
        (await (await fetch(url.replace('innbound', 'records'))).json()) as { version: number }[];
      let records = await stored();
      while (records.length === 0) records = await stored();
      assert.deepEqual(
        records.map(({ version }) => version),
        [2],
      );
    } finally {
      child.kill();
      await ended;
    }
  });
}
