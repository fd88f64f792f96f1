import type { Json, JsonObject } from '../../json.ts';
import { each, without } from './records.ts';
import type { Twist } from './twist.ts';

/** Each row is well-formed, and wrong like all the others: `rename:email`, `factor:100`. With `times`, the answers are right again afterwards. */
const accidents: { readonly [kind: string]: { readonly what: string; readonly twist: (of: string) => Twist } } = {
  rename: {
    what: 'rename:FIELD, called otherwise in all rows: mail instead of email',
    twist: (field) => {
      const name = otherNames[field] ?? `${field}_new`;
      return places(field, (item) => ({ ...without(item, field), [name]: item[field] ?? null }));
    },
  },
  lose: { what: 'lose:FIELD, missing in all rows', twist: (field) => places(field, (item) => without(item, field)) },
  factor: {
    what: 'factor:N, all total amounts N times too high',
    twist: (times) => set('total_amount', (amount) => Number((Number(amount) * Number(times)).toFixed(2))),
  },
  shift: {
    what: 'shift:DAYS, all stays so many days later',
    twist: (days) =>
      each((record) => ({
        ...record,
        check_in: later(record, 'check_in', Number(days)),
        check_out: later(record, 'check_out', Number(days)),
      })),
  },
  status: { what: 'status:WORD, the same in all rows', twist: (status) => set('status', () => status) },
  constant: { what: 'constant:FIELD, one value in all rows', twist: (field) => set(field, () => 'Mustermann') },
  mask: {
    what: 'mask:FIELD, stars in all rows',
    twist: (field) => set(field, (value) => `${String(value).slice(0, 1)}****`),
  },
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
  return each((record) => {
    if (record[field] !== undefined) return change(record);
    const lists = ['guests', 'rooms', 'charges'].filter((list) => Array.isArray(record[list]));
    return { ...record, ...Object.fromEntries(lists.map((list) => [list, inItems(record[list])])) };
  });
}

const set = (field: string, change: (value: Json) => Json): Twist =>
  places(field, (item) => ({ ...item, [field]: change(item[field] ?? null) }));

const later = (record: JsonObject, name: string, days: number): string =>
  new Date(Date.parse(String(record[name])) + days * 86_400_000).toISOString().slice(0, 10);
