import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { printable } from '../../packages/partner-kit/src/terminal/printable.ts';
import { InnboundError } from '../errors.ts';
import type { RuntimeOptions } from '../runtime/options.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { writeAudit } from '../store/operate/audit.ts';
import type { Json } from '../terms.ts';
import { io } from './io.ts';

/** Options of every command. */
export interface CommonOptions {
  readonly workspace: string;
  readonly json?: boolean;
}

/** Adds the options that every command has. */
export function common(command: Command): Command {
  return command
    .option('-w, --workspace <dir>', 'the workspace folder', io().env.INNBOUND_WORKSPACE ?? '.')
    .option('--json', 'print one JSON object (one per line for lists) on standard output');
}

/** Opens the runtime (store, documents, secrets), runs a command, and closes it whatever happens. */
export async function withRuntime<T>(
  options: CommonOptions,
  purpose: string,
  work: (runtime: Runtime) => Promise<T>,
  more: Pick<RuntimeOptions, 'apply' | 'needs' | 'before'> = {},
): Promise<T> {
  // Loaded here: commands that need no store start in half the time (two arm64 cores).
  const { openRuntime } = await import('../operations/open-runtime.ts');
  const runtime = await openRuntime({
    workspaceDir: options.workspace,
    purpose: 'command',
    env: io().env,
    describe: purpose,
    ...more,
  });
  try {
    // A service that starts later finds nothing to report.
    if (runtime.restoreCheck.isRestored()) {
      say(
        `store.restored: the database is an older copy; the epoch is ${runtime.restoreCheck.epoch()} now. Repeat the erasures that are newer, ` +
          'then run `innbound resend` for each destination.',
      );
    }
    return await work(runtime);
  } finally {
    await runtime.close();
  }
}

/** Results go to standard output, progress and hints to standard error. */
export function printJson(value: unknown): void {
  io().stdout.write(`${printable(JSON.stringify(value))}\n`);
}

export function say(text: string): void {
  io().stderr.write(`${printable(text)}\n`);
}

export function show(text: string): void {
  io().stdout.write(`${printable(text)}\n`);
}

/** A list: one JSON object per line, or a table with a head. */
export function showList<Row>(
  { json }: Pick<CommonOptions, 'json'>,
  rows: readonly Row[],
  { none, head, line }: { readonly none: string; readonly head: readonly string[]; line(row: Row): readonly string[] },
): void {
  if (json) for (const row of rows) printJson(row);
  else show(rows.length === 0 ? none : table([head, ...rows.map(line)]));
}

/** Writes what an operator did from the command line into the audit log. */
export async function audited(
  runtime: Runtime,
  action: string,
  about: { readonly integration?: string | undefined; readonly target?: { readonly [key: string]: Json } } = {},
): Promise<void> {
  await writeAudit(runtime.pool, { actor: commandLineUser(), action, ...about });
}

export const commandLineUser = (): string => `${userInfo().username} (command line)`;

/** Reports an error as text, or as JSON with --json, and sets the exit code. */
export function fail(error: unknown, json: boolean): void {
  io().exitCode = 1;
  if (error instanceof InnboundError) {
    const detail = Object.keys(error.detail).length > 0 ? { detail: error.detail as Json } : {};
    if (json) printJson({ error: { code: error.code, message: error.message, next: error.next, ...detail } });
    else say(`error ${error.code}: ${error.message}\n  next: ${error.next}`);
    return;
  }
  const message = error instanceof Error ? error.message : String(error);
  if (json) printJson({ error: { code: 'operate.unexpected', message } });
  else say(`error: ${error instanceof Error ? (error.stack ?? message) : message}`);
}

/** Aligns columns to their longest cell; the last column is not padded. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  return rows
    .map((row) => row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0))).join('  '))
    .join('\n');
}
