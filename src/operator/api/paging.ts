import { z } from 'zod';
import { InnboundError } from '../../errors.ts';

/** Lists are paged with an opaque cursor from the previous page. */
export const pageQuery = {
  cursor: z.string().max(500).optional().describe('`next_cursor` of the previous page.'),
  limit: z.coerce.number().int().min(1).max(200).default(50).describe('Maximum number of items.'),
};

/** Of lists that have a few rows in most services: those come on one page. */
export const namePageQuery = {
  ...pageQuery,
  limit: z.coerce.number().int().min(1).max(200).default(200).describe('Maximum number of items.'),
  q: z.string().max(200).optional().describe('Only items that contain this text, in any letter case.'),
};

export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    next_cursor: z.string().nullable().describe('For the next page; null on the last page.'),
  });
}

export function encodeCursor(parts: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

const forms = {
  time: (part: string) => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(part) && !Number.isNaN(Date.parse(part)),
  number: (part: string) => /^\d{1,18}$/.test(part),
  text: (part: string) => !part.includes('\0'),
};

/** The cursor's parts as text. A foreign cursor is refused: starting over would never end. */
export function decodeCursor(cursor: string | undefined, ...kinds: (keyof typeof forms)[]): string[] {
  if (cursor === undefined) return [];
  const parts = partsOf(cursor);
  if (parts.length === kinds.length && kinds.every((kind, i) => forms[kind](parts[i] ?? ''))) return parts;
  throw new InnboundError(
    'operate.bad_request',
    'The cursor was not issued by this list; use next_cursor of a previous page.',
  );
}

/** Where a page starts in a list that is ordered by time and id. */
export function beforeOf(cursor: string | undefined): { readonly at: string; readonly id: string } | undefined {
  const [at, id = ''] = decodeCursor(cursor, 'time', 'text');
  return at === undefined ? undefined : { at, id };
}

function partsOf(cursor: string): string[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(parts) ? parts.map(String) : [];
  } catch {
    return [];
  }
}

/** A page from one row more than the limit: the extra row shows that there is a next page. */
export function paged<Row>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => readonly (string | number)[],
): { items: readonly Row[]; next_cursor: string | null } {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next_cursor: rows.length > limit && last !== undefined ? encodeCursor(keyOf(last)) : null };
}

/** A page of rows that are all in memory, in the order of their names. */
export function pagedByName<Row>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  {
    cursor,
    limit,
    q = '',
  }: { readonly cursor?: string | undefined; readonly limit: number; readonly q?: string | undefined },
  textOf: (row: Row) => string = nameOf,
): { items: readonly Row[]; next_cursor: string | null } {
  const [after] = decodeCursor(cursor, 'text');
  const matching = rows
    .filter((row) => after === undefined || nameOf(row) > after)
    .filter((row) => textOf(row).toLowerCase().includes(q.toLowerCase()))
    .sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
  return paged(matching, limit, (row) => [nameOf(row)]);
}
