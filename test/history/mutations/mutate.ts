import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import list from './mutations.json' with { type: 'json' };

/** A bug of one line, to show that the checker would find it. */
export interface Mutation {
  readonly name: string;
  readonly breaks: string;
  /** What finds it: the simulation, the fixed sequence of steps on PostgreSQL, or a test file. */
  readonly judge: string;
  readonly file: string;
  /** Occurs once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Found within seconds: part of every test run. */
  readonly quick?: boolean;
}

/** The broken promise, or the failed test. */
interface Found {
  readonly rule: string;
  readonly message: string;
}

export const mutations: readonly Mutation[] = list;

const root = path.join(import.meta.dirname, '..', '..', '..');

export async function occurrences({ file, find }: Mutation): Promise<number> {
  return (await readFile(path.join(root, file), 'utf8')).split(find).length - 1;
}

/** The program and its tests. */
const copied = ['src', 'packages', 'schemas', 'package.json', 'test'];
const linked = ['node_modules', 'connectors', 'docs', 'presets', 'scripts'];

/** Copies the program, plants the bug in the copy and runs the checker; undefined if nothing is found. */
export async function findMutation(mutation: Mutation | undefined, judge: string): Promise<Found | undefined> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-mutation-'));
  try {
    for (const part of copied) await cp(path.join(root, part), path.join(folder, part), { recursive: true });
    for (const part of linked) await symlink(path.join(root, part), path.join(folder, part));
    if (mutation) {
      const file = path.join(folder, mutation.file);
      await writeFile(
        file,
        (await readFile(file, 'utf8')).replace(mutation.find, () => mutation.replace),
      );
    }
    if (judge.endsWith('.test.ts')) return await tested(folder, judge);
    return await judged(path.join(folder, 'test', 'history', 'mutations', 'judge.ts'), judge);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function judged(file: string, judge: string): Promise<Found | undefined> {
  const { code, output, errors } = await ran([file, judge], path.dirname(file));
  if (code !== 0) throw new Error(`the judge ended with ${code}: ${errors.slice(0, 2_000)}`);
  return JSON.parse(output).violation ?? undefined;
}

/** Whether a test of the file fails. */
async function tested(folder: string, file: string): Promise<Found | undefined> {
  const { code, output } = await ran(['--test', '--test-reporter=tap', path.join(folder, file)], folder);
  if (code === 0) return undefined;
  const failed = [...output.matchAll(/^ *not ok \d+ - (.*)$/gm)].map(([, name = '']) => name);
  const [message] = failed.filter((name) => !name.endsWith('.test.ts'));
  if (message === undefined) throw new Error(`${file} did not run: ${output.slice(0, 2_000)}`);
  return { rule: file, message };
}

async function ran(args: readonly string[], cwd: string) {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    env,
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, output, errors };
}
