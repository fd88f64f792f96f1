import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/process.ts';

/** The tutorial, run as it is written: its files are written, its commands typed, in the order of the page. */

const repository = path.join(import.meta.dirname, '..', '..');

type Step =
  | { readonly kind: 'file'; readonly file: string; readonly text: string }
  | { readonly kind: 'run'; readonly commands: string; readonly until?: string }
  | { readonly kind: 'background'; readonly commands: string; readonly until: string };

function stepsOf(markdown: string): Step[] {
  const steps: Step[] = [];
  const block = /(?:<!-- (run[^>]*?) -->\n)?```(sh|yaml)\n([\s\S]*?)```/g;
  for (const [, mark, language, text = ''] of markdown.matchAll(block)) {
    const file = language === 'yaml' ? /^# (\S+\.yaml)\n/.exec(text)?.[1] : undefined;
    const awaited = mark?.split('until: ')[1];
    if (file !== undefined) steps.push({ kind: 'file', file, text });
    else if (mark?.startsWith('run in background')) {
      steps.push({ kind: 'background', commands: text, until: awaited ?? '' });
    } else if (mark?.startsWith('run')) {
      steps.push({ kind: 'run', commands: text, ...(awaited !== undefined && { until: awaited }) });
    }
  }
  return steps;
}

test('the first tutorial works as written', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-tutorial-'));
  const background: ChildProcess[] = [];
  const ports = { 4700: await freePort(), 4180: await freePort() };
  const typed = (text: string) => text.replaceAll('4700', String(ports[4700])).replaceAll('4180', String(ports[4180]));
  // One shell for all commands of the first terminal, so that its variables are kept.
  const { DATABASE_URL: _database, NODE_TEST_CONTEXT: _context, ...env } = process.env;
  await mkdir(path.join(folder, 'bin'));
  await symlink(path.join(repository, 'bin', 'innbound'), path.join(folder, 'bin', 'innbound'));
  const shell = spawn('sh', [], { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  shell.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  shell.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  let sent = 0;
  const type = async (commands: string): Promise<string> => {
    const from = output.length;
    sent += 1;
    const done = new RegExp(`step ${sent} ended (\\d+)\\n`);
    shell.stdin.write(`{ ${typed(commands)}\n}; echo "step ${sent} ended $?"\n`);
    const ended = await until(`step ${sent}`, async () => done.exec(output));
    const said = output.slice(from);
    assert.equal(ended?.[1], '0', said);
    return said;
  };
  try {
    const pages = ['first-brand', 'first-event'].map((name) =>
      path.join(repository, 'docs', 'tutorials', `${name}.md`),
    );
    const steps = (await Promise.all(pages.map((page) => readFile(page, 'utf8')))).flatMap(stepsOf);
    assert.ok(steps.length >= 10, 'the tutorial was found');
    for (const step of steps) {
      if (step.kind === 'file') {
        await mkdir(path.dirname(path.join(folder, step.file)), { recursive: true });
        await writeFile(path.join(folder, step.file), typed(step.text));
      } else if (step.kind === 'background') {
        const child = spawn('sh', ['-c', `exec ${typed(step.commands).trim()}`], {
          cwd: folder,
          env: { ...env, PATH: `${folder}/bin:${env.PATH}`, HOTEL_TOKEN: 'sim-token', INNBOUND_LOG_LEVEL: 'warn' },
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        background.push(child);
        let said = '';
        for (const stream of [child.stdout, child.stderr])
          stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
        await until(`${step.commands.trim()} says "${step.until}"; it said: ${said}`, async () =>
          said.includes(step.until),
        );
      } else if (step.until !== undefined) {
        const { until: awaited } = step;
        await until(`the answer holds "${awaited}"`, async () => (await type(step.commands)).includes(awaited));
      } else {
        await type(step.commands);
      }
    }
    const timeline = await type('innbound reservation TUTORIAL-1 --integration lisbon-grand -w my-hotels --json');
    const [line = '{}'] = timeline.split('\n');
    const { data } = JSON.parse(line) as { data: { source: string; guests: Record<string, string>[] } };
    assert.equal(data.source, 'booking site');
    assert.equal(data.guests[0]?.last_name, 'van der Berg');
    assert.equal(data.guests[0]?.email, 'anna@example.com');
    assert.equal(data.guests[0]?.phone, '+4915126553748');
  } finally {
    shell.kill();
    for (const child of background.reverse()) {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  }
});
