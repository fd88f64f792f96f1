import { z } from 'zod';
import type { Json } from '../../terms.ts';

/**
 * Rows that the API answers with as they are have one description: the schema of the answer stands with the query, and the type of the row
 * follows from it.
 */
export type Row<Answer extends z.ZodType> = Dated<z.infer<Answer>>;

/** The driver reads times as dates; as JSON they are texts. */
type Dated<T> = [Json] extends [T]
  ? T
  : T extends z.infer<typeof instant>
    ? Date
    : T extends readonly (infer One)[]
      ? readonly Dated<One>[]
      : T extends object
        ? { readonly [Key in keyof T]: Dated<T[Key]> }
        : T;

/** A time inside a JSON column, which is a text for the driver too. */
export const instantText = z.iso.datetime({ offset: true });
export const instant = instantText.brand<'instant'>();

/** Data whose schema is described elsewhere: canonical records, payloads, details. */
export const anyJson = z.unknown() as z.ZodType<Json>;

/** Whole numbers whose names say what they count. */
export const counts = <Name extends string>(...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, z.int()])) as { [_ in Name]: z.ZodInt };
