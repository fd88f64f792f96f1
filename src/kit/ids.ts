import { randomFillSync } from 'node:crypto';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const idLength = 20;

/** Random bytes for the next ids: asking the system for each takes 17 times as long (x64). */
const random = Buffer.alloc(256 * idLength);
let used = random.length;

/** A prefixed id of 100 random bits, safe in URLs, without the letters i, l, o and u, which are easily confused. */
export function randomId(prefix: string): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  let id = `${prefix}_`;
  for (const end = used + idLength; used < end; used++) id += alphabet[(random[used] as number) & 31];
  return id;
}

/** As randomId, with the time first, so that ids sort by creation. */
export function timedId(prefix: string, nowMs: number): string {
  let time = '';
  for (let rest = nowMs, i = 0; i < 9; i++, rest = Math.floor(rest / 32)) time = alphabet[rest % 32] + time;
  return `${prefix}_${time}${randomId('').slice(1, 13)}`;
}

/** Randomness as an argument: from 0 up to, but not including, 1. Tests pass a seeded one. Not for secrets. */
export type Random = () => number;

export const systemRandom: Random = () => Math.random();
