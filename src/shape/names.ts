import type { NamePart } from './config.ts';

/** Particles: they belong to the family name after them. */
const particles: ReadonlySet<string> = new Set(
  `van von der den de del della dello di da dos das do du la le los las el al bin ibn ben bint ter ten tot zu zum zur vom af av st st. san santa mac mc o ó ní nic uí y e`.split(
    ' ',
  ),
);
const eastAsian = /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/**
 * One part of a full name. In `Berg, Anna van der` and `BERG/ANNA` the family name comes first; otherwise it is the last word with
 * the particles before it. Names in Chinese, Japanese and Korean script begin with the family name. A single word is a family name.
 */
export function namePart(
  full: string,
  part: NamePart,
  order: 'first_last' | 'last_first' | undefined,
): string | undefined {
  const [first, last] = splitName(full.trim().replace(/\s+/gu, ' '), order);
  const found = part === 'first' ? first : last;
  return found === '' ? undefined : found;
}

function splitName(full: string, order: 'first_last' | 'last_first' | undefined): [first: string, last: string] {
  const sign = full.includes(',') ? ',' : full.includes('/') ? '/' : undefined;
  if (sign !== undefined) {
    const at = full.indexOf(sign);
    return [full.slice(at + 1).trim(), full.slice(0, at).trim()];
  }
  const words = full.split(' ');
  if (words.length === 1) return ['', full];
  const familyFirst = order === 'last_first' || (order === undefined && eastAsian.test(full));
  if (familyFirst) {
    let end = 1;
    while (end < words.length - 1 && isParticle(words[end - 1])) end++;
    return [words.slice(end).join(' '), words.slice(0, end).join(' ')];
  }
  let start = words.length - 1;
  while (start > 1 && isParticle(words[start - 1])) start--;
  return [words.slice(0, start).join(' '), words.slice(start).join(' ')];
}

function isParticle(word: string | undefined): boolean {
  return word !== undefined && particles.has(word.toLowerCase());
}
