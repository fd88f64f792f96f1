import { readFileSync } from 'node:fs';
import { InnboundError } from '../errors.ts';

/** Secrets come from a variable or a file, never from an argument: arguments are seen by everyone on the machine. */
export function secretFrom(source: { readonly env: string; readonly file?: string | undefined }): string {
  const value =
    source.file === undefined ? process.env[source.env] : readFileSync(source.file, 'utf8').replace(/\r?\n$/, '');
  if (value === undefined || value === '') {
    const place = source.file === undefined ? `the variable ${source.env}` : source.file;
    throw new InnboundError('operate.usage', `The endpoint's secret is missing: ${place} is empty or not set.`);
  }
  return value;
}
