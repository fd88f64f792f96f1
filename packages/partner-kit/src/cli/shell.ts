import { readFile } from 'node:fs/promises';
import { InvalidArgumentError } from 'commander';

/** The program around the commands: `innbound partner`, or `innbound-partner-kit` by itself. */
export interface Shell {
  /** How a user calls the commands, for the examples in the help. */
  readonly name: string;
  /** An error that the program reports by its message alone. */
  readonly refuse: (code: 'operate.usage' | 'operate.port_taken', message: string) => Error;
}

export async function readInput(shell: Shell, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'the file does not exist' : (code ?? 'unknown reason');
    throw shell.refuse('operate.usage', `The file ${file} cannot be read: ${why}.`);
  }
}

/** Secrets come from a variable or a file, never from an argument: every user of the machine can see arguments. */
export async function secretFrom(
  shell: Shell,
  source: { readonly env: string; readonly file?: string | undefined },
): Promise<string> {
  const { env, file } = source;
  const value = file === undefined ? process.env[env] : (await readInput(shell, file)).replace(/\r?\n$/, '');
  if (value) return value;
  const place = file === undefined ? `the variable ${env}` : file;
  throw shell.refuse('operate.usage', `A secret is missing: ${place} is empty or not set.`);
}

/** Reports a port in use as an error of the user. */
export async function onPort<T>(shell: Shell, port: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw shell.refuse('operate.port_taken', `Port ${port} is already in use.`);
  }
}

export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** A reader of numbers in a range; of whole ones, if that is what is expected. */
export function number(least: number, most: number, isWhole = false): (text: string) => number {
  return (text) => {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (!(value >= least && value <= most) || (isWhole && !Number.isInteger(value)))
      throw new InvalidArgumentError(`Expected a ${isWhole ? 'whole ' : ''}number from ${least} to ${most}.`);
    return value;
  };
}

export const count = (least: number, most: number) => number(least, most, true);
export const port = count(0, 65_535);
