import { readFile, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { InvalidArgumentError } from 'commander';
import { InnboundError } from '../../errors.ts';
import type { Command } from './command.ts';
import { io, say } from './io.ts';

/** Reads a file named on the command line; an unreadable file is a usage error. */
export async function readInputFile(file: string, what: string): Promise<string> {
  return (await readInputBytes(file, what)).toString('utf8');
}

export async function readInputBytes(file: string, what: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'the file does not exist' : (code ?? 'unknown reason');
    throw new InnboundError('operate.usage', `The ${what} ${file} cannot be read: ${why}.`);
  }
}

/** How an option with a number is read, whose value lies between two bounds, both allowed. */
export const between =
  (parse: (text: string) => number | undefined, least: number, most: number, expected: string) =>
  (text: string): number => {
    const value = parse(text);
    if (value !== undefined && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Expected ${expected}.`);
  };

export const whole = (text: string): number | undefined => (Number.isInteger(Number(text)) ? Number(text) : undefined);

export const portNumber = between(whole, 0, 65_535, 'a port from 0 to 65535');
export const positive = between(whole, 1, Number.POSITIVE_INFINITY, 'a whole number of at least 1');

/** Secrets come from a variable or a file, never from an argument: every user of the machine can see arguments. */
export async function secretFrom(source: {
  readonly env: string;
  readonly file?: string | undefined;
}): Promise<string> {
  const value =
    source.file === undefined ? io().env[source.env] : (await readInputFile(source.file, 'file')).replace(/\r?\n$/, '');
  if (value === undefined || value === '') {
    const place = source.file === undefined ? `the variable ${source.env}` : source.file;
    throw new InnboundError('operate.usage', `A secret is missing: ${place} is empty or not set.`);
  }
  return value;
}

export interface PassphraseOptions {
  readonly passphraseFile?: string;
}

/** Never an argument itself, which other users of the machine can see. */
export async function readPassphrase({ passphraseFile }: PassphraseOptions): Promise<string | undefined> {
  const mode = passphraseFile === undefined ? 0 : ((await stat(passphraseFile).catch(() => undefined))?.mode ?? 0);
  // What platforms mount there is readable inside the container by design.
  if ((mode & 0o077) !== 0 && !/^(?:\/var)?\/run\/secrets\//.test(passphraseFile ?? ''))
    say(`Other users of this machine can read ${passphraseFile}: run chmod 600 on it.`);
  const given =
    passphraseFile === undefined
      ? io().env.INNBOUND_PASSPHRASE
      : await readInputFile(passphraseFile, 'passphrase file');
  return given?.trim() || undefined;
}

export const passphraseOption = [
  '--passphrase-file <file>',
  'a file with the passphrase of the keys; otherwise INNBOUND_PASSPHRASE',
] as const;

/** What a guest is known by. */
export interface GuestOptions {
  readonly email?: string;
  readonly phone?: string;
  readonly guestId?: string;
  readonly integration?: string;
}

/** The options by which a guest is named. */
export const guestOptions = (command: Command): Command =>
  command
    .common()
    .option(
      '--email <address>',
      'the guest’s e-mail address; - reads it from standard input, so that ps does not show it',
    )
    .option('--phone <number>', 'the guest’s phone number, in international format; - reads it from standard input')
    .option('--guest-id <id>', 'the partner’s id of the guest; needs --integration')
    .option('-i, --integration <name>', 'only in this integration');

/**
 * The guest of a request. The option whose value is `-` is a line from standard input, with a prompt on a terminal: every user of the
 * machine can see the arguments of a process, so guest data must be passed another way.
 */
export async function readGuest({ email, phone, guestId, integration }: GuestOptions) {
  const whom = { email, phone, guest_id: guestId, integration };
  const [name, other] = (['email', 'phone'] as const).filter((one) => whom[one] === '-');
  if (name === undefined) return whom;
  if (other !== undefined) throw new InnboundError('operate.usage', 'Only one option can be read from standard input.');
  const value = (await line(name)).trim();
  if (value === '') throw new InnboundError('operate.usage', 'Standard input is empty.');
  return { ...whom, [name]: value };
}

async function line(name: string): Promise<string> {
  if (!io().stdin.isTTY) return (await text(io().stdin)).split('\n', 1)[0] ?? '';
  const terminal = createInterface({ input: io().stdin, output: process.stderr });
  try {
    return await terminal.question(`${name}: `);
  } finally {
    terminal.close();
  }
}
