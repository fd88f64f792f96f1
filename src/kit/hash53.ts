import { createHash } from 'node:crypto';

/** 53 bits of a text, never 0: among a million texts the chance of a collision is 1 in 18,000. Not for secrets. */
export function hash53(text: string): number {
  const bytes = createHash('sha256').update(text).digest();
  return bytes.readUInt32BE(0) * 2 ** 21 + (bytes.readUInt32BE(4) >>> 11) || 1;
}
