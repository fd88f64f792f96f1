import { readFile } from 'node:fs/promises';
import { InnboundError } from '../errors.ts';

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
