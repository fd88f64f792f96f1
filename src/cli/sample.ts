import { text } from 'node:stream/consumers';
import { InnboundError } from '../errors.ts';
import { parseJson } from '../kit/json.ts';
import type { Json } from '../terms.ts';
import { readInputFile } from './input-file.ts';

/** Reads a partner's response from a file, or from standard input for `-`. */
export async function readSample(file: string): Promise<Json> {
  const content = await contentOf(file);
  try {
    return parseJson(content);
  } catch (error) {
    throw new InnboundError('operate.usage', `The sample is not JSON: ${(error as Error).message}`);
  }
}

function contentOf(file: string): Promise<string> {
  return file === '-' ? text(process.stdin) : readInputFile(file, 'sample');
}
