import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { InnboundError } from '../errors.ts';
import { io } from './io.ts';

/**
 * Replaces the option whose value is `-` by a line from standard input, with a prompt on a terminal. Every user of the machine
 * can see the arguments of a process, so guest data must be passed another way.
 */
export async function readPrivateOptions<Name extends string>(
  options: Readonly<Record<Name, string | undefined>>,
): Promise<Record<Name, string | undefined>> {
  const asked = (Object.keys(options) as Name[]).filter((name) => options[name] === '-');
  const [name] = asked;
  if (name === undefined) return { ...options };
  if (asked.length > 1) throw new InnboundError('operate.usage', 'Only one option can be read from standard input.');
  const value = (await line(name)).trim();
  if (value === '') throw new InnboundError('operate.usage', 'Standard input is empty.');
  return { ...options, [name]: value };
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
