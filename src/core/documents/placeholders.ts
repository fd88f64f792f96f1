import { closest } from '../canonical/closest.ts';
import { type TextFinding, textsIn } from './checked.ts';

/** The placeholders of a connector's request. A value that is a single placeholder keeps its type: a list stays a list. */
export const requestPlaceholders: Readonly<Record<string, string>> = {
  'window.from': 'first day of the window, YYYY-MM-DD in the property’s time zone',
  'window.to': 'last day of the window, YYYY-MM-DD in the property’s time zone',
  'window.before':
    'the day before the first day of the window, for a partner whose range does not include its start (arriving_after, checkin_gt)',
  'window.after':
    'the day after the last day of the window, for a partner whose range does not include its end (arrival_before, checkin_lt)',
  'window.days': 'the number of days of the window, for a partner that takes a first day and a number',
  'window.from_utc': 'the moment the first day begins at the property, in UTC (2026-03-29T00:00:00Z)',
  'window.to_utc': 'the moment the last day ends at the property, in UTC',
  since:
    'for lists by modification time: when the last complete run of this sync began, minus `since.overlap`, in UTC (2026-03-29T00:00:00Z)',
  since_utc: 'the same as {since}; with a notation, the time is written in UTC, not in the property’s time zone',
  now: 'for lists by modification time with an upper bound: when the run began, in UTC; with `since.step`, the end of the step; in other lists the time of the request',
  now_utc: 'the same as {now}; with a notation, the time is written in UTC, not in the property’s time zone',
  'sync.type': 'pre_stay, stay or post_stay',
  'sync.status':
    'the statuses of the sync as the integration spells them: a list in a body, a repeated parameter in a query; left out if the sync has none',
  'sync.status.joined': 'the same as one text, joined with commas',
  brand_id: 'the brand_id of the integration',
};

/** For the request of one reservation. */
export const singlePlaceholders: Readonly<Record<string, string>> = {
  id: 'the id of the reservation',
  'id.0': 'the first part of the id, with `split`',
  'id.1': 'the second part of the id',
  'id.2': 'the third part of the id',
  brand_id: 'the brand_id of the integration',
};

/** For the requests of related tables. */
export const relatedPlaceholders: Readonly<Record<string, string>> = {
  ids: 'the ids of the chunk: a list in a body, a repeated parameter in a query',
  'ids.joined': 'the same as one text, with commas between',
  brand_id: 'the brand_id of the integration',
};

/** For the call that acknowledges a page. */
export const acknowledgePlaceholders: Readonly<Record<string, string>> = {
  ids: 'the ids of the page’s reservations: a list in a body, a repeated parameter in a query',
  'ids.joined': 'the same as one text, with commas between',
  id: 'the id of one reservation: an item of a list that uses it is repeated for each id; elsewhere, one call is made for each id',
  now: 'the time of the call, in UTC (2026-03-29T00:00:00Z)',
  brand_id: 'the brand_id of the integration',
};

/** For the answer to an event in XML. */
export const answerPlaceholders: Readonly<Record<string, string>> = {
  now: 'the time of the answer, in UTC (2026-03-29T00:00:00Z)',
  echo_token: 'the EchoToken of the event’s root element',
};

/** For a webhook subscription that the partner's API takes. */
export const subscriptionPlaceholders: Readonly<Record<string, string>> = {
  url: 'the brand’s endpoint; with the secret as its query parameter, if the sender is verified by one',
  secret: 'the brand’s webhook secret',
  brand_id: 'the brand_id of the integration',
};

/** For the subscription of a stream. */
export const streamPlaceholders: Readonly<Record<string, string>> = {
  authorization: 'the Authorization header that the brand’s `pull.auth` makes, such as `Bearer …`',
  key: 'the application key (`stream.key` of the integration)',
  'key.sha256': 'the SHA-256 of the application key, in hexadecimal digits',
  chain: '`stream.chain` of the integration',
  offset: 'the offset to resume from; empty for the first connection',
};

/** For the string that an hmac signs. */
export const signPlaceholders: Readonly<Record<string, string>> = {
  timestamp: 'Unix time in seconds, at the moment of this attempt',
  nonce: 'random, new at each attempt',
  method: 'GET or POST',
  path_query: 'path and query as sent on the wire',
  host: 'host and port of the address',
  path: 'the path as sent on the wire',
  query: 'the query as sent on the wire, without the question mark',
  body_sha256: 'SHA-256 of the body as sent, in base64',
  body: 'the body as sent on the wire, empty for GET',
};

/** For the headers that carry an hmac. */
export const signedHeaderPlaceholders: Readonly<Record<string, string>> = {
  ...signPlaceholders,
  signature: 'the signature, encoded',
};

/** For the text that a webhook's signature covers. */
export const webhookSignPlaceholders: Readonly<Record<string, string>> = {
  timestamp: 'the time of the request, as its header states it',
  method: 'POST',
  url: 'the whole address of the endpoint, as it was issued, with the query of the request',
  'header.NAME': 'a header of the request, such as {header.Date}; empty if it has none',
  body: 'the raw body',
  body_base64: 'the raw body as Base64 in lines of 60 characters, each with a line break, as Ruby writes it',
};

const form = /\{([A-Za-z_][\w.]*)(?::([^{}]+))?\}/g;
/** Placeholders that may name a notation: {window.from:DD/MM/YYYY}. */
const dated: ReadonlySet<string> = new Set(
  ['from', 'to', 'before', 'after', 'from_utc', 'to_utc']
    .map((name) => `window.${name}`)
    .concat('since', 'since_utc', 'now', 'now_utc'),
);
const dateFormat =
  /^(?:epoch_s|epoch_ms|iso|(?:YYYY|YY|MMMM|MMM|MM|M|DD|D|HH|H|hh|h|mm|ss|SSS|A|Z|T|\[[^\]]*\]|[^\p{L}[\]])+)$/u;

/** The names of the placeholders in a text. Braces around anything but a name are plain text: a query may contain JSON. */
export function placeholdersIn(text: string): { name: string; offset: number; format?: string }[] {
  // ${env:X} has a colon and $ before the brace: it is a reference and no placeholder.
  return Array.from(text.matchAll(form), ({ 1: name = '', 2: format, index: offset }) =>
    format === undefined ? { name, offset } : { name, offset, format },
  ).filter(({ name, offset, format }) => text[offset - 1] !== '$' && (format === undefined || dated.has(name)));
}

/** The names of all placeholders in the texts of a value. */
export function placeholderNames(value: unknown): string[] {
  return [...textsIn(value)].flatMap(({ text }) => placeholdersIn(text).map(({ name }) => name));
}

/** The first placeholder of the text that is not among the known ones. */
export function checkPlaceholders(text: string, known: Readonly<Record<string, string>>): TextFinding | undefined {
  const names = Object.keys(known);
  const used = placeholdersIn(text);
  const unknown = used.find(({ name }) => !names.includes(name));
  if (unknown === undefined) {
    const wrong = used.find(({ format }) => format !== undefined && !dateFormat.test(format));
    const notations = 'parts such as YYYY, MM, DD, HH, mm, ss, text in [brackets], or epoch_s, epoch_ms, iso';
    return wrong && { message: `${wrong.format} is not a notation of dates; use ${notations}`, offset: wrong.offset };
  }
  const near = closest(unknown.name, names);
  const all = names.map((name) => `{${name}}`).join(', ');
  const listed = near === undefined ? `; known here: ${all}. For braces as text write { ${unknown.name} }` : '';
  const message = `{${unknown.name}} is not a placeholder here${listed}`;
  return { message, offset: unknown.offset, suggestion: near && `{${near}}` };
}
