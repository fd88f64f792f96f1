import { InnboundError } from '../errors.ts';
import { readInputFile } from './input-file.ts';
import { io } from './io.ts';

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
