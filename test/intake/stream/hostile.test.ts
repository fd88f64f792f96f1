import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { signedHeaders } from '../../../packages/sender/src/sign.ts';
import { testDatabase } from '../../support/database.ts';
import { innbound, type ServiceProcess, serve, until } from '../../support/process.ts';
import { eventBody } from '../push/support.ts';
import { connector } from './support.ts';

const usualProblem = /The answer was: “more than 500 messages without an event between two pings”/;
/** What each flood must be called on the page of its brand. One whose messages are events is only slowed down. */
const problems: Readonly<Record<string, RegExp>> = {
  unread: /The answer was: “the partner does not read our answers|more than 500 messages/,
  bombs: /server cannot be reached/,
  unreadable: /push\.envelope\.brand finds nothing/,
};

test('partners that flood their streams delay no webhook of another brand and fill no memory', {
  timeout: 600_000,
}, async (t) => {
  const server = new Worker(new URL('./flood.ts', import.meta.url));
  const [{ port, kinds }] = (await once(server, 'message')) as [{ port: number; kinds: string[] }];
  const sent = new Map<string, number>();
  server.on('message', ({ kind, bytes }) => sent.set(kind, (sent.get(kind) ?? 0) + bytes));

  const dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-hostile-'));
  let node: ServiceProcess | undefined;
  // In this order: a node that still writes makes the folder hard to remove.
  t.after(async () => {
    await node?.kill();
    await rm(dir, { recursive: true, force: true });
    await server.terminate();
  });
  const write = async (file: string, text: string) => {
    await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
    await writeFile(path.join(dir, file), text);
  };
  for (const kind of kinds) {
    const described = connector.replace('connector: hotel', `connector: ${kind}`).replace('/subscriptions', `/${kind}`);
    await write(`connectors/${kind}.yaml`, described.replace('  query: { key: "{key.sha256}" }\n', ''));
    const pull = `pull: { base_url: "http://127.0.0.1:${port}", auth: { type: bearer, token: right } }`;
    await write(
      `integrations/${kind}.yaml`,
      `integration: ${kind}\nconnector: ${kind}\nbrand_id: ${kind}\ntimezone: Europe/Lisbon\n${pull}\nstream: { key: ${kind}, chain: SIM }\n`,
    );
  }
  await write('connectors/pms.yaml', 'connector: pms\n');
  const other =
    'integration: porto\nconnector: pms\nbrand_id: LIS01\ntimezone: Europe/Lisbon\npush: { enabled: true }\n';
  await write('integrations/porto.yaml', other);
  const env = { DATABASE_URL: (await testDatabase()).url };
  const run = (...args: string[]) => innbound([...args, '-w', dir], { env });
  const served = await serve(dir, { env });
  node = served;
  const [endpoint] = (await run('endpoint', 'porto', '--json')).json();

  const memory = () => Number(execFileSync('ps', ['-o', 'rss=', '-p', String(served.child.pid)], { encoding: 'utf8' }));
  let largestKb = 0;
  // Without limits a node answered nothing for minutes.
  const promptly = async (url: string, init: RequestInit, status: number) =>
    assert.equal((await fetch(url, { ...init, signal: AbortSignal.timeout(30_000) })).status, status, url);
  let n = 0;
  const look = async () => {
    n += 1;
    await promptly(`${served.url}/healthz`, {}, 200);
    const body = eventBody({ event_id: `during-${n}` });
    const headers = signedHeaders(String(endpoint?.secret), Math.floor(Date.now() / 1000), body);
    await promptly(String(endpoint?.url), { method: 'POST', headers, body }, 202);
    largestKb = Math.max(largestKb, memory());
  };
  await until('every stream floods', async () => {
    await look();
    return kinds.every((kind) => (sent.get(kind) ?? 0) > 0);
  });
  for (let i = 0; i < 100; i += 1) await look();
  for (const kind of kinds) {
    const problem = problems[kind] ?? usualProblem;
    await until(
      `${kind}: ${problem}`,
      async () => {
        await look();
        return problem.test((await run('status', kind)).stdout);
      },
      120_000,
    );
  }
  t.diagnostic(`most memory ${largestKb >> 10} MiB, ${n} looks, bytes: ${JSON.stringify(Object.fromEntries(sent))}`);
  assert.ok(largestKb < 600 * 1024, `the node takes ${largestKb} KiB`);
});
