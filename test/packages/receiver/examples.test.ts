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
import { skipWithout } from '../../../scripts/prepare-servers.ts';
import type { DestinationType } from '../../../src/core/deliver/destination.ts';
import { sharedAws, sharedKafka } from '../../deliver/bus/shared.ts';
import { kafkaSubject, sqsSubject } from '../../deliver/bus/subjects.ts';
import { delivery, reservation, services } from '../../deliver/support.ts';

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
  for (const name of ['express', 'fastify', '@aws-sdk', '@platformatic'])
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

/** Three versions, the second twice and after the third, as at least once allows. */
async function publish(settings: Record<string, unknown>, type: DestinationType): Promise<void> {
  const offered = services('/');
  const destination = type.open(type.settings.parse(settings), offered);
  const signal = new AbortController().signal;
  const limits = { batch: 1, deadlineMs: 10_000, leaseLeftMs: () => 60_000, extend: async () => true, signal };
  for (const [i, version] of [1, 2, 3, 2].entries()) {
    const one = delivery(reservation('R-1'), { version, idempotency_key: `key-${i}` });
    assert.deepEqual(await destination.deliver([one], limits), [{ kind: 'delivered' }]);
  }
  await destination.close();
  await offered.close();
}

/** Runs an example until it has printed the newest version; returns the versions that it took. */
async function consumed(name: string, env: NodeJS.ProcessEnv): Promise<number[]> {
  const file = path.join(folder, 'node_modules', 'innbound-receiver', 'examples', `${name}.mjs`);
  const options = { cwd: folder, env: { PATH: process.env.PATH, ...env } };
  const child = spawn(process.execPath, [file], { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  const versions: number[] = [];
  try {
    for await (const line of createInterface(child.stdout)) {
      versions.push(JSON.parse(line).version);
      if (versions.at(-1) === 3) break;
    }
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
  return versions;
}

test('sqs.mjs takes each version once', async () => {
  const server = await sharedAws();
  const subject = await sqsSubject();
  await publish(subject.settings, subject.type);
  const env = {
    QUEUE_URL: String(subject.settings.queue_url),
    AWS_ENDPOINT_URL_SQS: `http://127.0.0.1:${server.port}`,
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'secret',
    WAIT: '1',
  };
  assert.deepEqual(await consumed('sqs', env), [1, 2, 3]);
});

test('kafka.mjs takes each version once', { skip: skipWithout('kcat') }, async () => {
  const server = await sharedKafka();
  const subject = await kafkaSubject();
  await publish(subject.settings, subject.type);
  const env = { BROKERS: `127.0.0.1:${server.port}`, TOPIC: String(subject.settings.topic) };
  assert.deepEqual(await consumed('kafka', env), [1, 2, 3]);
});
