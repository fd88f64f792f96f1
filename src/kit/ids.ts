import { randomBytes } from 'node:crypto';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** A prefixed id of 100 random bits, safe in URLs, without the letters i, l, o and u, which are easily confused. */
export function randomId(prefix: string): string {
  return `${prefix}_${Array.from(randomBytes(20), (byte) => alphabet[byte & 31]).join('')}`;
}

/** As randomId, with the time first, so that ids sort by creation. */
export function timedId(prefix: string, nowMs: number): string {
  let time = '';
  for (let rest = nowMs, i = 0; i < 9; i++, rest = Math.floor(rest / 32)) time = alphabet[rest % 32] + time;
  return `${prefix}_${time}${randomId('').slice(1, 13)}`;
}
