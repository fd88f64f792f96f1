import type { JsonObject } from '../../src/terms.ts';
import type { Accident } from '../history/history.ts';
import { accidentBrand } from './brands.ts';

type Guests = readonly { readonly [field: string]: string }[];

/** What can be wrong in all rows of a list at once. */
const accidents = {
  cents: (row) => ({ ...row, total_amount: Number(row.total_amount) * 100 }),
  cancelled: (row) => ({ ...row, status: 'cancelled' }),
  late: (row) => ({ ...row, check_in: dayAfter(row.check_in), check_out: dayAfter(row.check_out) }),
  lost_guests: ({ guests: _, ...row }) => row,
  no_guests: (row) => ({ ...row, guests: [] }),
  renamed_email: (row) => ({
    ...row,
    guests: (row.guests as Guests | undefined)?.map(({ email = '', ...guest }) => ({ ...guest, mail: email })) ?? [],
  }),
} as const satisfies Record<string, (row: JsonObject) => JsonObject>;

export type AccidentKind = keyof typeof accidents;
export const accidentKinds = Object.keys(accidents) as AccidentKind[];

export const damaged = (row: JsonObject, kinds: readonly AccidentKind[]): JsonObject =>
  kinds.reduce<JsonObject>((was, kind) => accidents[kind](was), row);

const dayAfter = (date: unknown): string => new Date(Date.parse(String(date)) + 86_400_000).toISOString().slice(0, 10);

/** Bookings of this brand are never cancelled or moved, cost less than 1,000, and have a guest. */
const isDamaged: Accident['isDamaged'] = (record, before) => {
  const guests = record.guests as Guests;
  const had = (before?.guests ?? []) as Guests;
  return (
    Number(record.total_amount) > 1_000 ||
    record.status === 'cancelled' ||
    (before !== undefined && before.check_in !== record.check_in) ||
    guests.length === 0 ||
    (had.some(({ email }) => email) && !guests.some(({ email }) => email))
  );
};

export const accident: Accident = { integration: accidentBrand, isDamaged };
