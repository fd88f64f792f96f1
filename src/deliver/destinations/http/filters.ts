import { createHash } from 'node:crypto';

/** What a template can do to a value: {guest.email|lower|md5}. */
type Filter = (value: unknown, argument: string) => unknown;

export const filters: ReadonlyMap<string, Filter> = new Map<string, Filter>(
  Object.entries({
    text: (value) => (value === undefined ? undefined : textOf(value)),
    lower: (value) => onText(value, (text) => text.toLowerCase()),
    number: (value) => onText(value, (text) => (Number.isFinite(Number(text)) ? Number(text) : undefined)),
    upper: (value) => onText(value, (text) => text.toUpperCase()),
    md5: (value) => onText(value, (text) => createHash('md5').update(text).digest('hex')),
    sha256: (value) => onText(value, (text) => createHash('sha256').update(text).digest('hex')),
    /** Milliseconds since the epoch of a date at midnight UTC. */
    epoch_ms: (value) => onText(value, (text) => (Number.isNaN(Date.parse(text)) ? undefined : Date.parse(text))),
    /** One value for another: {guest.marketing_consent|pick:true=subscribed,none=transactional}; no value where none matches. */
    pick: (value, argument) => {
      const key = value === undefined ? 'none' : textOf(value);
      const [, to] =
        argument
          .split(',')
          .map((pair) => pair.split(/=(.*)/s))
          .find(([from]) => from === key) ?? [];
      return to === 'true' ? true : to === 'false' ? false : to === 'null' ? null : to;
    },
    /** A value that is too long is left out: a part of an address is another address. */
    upto: (value, argument) => onText(value, (text) => ([...text].length > Number(argument) ? undefined : text)),
    /** Overrides the `empty` of the request for one field: {guest.date_of_birth|empty:as_null}. */
    empty: (value) => value,
    /** At most this many characters, never cutting one in half: {guest.first_name|most:40}. */
    most: (value, argument) => onText(value, (text) => [...text].slice(0, Number(argument)).join('')),
    /** A UUID that is the same for the same text. */
    uuid: (value) => onText(value, uuidOf),
    /** A list, or one text, as quoted texts of a SOQL query: 'a','b'. */
    soql: (value) =>
      value === undefined
        ? undefined
        : (Array.isArray(value) ? value : [value]).map((one) => `'${textOf(one).replace(/[\\']/g, '\\$&')}'`).join(','),
    /** The inside of a quoted text of an OData query. */
    odata: (value) => onText(value, (text) => text.replaceAll("'", "''")),
    /** A condition of an OData query that one of a list meets: {items|odata_any:emailaddress1}. */
    odata_any: (value, argument) =>
      Array.isArray(value)
        ? value.map((one) => `${argument} eq '${textOf(one).replaceAll("'", "''")}'`).join(' or ')
        : undefined,
    /** A text around the value, which replaces the star: {guest.key|within:/contacts(key='*')}. */
    within: (value, argument) => onText(value, (text) => argument.replace('*', () => text)),
    /** A JSON text with its quotes. */
    quoted: (value) => onText(value, (text) => JSON.stringify(text)),
    /** A default for an absent value: {guest.last_name|or:Guest}. */
    or: (value, argument) => (value === undefined || value === '' ? argument : value),
  }),
);

const onText = (value: unknown, change: (text: string) => unknown): unknown =>
  value === undefined ? undefined : change(textOf(value));

function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Exact numbers are raw JSON; their text is the number. */
export function textOf(value: unknown): string {
  if (typeof value === 'object' && value !== null) return JSON.stringify(value);
  return String(value);
}
