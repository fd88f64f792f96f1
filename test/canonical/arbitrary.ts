import fc from 'fast-check';
import { decimal } from '../../src/canonical/decimal.ts';
import type { Charge, Guest, Reservation, Room } from '../../src/canonical/reservation.ts';

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

/** Keys in the order of the schema; absent fields have no key. */
function present<Of extends object>(
  shape: { [Key in keyof Of]-?: fc.Arbitrary<NonNullable<Of[Key]>> },
): fc.Arbitrary<Of> {
  return fc.record(shape as Record<string, fc.Arbitrary<unknown>>, { requiredKeys: [] }).map((made) => {
    const ordered: { [key: string]: unknown } = {};
    for (const key of Object.keys(shape)) if (key in made) ordered[key] = made[key];
    return ordered as Of;
  });
}

const notEmpty = (item: object): boolean => Object.keys(item).length > 0;

const guest = present<Omit<Guest, 'email_raw' | 'email_proxy' | 'phone_raw'>>({
  guest_id: text,
  first_name: text,
  last_name: text,
  email: text,
  phone: text,
  date_of_birth: date,
  nationality: fc.constantFrom('PT', 'SE', 'NG', 'JP'),
  document_type: text,
  document_number: text,
  marketing_consent: fc.boolean(),
  extra: fc.constantFrom({ tier: 'gold' }, { tier: 2, since: ['2020'] }),
}).filter(notEmpty);

const room = present<Room>({
  room_type: text,
  board: text,
  rate_code: text,
  start_date: date,
  end_date: date,
  adults: whole,
  children: whole,
}).filter(notEmpty);

const charge = present<Charge>({
  code: text,
  description: text,
  amount: decimalArbitrary,
  quantity: fc.integer({ min: -9, max: 9 }),
}).filter(notEmpty);

type Optional = 'confirmation_number' | 'booking_date' | 'channel' | 'source' | 'total_amount' | 'currency' | 'extra';

const optional = present<Pick<Reservation, Optional>>({
  confirmation_number: text,
  booking_date: date,
  channel: text,
  source: text,
  total_amount: decimalArbitrary,
  currency: fc.constantFrom('EUR', 'JPY', 'KWD'),
  extra: fc.record({ some: fc.oneof(text, fc.integer(), fc.array(text)) }, { noNullPrototype: true }),
});

const order =
  'id confirmation_number check_in check_out booking_date status channel source total_amount currency guests rooms charges extra'.split(
    ' ',
  );

export const reservationArbitrary: fc.Arbitrary<Reservation> = fc
  .record({
    id: text,
    days: fc.tuple(date, date).map(([one, other]) => (one < other ? [one, other] : [other, one])),
    status: fc.constantFrom('confirmed', 'checked_in', 'checked_out', 'cancelled', 'no_show'),
    guests: fc.array(guest, { maxLength: 3 }),
    rooms: fc.array(room, { maxLength: 2 }),
    charges: fc.array(charge, { maxLength: 3 }),
    optional,
  })
  .map(({ days: [check_in, check_out], optional: more, ...needed }) => {
    const all: { [key: string]: unknown } = { ...needed, check_in, check_out, ...more };
    return Object.fromEntries(order.filter((key) => key in all).map((key) => [key, all[key]])) as Reservation;
  });
