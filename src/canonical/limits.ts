import type { ListName } from './fields.ts';

/** A PostgreSQL index entry holds about 2,700 bytes; 512 characters take at most 1,536 of them in UTF-8. */
export const longestId = 512;

/** Items per reservation. More than this means a wrong mapping or a faulty partner, and would slow down every later step. */
export const mostItems: Readonly<Record<ListName, number>> = { guests: 500, rooms: 500, charges: 5_000 };

/** Whether a text can be a key in the database. Control characters are refused: they reach terminals and logs through the id. */
export function isUsableId(id: string): boolean {
  return id.length <= longestId && id.isWellFormed() && !/\p{Cc}/u.test(id);
}
