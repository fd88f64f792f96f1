import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { copyCluster } from '../support/database.ts';
import { bin, innbound, until } from '../support/process.ts';

interface Demo {
  readonly root: string;
  readonly workspace: string;
  readonly printed: () => string;
  stopped(): Promise<void>;
}

/** Runs the demo until it is ready. */
async function startDemo(t: TestContext, ...options: string[]): Promise<Demo> {
  const root = await mkdtemp(path.join(os.tmpdir(), 'innbound-demo-'));
  const workspace = path.join(root, 'demo');
  await mkdir(path.join(workspace, '.innbound', 'run'), { recursive: true, mode: 0o700 });
  await copyCluster(path.join(workspace, '.innbound', 'pg'));
  const { DATABASE_URL: _, ...env } = process.env;
  const demo = spawn(bin, ['demo', '--port', '0', '--workspace', workspace, ...options], { cwd: root, env });
  t.after(async () => {
    demo.kill('SIGKILL');
    await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  });
  let text = '';
  for (const stream of [demo.stdout, demo.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await until('the demo is ready', async () => text.includes('Ctrl-C stops it.') || demo.exitCode !== null);
  assert.equal(demo.exitCode, null, text);
  return {
    root,
    workspace,
    printed: () => text,
    stopped: async () => {
      const exit = once(demo, 'exit');
      demo.kill('SIGINT');
      assert.deepEqual(await exit, [0, null], text);
      assert.match(text, /Stopped\. The next start continues where it stopped\./);
    },
  };
}

test('the demo delivers from both hotels, every command that it suggests works, and it stops cleanly', async (t) => {
  const { root, workspace, printed, stopped } = await startDemo(t);
  const delivered = async (hotel: string) => {
    const files = await readdir(path.join(workspace, 'out'), { recursive: true }).catch(() => []);
    for (const file of files.filter((one) => one.endsWith('.ndjson'))) {
      const lines = (await readFile(path.join(workspace, 'out', file), 'utf8'))
        .split('\n')
        .filter((line) => line !== '');
      const found = lines
        .map((line) => JSON.parse(line))
        .find((one) => one.integration === hotel && one.type === 'reservation');
      if (found) return found.data.id as string;
    }
    return undefined;
  };
  const id = await until('a change of one hotel is delivered', () => delivered('lisbon-grand'));
  await until('and one of the other', () => delivered('kamo-riverside'));

  const commands = [...printed().matchAll(/^ +bin\/innbound (.+)$/gm)].map(([, line = '']) =>
    line.replace(/\bID\b/, id).split(' '),
  );
  assert.ok(commands.length >= 3, printed());
  for (const command of commands) {
    const ran = await innbound(command, { cwd: root });
    assert.equal(ran.code, 0, `${command.join(' ')}: ${ran.stdout}${ran.stderr}`);
  }

  await stopped();
});

test('with --trouble a third hotel has faults that come and go, and they are seen', async (t) => {
  const { workspace, printed, stopped } = await startDemo(t, '--trouble', '4');
  const ask = async (...command: string[]): Promise<string> => {
    const ran = await innbound([...command, '-w', workspace, '--json']);
    assert.equal(ran.code, 0, ran.stdout + ran.stderr);
    return ran.stdout;
  };
  const overs = [/one row in twelve/, /wrong secret/, /renamed/, /the CRM is down/, /refuses our credentials/];
  for (const fault of overs) {
    await until(`${fault}`, async () => new RegExp(`over: .*${fault.source}`).test(printed()));
  }
  await until('bad rows are dead letters', async () =>
    (await ask('dead-letters', 'list', '--integration', 'wharf-house')).includes('"kind":"record"'),
  );
  await stopped();
});
