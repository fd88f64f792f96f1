import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/process.ts';

/** The tutorials, run as they are written: files are written, commands typed, and what a page shows of an answer is compared with it. */

const repository = path.join(import.meta.dirname, '..', '..');

type Step =
  | { readonly kind: 'file'; readonly file: string; readonly text: string }
  | { readonly kind: 'run'; readonly commands: string; readonly until?: string; readonly shown: readonly string[] }
  | { readonly kind: 'background'; readonly commands: string; readonly until: string };

function stepsOf(markdown: string): Step[] {
  const steps: Step[] = [];
  const block = /(?:<!-- (run[^>]*?) -->\n)?```(sh|yaml)\n([\s\S]*?)```(?:\n```text\n([\s\S]*?)```)?/g;
  for (const [, mark, language, text = '', answer = ''] of markdown.matchAll(block)) {
    const file = language === 'yaml' ? /^# (\S+\.yaml)\n/.exec(text)?.[1] : undefined;
    const awaited = mark?.split('until: ')[1];
    if (file !== undefined) steps.push({ kind: 'file', file, text });
    else if (mark?.startsWith('run in background')) {
      steps.push({ kind: 'background', commands: text, until: awaited ?? '' });
    } else if (mark?.startsWith('run')) {
      const shown = answer.split('\n').filter((line) => line !== '');
      steps.push({ kind: 'run', commands: text, shown, ...(awaited !== undefined && { until: awaited }) });
    }
  }
  return steps;
}

/** A line of an answer as a page shows it; … is anything. */
const isIn = (answer: string, line: string) =>
  new RegExp(
    line
      .split('…')
      .map((part) => RegExp.escape(part))
      .join('.*'),
  ).test(answer);

async function follow(pages: readonly string[], last: string): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-tutorial-'));
  const background: ChildProcess[] = [];
  const ports = await Promise.all([4180, 4700, 4701, 4702].map(async (port) => [port, await freePort()] as const));
  const typed = (text: string) =>
    ports.reduce((line, [port, free]) => line.replaceAll(String(port), String(free)), text);
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
    const texts = await Promise.all(
      pages.map((page) => readFile(path.join(repository, 'docs', 'tutorials', `${page}.md`), 'utf8')),
    );
    const steps = texts.flatMap(stepsOf);
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
      } else {
        let answer = '';
        const { until: awaited = '' } = step;
        await until(`the answer holds "${awaited}"`, async () => {
          answer = await type(step.commands);
          return answer.includes(awaited);
        });
        for (const line of step.shown.map(typed)) assert.ok(isIn(answer, line), `${line}\nis not in\n${answer}`);
      }
    }
    return await type(last);
  } finally {
    shell.kill();
    for (const child of background.reverse()) {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  }
}

interface Timeline {
  readonly data: { readonly source?: string; readonly guests: readonly Record<string, string>[] };
}
const recordIn = (timeline: string): Timeline['data'] => (JSON.parse(timeline.split('\n')[0] ?? '{}') as Timeline).data;

test('the first brand and its first event', async () => {
  const { source, guests } = recordIn(
    await follow(
      ['first-brand', 'first-event'],
      'innbound reservation TUTORIAL-1 --integration lisbon-grand -w my-hotels --json',
    ),
  );
  assert.equal(source, 'booking site');
  assert.equal(guests[0]?.last_name, 'van der Berg');
  assert.equal(guests[0]?.email, 'anna@example.com');
  assert.equal(guests[0]?.phone, '+4915126553748');
});

test('the hotel with data of its own form, and its CRM', async () => {
  const { guests } = recordIn(
    await follow(
      ['foreign-data', 'foreign-delivery'],
      'innbound reservation 4711 --integration alpenhof -w hof --json',
    ),
  );
  assert.deepEqual(
    guests.map(({ first_name, last_name }) => `${first_name} ${last_name}`),
    ['Jürgen Müller', 'Änne Müller'],
  );
});
