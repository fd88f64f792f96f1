import { randomBytes } from 'node:crypto';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** A prefixed id of 100 random bits, safe in URLs, spoken without confusion: no i, l, o, u. */
export function randomId(prefix: string): string {
  const bytes = randomBytes(20);
  let text = '';
  for (const byte of bytes) text += alphabet[byte & 31];
  return `${prefix}_${text}`;
}

/** As randomId, with the time first, so that ids sort by when they were made. */
export function timedId(prefix: string, nowMs: number): string {
  let time = '';
  for (let rest = nowMs, i = 0; i < 9; i++, rest = Math.floor(rest / 32)) time = alphabet[rest % 32] + time;
  return `${prefix}_${time}${randomId('').slice(1, 13)}`;
}
