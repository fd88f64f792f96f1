import { AsyncLocalStorage } from 'node:async_hooks';
import { printable } from '../../../packages/partner-kit/src/escape.ts';
import { InnboundError } from '../../errors.ts';
import type { Json } from '../../terms.ts';

/** What a command has of its process. */
export interface Io {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: Screen;
  readonly stderr: Screen;
  readonly env: NodeJS.ProcessEnv;
  exitCode?: number | string | null | undefined;
}

interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const given = new AsyncLocalStorage<Io>();

/** The process itself, or what the caller of `withIo` gave: tests run many commands in one process. */
export const io = (): Io => given.getStore() ?? process;

export const withIo = <T>(instead: Io, work: () => T): T => given.run(instead, work);

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

interface Printed {
  readonly json?: boolean | undefined;
}

/** A result: as JSON, or in words. */
export function answer({ json }: Printed, value: unknown, words: string): void {
  if (json) printJson(value);
  else show(words);
}

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
