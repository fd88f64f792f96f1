import type { PageState } from './paginator.ts';

/**
 * Whether a cursor or next link is an offset or page number in disguise: c200 after 200 rows, ?page=2 after one page, the same
 * in base64. Such lists shift like any other that is paged by counting. Taking one for such by mistake costs a second pass; no more.
 */
export function looksCounted(state: PageState, asked: string, rows: number, pages: number): boolean {
  const cursor = state.cursor;
  if (typeof cursor === 'string') return [cursor, decoded(cursor)].some((text) => numbersIn(text).includes(rows));
  if (typeof state.url !== 'string') return false;
  const before = new URL(asked).searchParams;
  return [...new URL(state.url).searchParams].some(([name, value]) => {
    if (before.get(name) === value) return false;
    const numbers = [...numbersIn(value), ...numbersIn(decoded(value))];
    return numbers.includes(rows) || (/page/i.test(name) && numbers.includes(pages + 1));
  });
}

function numbersIn(text: string): number[] {
  return Array.from(text.matchAll(/(?<!\d)[1-9]\d{0,14}(?!\d)/g), ([digits]) => Number(digits));
}

/** Base64 of readable text; empty where it is none. */
function decoded(text: string): string {
  if (text.length < 4 || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return '';
  const plain = Buffer.from(text, 'base64').toString('latin1');
  return /^[\x20-\x7e]+$/.test(plain) ? plain : '';
}
