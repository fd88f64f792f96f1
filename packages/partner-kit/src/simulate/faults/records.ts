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
  no_guests: { what: 'guests are missing', twist: () => lose('guests') },
  no_rooms: { what: 'rooms are missing', twist: () => lose('rooms') },
  no_charges: { what: 'charges are missing', twist: () => lose('charges') },
  no_confirmation: { what: 'confirmation_number is missing', twist: () => lose('confirmation_number') },
  numeric_id: wrong('id is a number', 'id', (id) => Number(id.replace(/\D/g, ''))),
  dates_dmy: wrong('check_in as DD/MM/YYYY', 'check_in', toDmy),
  dates_with_time: wrong('check_out as a date with a time', 'check_out', (date) => `${date}T12:00:00Z`),
  booking_date_epoch: wrong('booking_date as a number', 'booking_date', (date) => Date.parse(date) / 1000),
  reversed_stay: {
    what: 'check_out is before check_in',
    twist: () => ({
      record: (record) => ({ ...record, check_in: record.check_out ?? null, check_out: record.check_in ?? null }),
    }),
  },
  foreign_status: wrong('a proprietary status', 'status', () => 'CNF*'),
  amount_text: wrong('total_amount as text', 'total_amount', (amount) => amount),
  currency_sign: wrong('currency as a symbol', 'currency', () => '€'),
  phone_local: wrong('phone numbers without a country code', 'phone', (phone) => phone.replace(/^\+\d\d/, '0')),
  email_broken: wrong('e-mail addresses without a host', 'email', (email) => email.split('@')[0] ?? ''),
  birthday_dmy: wrong('date_of_birth as DD/MM/YYYY', 'date_of_birth', toDmy),
  nationality_alpha3: wrong('nationality with three letters', 'nationality', (code) => `${code}X`),
  consent_text: wrong('marketing_consent as Y or N', 'marketing_consent', (yes) => (yes === 'true' ? 'Y' : 'N')),
  adults_text: wrong('adults as text', 'adults', (count) => count),
  room_dates_dmy: wrong('start_date as DD/MM/YYYY', 'start_date', toDmy),
  charge_text: wrong('amount of a charge as text', 'amount', (amount) => `${amount} EUR`),
  quantity_fraction: wrong('quantity with a fraction', 'quantity', (count) => Number(count) + 0.5),
} as const satisfies Record<string, FaultEntry>;

function wrong(what: string, field: string, change: (value: string) => Json): FaultEntry {
  return { what, twist: () => set(field, change) };
}

function toDmy(date: string): string {
  return date.split('-').reverse().join('/');
}

/** Lists that page wrongly. */
export const listFaults = {
  shift: { what: 'a new booking shifts the list between two pages', twist: () => ({ list: { shift: true } }) },
  wrong_total: { what: 'total is wrong', value: ['by how many', 5], twist: (totalBy) => ({ list: { totalBy } }) },
  cap_limit: {
    what: 'the limit is capped silently',
    value: ['rows', 10],
    twist: (maxLimit) => ({ list: { maxLimit } }),
  },
  first_page_only: { what: 'every page is the first page', twist: () => ({ list: { firstPageOnly: true } }) },
  cursor_loop: { what: 'the last cursor leads back to the start', twist: () => ({ list: { cursorLoop: true } }) },
  endless: { what: 'no page is ever short: the list starts over', twist: () => ({ list: { endless: true } }) },
  duplicate: { what: 'the last row of a page is repeated', twist: () => ({ list: { duplicate: true } }) },
  ignores_range: { what: 'the dates are ignored', twist: () => ({ list: { ignoreRange: true } }) },
  ignores_status: { what: 'the status is ignored', twist: () => ({ list: { ignoreStatus: true } }) },
} as const satisfies Record<string, FaultEntry>;

/** Each row is well-formed, and wrong like all the others: `rename:email`, `factor:100`. With `times`, the answers are right again afterwards. */
const accidents: { readonly [kind: string]: { readonly what: string; readonly twist: (of: string) => Twist } } = {
  rename: {
    what: 'rename:FIELD, called otherwise in all rows: mail instead of email',
    twist: (field) => {
      const name = otherNames[field] ?? `${field}_new`;
      return places(field, (item) => ({ ...without(item, field), [name]: item[field] ?? null }));
    },
  },
  lose: { what: 'lose:FIELD, missing in all rows', twist: lose },
  factor: {
    what: 'factor:N, all total amounts N times too high',
    twist: (times) => set('total_amount', (amount) => Number((Number(amount) * Number(times)).toFixed(2))),
  },
  shift: {
    what: 'shift:DAYS, all stays so many days later',
    twist: (days) => ({
      record: (record) => ({
        ...record,
        check_in: later(record, 'check_in', Number(days)),
        check_out: later(record, 'check_out', Number(days)),
      }),
    }),
  },
  status: { what: 'status:WORD, the same in all rows', twist: (status) => set('status', () => status) },
  constant: { what: 'constant:FIELD, one value in all rows', twist: (field) => set(field, () => 'Mustermann') },
  mask: { what: 'mask:FIELD, stars in all rows', twist: (field) => set(field, (value) => `${value.slice(0, 1)}****`) },
};

const otherNames: { readonly [field: string]: string } = { email: 'mail', phone: 'telephone', last_name: 'surname' };

export const accidentForms = Object.values(accidents).map(({ what }) => what);

/** The twist of an accident such as rename:email; undefined if there is no such kind. */
export function accidentTwist(accident: string): Twist | undefined {
  const [kind = '', of = ''] = accident.split(/:(.*)/s);
  const needsNumber = kind === 'factor' || kind === 'shift';
  if (of === '' || (needsNumber && !Number.isFinite(Number(of)))) return undefined;
  return accidents[kind]?.twist(of);
}

/** Changes what has the field: the reservation, or the guests, rooms and charges in it. */
function places(field: string, change: (item: JsonObject) => JsonObject): Twist {
  const inItems = (list: Json | undefined): Json =>
    (list as JsonObject[]).map((item) => (item[field] === undefined ? item : change(item)));
  const record = (record: JsonObject) => {
    if (record[field] !== undefined) return change(record);
    const lists = ['guests', 'rooms', 'charges'].filter((list) => Array.isArray(record[list]));
    return { ...record, ...Object.fromEntries(lists.map((list) => [list, inItems(record[list])])) };
  };
  return { record };
}

function set(field: string, change: (value: string) => Json): Twist {
  return places(field, (item) => ({ ...item, [field]: change(String(item[field])) }));
}

function lose(field: string): Twist {
  return places(field, (item) => without(item, field));
}

function without(record: JsonObject, name: string): JsonObject {
  const { [name]: _gone, ...rest } = record;
  return rest;
}

const later = (record: JsonObject, name: string, days: number): string =>
  new Date(Date.parse(String(record[name])) + days * 86_400_000).toISOString().slice(0, 10);
