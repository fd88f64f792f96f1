import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { brandId, eventBody, exchange, integration, type RawAnswer, rawRequest, reservationData } from './support.ts';

/** The service as a process, killed and stopped while events arrive. */

const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
let folder: string;
let target: { endpointId: string; secret: string };
const running = new Set<ChildProcess>();

before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-crash-'));
  const documents = {
    'connectors/acme-pms.yaml': 'connector: acme-pms\n',
    'integrations/lisbon-grand.yaml': `integration: ${integration}\nconnector: acme-pms\nbrand_id: ${brandId}\ntimezone: Europe/Lisbon\npush: { enabled: true }\n`,
  };
  for (const [file, text] of Object.entries(documents)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
  }
});
after(async () => {
  for (const child of running) child.kill('SIGKILL');
  await killPostgres();
  await rm(folder, { recursive: true, force: true });
});

const innbound = (args: string[]) => {
  const env = { ...process.env, DATABASE_URL: undefined, INNBOUND_LOG_LEVEL: 'silent' };
  const child = spawn(process.execPath, [main, ...args, '--workspace', folder], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
};

async function serve(): Promise<{ child: ChildProcess; port: number; said: () => string }> {
  const child = innbound(['serve', '--port', '0']);
  let said = '';
  const ready = Promise.withResolvers<number>();
  child.stderr?.on('data', (chunk) => {
    said += chunk;
    const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1];
    if (port !== undefined) ready.resolve(Number(port));
  });
  child.once('exit', () => ready.reject(new Error(`the service did not start: ${said}`)));
  return { child, port: await ready.promise, said: () => said };
}

async function issue(): Promise<{ endpointId: string; secret: string }> {
  const child = innbound(['endpoint', integration, '--json']);
  let out = '';
  child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  await once(child, 'close');
  const { endpoint_id, secret } = JSON.parse(out) as { endpoint_id: string; secret: string };
  return { endpointId: endpoint_id, secret };
}

/** With SIGKILL, like a power cut: nothing is flushed. */
async function killPostgres(): Promise<void> {
  const pid = await readFile(path.join(folder, '.innbound', 'pg', 'postmaster.pid'), 'utf8').catch(() => '');
  const first = Number(pid.split('\n')[0]);
  if (first > 0) {
    try {
      process.kill(first, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  }
}

const body = (id: number) =>
  eventBody({ event_id: `crash-${id}`, data: reservationData({ reservation_id: `R-${id}` }) });

/** Sends without a pause over several connections until it is stopped; returns the answers by event. */
function flood(port: number) {
  const answers = new Map<number, RawAnswer | 'cut'>();
  let next = 0;
  let stopped = false;
  const workers = Array.from({ length: 8 }, async () => {
    while (!stopped) {
      const id = next++;
      try {
        const [answer] = await exchange(port, rawRequest(target, body(id)));
        answers.set(id, answer ?? 'cut');
        if (!answer) return;
      } catch {
        answers.set(id, 'cut');
        return;
      }
    }
  });
  return {
    answers,
    stop: async () => {
      stopped = true;
      await Promise.all(workers);
    },
  };
}

test('acknowledged events survive a kill of service and database', async () => {
  let { child, port, said } = await serve();
  target = await issue();
  const sending = flood(port);
  while (sending.answers.size < 200) await new Promise((resolve) => setTimeout(resolve, 5));
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await killPostgres();
  await sending.stop();
  await gone;
  const accepted = [...sending.answers]
    .filter(([, answer]) => answer !== 'cut' && answer.status === 202)
    .map(([id]) => id);
  assert.ok(accepted.length >= 150, String(accepted.length));

  ({ child, port, said } = await serve());
  const again = await exchange(
    port,
    Buffer.concat(accepted.map((id) => rawRequest(target, body(id)))),
    accepted.length,
  );
  // The body contains its time, so it differs now; only the id is the same.
  assert.deepEqual(new Set(again.map(({ status }) => status)), new Set([200]));
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  assert.equal(code, 0, said());
});

test('SIGTERM: earlier requests are answered, later ones get 503', async () => {
  const { child, port, said } = await serve();
  const sending = flood(port);
  while (sending.answers.size < 100) await new Promise((resolve) => setTimeout(resolve, 5));
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  assert.equal(code, 0, said());
  await sending.stop();
  const statuses = new Map<unknown, number>();
  for (const answer of sending.answers.values()) {
    const status = answer === 'cut' ? 'cut' : answer.status;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (answer !== 'cut' && answer.status === 503) assert.ok(answer.headers['retry-after']);
  }
  // A connection may be refused after the end: at most one per sender.
  assert.ok((statuses.get('cut') ?? 0) <= 8, JSON.stringify([...statuses]));
  assert.deepEqual(
    new Set([...statuses.keys()].filter((one) => one !== 'cut' && one !== 503 && one !== 200 && one !== 202)),
    new Set(),
  );
});
