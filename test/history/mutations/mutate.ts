import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
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

/** Plants the bug, if there is one, in the program as it is loaded, and runs the checker; undefined if nothing is found. */
export function findMutation(mutation: Mutation | undefined, judge: string): Promise<Found | undefined> {
  return judge.endsWith('.test.ts') ? tested(mutation, judge) : judged(mutation, judge);
}

async function judged(mutation: Mutation | undefined, judge: string): Promise<Found | undefined> {
  const { code, output, errors } = await ran(mutation, [path.join(import.meta.dirname, 'judge.ts'), judge]);
  if (code !== 0) throw new Error(`the judge ended with ${code}: ${errors.slice(0, 2_000)}`);
  return JSON.parse(output).violation ?? undefined;
}

/** Whether a test of the file fails. */
async function tested(mutation: Mutation | undefined, file: string): Promise<Found | undefined> {
  const { code, output } = await ran(mutation, ['--test', '--test-reporter=tap', path.join(root, file)]);
  if (code === 0) return undefined;
  const failed = [...output.matchAll(/^ *not ok \d+ - (.*)$/gm)].map(([, name = '']) => name);
  const [message] = failed.filter((name) => !name.endsWith('.test.ts'));
  if (message === undefined) throw new Error(`${file} did not run: ${output.slice(0, 2_000)}`);
  return { rule: file, message };
}

async function ran(mutation: Mutation | undefined, args: readonly string[]) {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const plant = `--disable-warning=ExperimentalWarning --import=${new URL('./plant.ts', import.meta.url).href}`;
  const child = spawn(process.execPath, args, {
    // For the nodes too that the checker starts.
    env: { ...env, NODE_OPTIONS: plant, PLANTED: JSON.stringify(mutation ?? null) },
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, output, errors };
}
