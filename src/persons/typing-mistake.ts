/**
 * Whether two words differ by one letter: changed, left out, added, or swapped with its neighbour. Short words are too alike to tell. The
 * last letter of a given name often tells a man from a woman (Mario, Maria; Paul, Paula), so there it is not a mistake.
 */
export function isOneMistake(a: string, b: string, part: 'given' | 'family'): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (short.length < fewestLetters || long.length - short.length > 1) return false;
  let start = 0;
  while (start < short.length && short[start] === long[start]) start++;
  let end = 0;
  while (end < short.length - start && short[short.length - 1 - end] === long[long.length - 1 - end]) end++;
  const [leftShort, leftLong] = [short.slice(start, short.length - end), long.slice(start, long.length - end)];
  if (part === 'given' && end === 0) return false;
  if (leftLong.length <= 1) return true;
  return leftShort.length === 2 && leftLong === [...leftShort].reverse().join('');
}

const fewestLetters = 4;
