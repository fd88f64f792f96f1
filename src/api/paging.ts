import { z } from 'zod';
import { InnboundError } from '../errors.ts';

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

function encodeCursor(parts: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

const forms = {
  time: (part: string) => !Number.isNaN(Date.parse(part)),
  number: (part: string) => /^\d{1,18}$/.test(part),
  text: () => true,
};

/** The parts again, as text; none without a cursor. One that is not ours is refused: to begin anew would go round in circles. */
export function decodeCursor(cursor: string | undefined, ...kinds: (keyof typeof forms)[]): string[] {
  if (cursor === undefined) return [];
  const parts = partsOf(cursor);
  if (parts.length === kinds.length && kinds.every((kind, i) => forms[kind](parts[i] ?? ''))) return parts;
  throw new InnboundError('operate.invalid_input', 'The cursor is none that this list gave.');
}

function partsOf(cursor: string): string[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(parts) ? parts.map(String) : [];
  } catch {
    return [];
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
