import type { Json, LocalDate } from '../terms.ts';
import type { Decimal } from './decimal.ts';
import type { FieldKind, fields, Table } from './fields.ts';
import type { Status } from './status.ts';

/**
 * The canonical record: every PMS is mapped to it and every destination receives it. A field the partner did not send is absent, never
 * null; the three lists are always present. Meanings and examples are in fields.ts.
 */

interface Values extends Record<FieldKind, unknown> {
  text: string;
  verbatim: string;
  date: LocalDate;
  birth_date: LocalDate;
  decimal: Decimal;
  count: number;
  integer: number;
  boolean: boolean;
  flag: true;
  country: string;
  currency: string;
  status: Status;
  json: { [name: string]: Json };
}

type Fields<Name extends Table> = (typeof fields)[Name];
type ValueOf<Of> = Of extends { readonly kind: infer Kind extends FieldKind } ? Values[Kind] : never;
type Needed<Of> = { -readonly [Key in keyof Of as Of[Key] extends { required: true } ? Key : never]: ValueOf<Of[Key]> };
type Optional<Of> = {
  -readonly [Key in keyof Of as Of[Key] extends { required: true } ? never : Key]?: ValueOf<Of[Key]> | undefined;
};

export type Guest = Optional<Fields<'guests'>>;
export type Room = Optional<Fields<'rooms'>>;
export type Charge = Optional<Fields<'charges'>>;
export type Reservation = Needed<Fields<'reservation'>> &
  Optional<Fields<'reservation'>> & { guests: Guest[]; rooms: Room[]; charges: Charge[] };
