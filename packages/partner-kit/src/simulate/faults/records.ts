import type { Json, JsonObject } from '../../json.ts';
import type { FaultEntry, Twist } from './twist.ts';

/** Reservations that violate the description. Each breaks one field, in every record unless noted. */
export const recordFaults = {
  bad_record: {
    what: 'one record in N has no id and impossible dates',
    value: ['N', 20],
    twist: (every) => ({
      record: (record, index) =>
        index % every === every - 1 ? { ...without(record, 'id'), check_in: '2026-02-31' } : record,
    }),
  },
  no_guests: { what: 'guests are missing', twist: () => each((record) => without(record, 'guests')) },
  no_rooms: { what: 'rooms are missing', twist: () => each((record) => without(record, 'rooms')) },
  no_charges: { what: 'charges are missing', twist: () => each((record) => without(record, 'charges')) },
  no_confirmation: {
    what: 'confirmation_number is missing',
    twist: () => each((record) => without(record, 'confirmation_number')),
  },
  numeric_id: { what: 'id is a number', twist: () => field('id', (id) => Number(String(id).replace(/\D/g, ''))) },
  dates_dmy: {
    what: 'check_in as DD/MM/YYYY',
    twist: () => field('check_in', (date) => String(date).split('-').reverse().join('/')),
  },
  dates_with_time: {
    what: 'check_out as a date with a time',
    twist: () => field('check_out', (date) => `${date}T12:00:00Z`),
  },
  booking_date_epoch: {
    what: 'booking_date as a number',
    twist: () => field('booking_date', (date) => Date.parse(String(date)) / 1000),
  },
  reversed_stay: {
    what: 'check_out is before check_in',
    twist: () =>
      each((record) => ({ ...record, check_in: record.check_out ?? null, check_out: record.check_in ?? null })),
  },
  foreign_status: { what: 'a proprietary status', twist: () => field('status', () => 'CNF*') },
  amount_text: { what: 'total_amount as text', twist: () => field('total_amount', (amount) => `${amount}`) },
  currency_sign: { what: 'currency as a symbol', twist: () => field('currency', () => '€') },
  phone_local: {
    what: 'phone numbers without a country code',
    twist: () => nested('guests', 'phone', (phone) => String(phone).replace(/^\+\d\d/, '0')),
  },
  email_broken: {
    what: 'e-mail addresses without a host',
    twist: () => nested('guests', 'email', (email) => String(email).split('@')[0] ?? ''),
  },
  birthday_dmy: {
    what: 'date_of_birth as DD/MM/YYYY',
    twist: () => nested('guests', 'date_of_birth', (date) => String(date).split('-').reverse().join('/')),
  },
  nationality_alpha3: {
    what: 'nationality with three letters',
    twist: () => nested('guests', 'nationality', (code) => `${code}X`),
  },
  consent_text: {
    what: 'marketing_consent as Y or N',
    twist: () => nested('guests', 'marketing_consent', (yes) => (yes === true ? 'Y' : 'N')),
  },
  adults_text: { what: 'adults as text', twist: () => nested('rooms', 'adults', (count) => String(count)) },
  room_dates_dmy: {
    what: 'start_date as DD/MM/YYYY',
    twist: () => nested('rooms', 'start_date', (date) => String(date).split('-').reverse().join('/')),
  },
  charge_text: {
    what: 'amount of a charge as text',
    twist: () => nested('charges', 'amount', (amount) => `${amount} EUR`),
  },
  quantity_fraction: {
    what: 'quantity with a fraction',
    twist: () => nested('charges', 'quantity', (count) => Number(count) + 0.5),
  },
} as const satisfies Record<string, FaultEntry>;

export function each(change: (record: JsonObject) => JsonObject): Twist {
  return { record: change };
}

function field(name: string, change: (value: Json) => Json): Twist {
  return each((record) => (record[name] === undefined ? record : { ...record, [name]: change(record[name]) }));
}

function nested(list: string, name: string, change: (value: Json) => Json): Twist {
  return field(list, (items) =>
    Array.isArray(items)
      ? items.map((item) => {
          const inner = item as JsonObject;
          return inner[name] === undefined ? item : { ...inner, [name]: change(inner[name]) };
        })
      : items,
  );
}

export function without(record: JsonObject, name: string): JsonObject {
  const { [name]: _gone, ...rest } = record;
  return rest;
}
