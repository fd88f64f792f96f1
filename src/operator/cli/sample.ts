import { buffer } from 'node:stream/consumers';
import { readAdapted } from '../../core/outbound/ask/adapter.ts';
import { InnboundError } from '../../errors.ts';
import { parseJson } from '../../kit/json.ts';
import type { Json } from '../../terms.ts';
import { readInputBytes } from './input.ts';
import { io } from './io.ts';

/**
 * Reads a partner's response from a file, or from standard input for `-`. An adapter reads it as it would read the response; JSON that it
 * does not read is taken as its result.
 */
export async function readSample(file: string, adapter?: string): Promise<Json> {
  const content = await (file === '-' ? buffer(io().stdin) : readInputBytes(file, 'sample'));
  const adapted = adapter === undefined ? undefined : await readAdapted(adapter, content, undefined);
  if (adapted?.kind === 'ok') return adapted.body;
  try {
    return parseJson(content.toString('utf8'));
  } catch (error) {
    if (adapted)
      throw new InnboundError(adapted.code, `The adapter cannot read the sample: ${adapted.said ?? adapted.message}`);
    const hint = content.toString('latin1').trimStart().startsWith('<')
      ? ' XML needs adapter: xml in pull of the connector, or suggest --adapter xml.'
      : '';
    throw new InnboundError('operate.usage', `The sample is not JSON: ${(error as Error).message}.${hint}`);
  }
}
