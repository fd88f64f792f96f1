import { isObject, type Json, type JsonObject } from '../../json.ts';
import { isRealDate } from '../../simulate/query.ts';
import type { Evidence } from '../evidence.ts';
import { formOf } from '../redact.ts';
import { broken, holds, type Level, type Rule, unseen, type Verdict } from '../rule.ts';
import { nothing } from './calls.ts';

/** The required form of a value. */
interface Kind {
  readonly say: string;
  readonly fits: (value: Json) => boolean;
}

const kinds = {
  text: { say: 'a string', fits: (value) => typeof value === 'string' },
  name: { say: 'a non-empty string', fits: (value) => typeof value === 'string' && value !== '' },
  date: { say: 'a date, YYYY-MM-DD', fits: (value) => typeof value === 'string' && isRealDate(value) },
  amount: { say: 'a JSON number', fits: (value) => typeof value === 'number' },
  count: { say: 'a whole number, at least 0', fits: (value) => Number.isInteger(value) && Number(value) >= 0 },
  integer: { say: 'a whole number', fits: (value) => Number.isInteger(value) },
  yesNo: { say: 'true or false', fits: (value) => typeof value === 'boolean' },
  currency: {
    say: 'a three-letter currency code in capitals',
    fits: (value) => typeof value === 'string' && /^[A-Z]{3}$/.test(value),
  },
  country: {
    say: 'a two-letter country code',
    fits: (value) => typeof value === 'string' && /^[A-Za-z]{2}$/.test(value),
  },
  email: {
    say: 'an e-mail address',
    fits: (value) => typeof value === 'string' && /^[^\s@,;]+@[^\s@,;]+\.[^\s@,;]*[^\s@,;.]$/.test(value),
  },
  phone: {
    say: 'an international number with a leading +',
    fits: (value) => typeof value === 'string' && /^\+[1-9][\d\s().-]{5,20}$/.test(value),
  },
  status: {
    say: 'confirmed, checked-in, checked-out, cancelled or no-show, in any common spelling',
    fits: (value) =>
      typeof value === 'string' && /^(confirmed|checked[-_ ]?(in|out)|cancell?ed|no[-_ ]?show)$/i.test(value),
  },
} as const satisfies Record<string, Kind>;

type Field = readonly [name: string, kind: keyof typeof kinds, level: Level, presence?: 'required'];

const reservationFields: readonly Field[] = [
  ['id', 'name', 'must', 'required'],
  ['confirmation_number', 'text', 'must', 'required'],
  ['check_in', 'date', 'must', 'required'],
  ['check_out', 'date', 'must', 'required'],
  ['booking_date', 'date', 'must'],
  ['status', 'status', 'should', 'required'],
  ['channel', 'text', 'must'],
  ['source', 'text', 'must'],
  ['total_amount', 'amount', 'must'],
  ['currency', 'currency', 'must'],
];
const nestedFields: Readonly<Record<string, readonly Field[]>> = {
  guests: [
    ['first_name', 'text', 'must'],
    ['last_name', 'text', 'must'],
    ['email', 'email', 'should'],
    ['phone', 'phone', 'should'],
    ['date_of_birth', 'date', 'must'],
    ['nationality', 'country', 'must'],
    ['document_type', 'text', 'must'],
    ['document_number', 'text', 'must'],
    ['marketing_consent', 'yesNo', 'must'],
  ],
  rooms: [
    ['room_type', 'text', 'must'],
    ['board', 'text', 'must'],
    ['rate_code', 'text', 'must'],
    ['start_date', 'date', 'must'],
    ['end_date', 'date', 'must'],
    ['adults', 'count', 'must'],
    ['children', 'count', 'must'],
  ],
  charges: [
    ['code', 'text', 'must'],
    ['description', 'text', 'must'],
    ['amount', 'amount', 'must'],
    ['quantity', 'integer', 'must'],
  ],
};

