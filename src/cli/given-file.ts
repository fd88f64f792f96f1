import { readFile } from 'node:fs/promises';
import { InnboundError } from '../errors.ts';

/** The text of a file that a person named. One that cannot be read is a mistake of the call, not a fault of the program. */
export async function readGiven(file: string, what: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'there is no such file' : (code ?? 'unknown reason');
    throw new InnboundError('operate.usage', `The ${what} ${file} cannot be read: ${why}.`);
  }
}
