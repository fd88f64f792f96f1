import { z } from 'zod';

/** Lists are read on with the cursor that the page before gave; what it holds is nobody's business but ours. */
export const pageQuery = {
  cursor: z.string().max(500).optional().describe('`next_cursor` of the page before.'),
  limit: z.coerce.number().int().min(1).max(200).default(50).describe('At most so many.'),
};

export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    next_cursor: z.string().nullable().describe('For the next page; null when this is the last.'),
  });
}

export function encodeCursor(parts: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** The parts again, as text; undefined when it is no cursor of ours. */
export function decodeCursor(cursor: string | undefined, length: number): string[] | undefined {
  if (cursor === undefined) return undefined;
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (!Array.isArray(parts) || parts.length !== length) return undefined;
    return parts.every((part) => typeof part === 'string' || typeof part === 'number') ? parts.map(String) : undefined;
  } catch {
    return undefined;
  }
}

/** A page from one more row than was asked for: the row too many says that there is a next page. */
export function paged<Row>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => readonly (string | number)[],
): { items: readonly Row[]; next_cursor: string | null } {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next_cursor: rows.length > limit && last !== undefined ? encodeCursor(keyOf(last)) : null };
}