export const recordRules: readonly Rule<Evidence>[] = [
  ...Object.keys(nestedFields).map(
    (part): Rule<Evidence> => ({
      id: `record.${part}`,
      level: 'must',
      title: `Every reservation in the list contains its ${part}`,
      change: `Put ${part} as an array into each reservation, empty if there are none. We can also read flat rows or another name: tell us, and we put it into the connector.`,
      judge: ({ list, listed }) => {
        const records = listed?.records ?? [];
        if (records.length === 0) return unseen(nothing(listed?.records, 'at all'));
        const without = records.filter((record) => !Array.isArray(record[part])).length;
        return without > 0
          ? broken(`${without} of ${records.length} have no ${part} array.`, list.number)
          : holds(`In all ${records.length}.`, list.number);
      },
    }),
  ),
  ...reservationFields.map((field) => fieldRule('record', field, (record) => [record])),
  {
    id: 'record.stay',
    level: 'must',
    title: 'check_out is not before check_in',
    change: 'Correct these stays, or the export that swaps the dates.',
    judge: ({ list, listed }) => {
      const dated = (listed?.records ?? []).filter(
        ({ check_in, check_out }) => kinds.date.fits(check_in ?? null) && kinds.date.fits(check_out ?? null),
      );
      if (dated.length === 0) return unseen(nothing(listed?.records, 'with two dates'));
      const bad = dated.filter(({ check_in, check_out }) => String(check_out) < String(check_in));
      return bad.length > 0
        ? broken(`${bad.length} of ${dated.length}, such as ${String(bad[0]?.id)}.`, list.number)
        : holds(`${dated.length} stays.`, list.number);
    },
  },
  ...Object.entries(nestedFields).flatMap(([part, fields]) =>
    fields.map((field) =>
      fieldRule(part, field, (record) =>
        Array.isArray(record[part])
          ? (record[part] as Json[]).filter((item): item is JsonObject => isObject(item))
          : [],
      ),
    ),
  ),
];

function fieldRule(
  part: string,
  [name, kind, level, presence]: Field,
  holders: (record: JsonObject) => readonly JsonObject[],
): Rule<Evidence> {
  const { say, fits } = kinds[kind] as Kind;
  const where = part === 'record' ? name : `${part}[].${name}`;
  return {
    id: `${part}.${name}`,
    level,
    title: `${where} is ${say}`,
    change:
      level === 'must'
        ? `Write ${where} as ${say}; omit it if there is none.`
        : `We normalize it, but it is better to send ${where} as ${say}.`,
    judge: ({ list, listed }): Verdict => {
      const all = (listed?.records ?? []).flatMap(holders);
      if (all.length === 0)
        return unseen(part === 'record' ? nothing(listed?.records, 'at all') : `No ${part} to look at.`);
      // Records with other field names (flat rows, for example) say nothing about this field.
      if (part === 'record' && all.every(isForeign))
        return unseen('The records use other names; the connector maps them.');
      const given = all.filter((one) => one[name] !== undefined && one[name] !== null);
      const lacking = all.length - given.length;
      if (presence === 'required' && lacking > 0) return broken(`Missing in ${lacking} of ${all.length}.`, list.number);
      if (given.length === 0) return unseen('Never given.');
      const bad = given.filter((one) => !fits(one[name] ?? null));
      if (bad.length === 0) return holds(`${given.length} of ${all.length} have it.`, list.number);
      return broken(`${bad.length} of ${given.length}, such as ${sample(bad[0]?.[name] ?? null)}.`, list.number);
    },
  };
}

function isForeign(record: JsonObject): boolean {
  return record.id === undefined && Object.keys(nestedFields).every((part) => record[part] === undefined);
}

/** The type and form of a value, never the value itself. */
function sample(value: Json): string {
  if (typeof value === 'string')
    return value === '' ? 'an empty string' : `the string ${JSON.stringify(formOf(value.slice(0, 40)))}`;
  if (typeof value === 'number') return `the number ${formOf(String(value))}`;
  return Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : String(value);
}
