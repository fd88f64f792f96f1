import fc from 'fast-check';
import {
  entriesOf,
  type FieldKind,
  fields,
  type ListName,
  listNames,
  type Table,
} from '../../src/core/canonical/fields.ts';
import { type Charge, decimal, type Guest, type Reservation, type Room } from '../../src/core/canonical/reservation.ts';

/** Canonical reservations as a partner could send them, without fields that only normalization sets. */

const text = fc
  .string({ minLength: 1, maxLength: 12 })
  .map((value) => value.toWellFormed().replaceAll('\0', '').trim())
  .filter((value) => value !== '');
const date = fc
  .date({ min: new Date('1920-01-01'), max: new Date('2090-01-01'), noInvalidDate: true })
  .map((value) => value.toISOString().slice(0, 10));
export const decimalArbitrary = fc
  .tuple(fc.bigInt({ min: -(10n ** 22n), max: 10n ** 22n }), fc.integer({ min: 0, max: 6 }))
  .map(([units, digits]) => decimal(`${units}e-${digits}`) ?? '0');
const whole = fc.integer({ min: 0, max: 20 });

const ofKind: Readonly<Record<FieldKind, fc.Arbitrary<unknown>>> = {
  text,
  verbatim: text,
  date,
  birth_date: date,
  decimal: decimalArbitrary,
  count: whole,
  integer: fc.integer({ min: -9, max: 9 }),
  boolean: fc.boolean(),
  flag: fc.constant(true),
  country: fc.constantFrom('PT', 'SE', 'NG', 'JP'),
  currency: fc.constantFrom('EUR', 'JPY', 'KWD'),
  status: fc.constantFrom('confirmed', 'checked_in', 'checked_out', 'cancelled', 'no_show'),
  json: fc.constantFrom({ tier: 'gold' }, { tier: 2, since: ['2020'] }),
};

/** The optional fields of a table, in its order; absent fields have no key. */
function present<Of>(table: Table): fc.Arbitrary<Of> {
  const own = entriesOf(table).filter(([, { derived, required }]) => !derived && !required);
  const shape = Object.fromEntries(own.map(([name, { kind }]) => [name, ofKind[kind]]));
  return fc.record(shape, { requiredKeys: [] }).map((made) => inOrder(Object.keys(shape), made) as Of);
}

const inOrder = (names: readonly string[], values: { readonly [name: string]: unknown }): object =>
  Object.fromEntries(names.filter((name) => name in values).map((name) => [name, values[name]]));

const notEmpty = (item: object): boolean => Object.keys(item).length > 0;
const listOf = <Of extends object>(table: ListName, maxLength: number) =>
  fc.array(present<Of>(table).filter(notEmpty), { maxLength });

const order = [...Object.keys(fields.reservation).filter((name) => name !== 'extra'), ...listNames, 'extra'];

export const reservationArbitrary: fc.Arbitrary<Reservation> = fc
  .record({
    id: text,
    days: fc.tuple(date, date).map(([one, other]) => (one < other ? [one, other] : [other, one])),
    status: ofKind.status,
    guests: listOf<Guest>('guests', 3),
    rooms: listOf<Room>('rooms', 2),
    charges: listOf<Charge>('charges', 3),
    optional: present<Partial<Reservation>>('reservation'),
    // The names that the mappings of the tests read.
    some: fc.option(fc.oneof(text, fc.integer(), fc.array(text)), { nil: undefined }),
  })
  .map(({ days: [check_in, check_out], optional: { extra: _, ...more }, some, ...needed }) => {
    return inOrder(order, {
      ...needed,
      check_in,
      check_out,
      ...more,
      ...(some !== undefined && { extra: { some } }),
    }) as Reservation;
  });
