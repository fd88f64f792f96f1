import { createHash } from 'node:crypto';
import type { Json } from '../../../../terms.ts';

/**
 * Bodies and addresses as data. In a text, {path} is replaced by a value of the message. A text that is one placeholder becomes
 * that value with its type; without a value, the key or list item is left out. A filter after | changes the value. An object with the
 * key `?` is left out unless that key has a value. There are deliberately no other conditions and no loops: those belong in another
 * operation or in the transforms.
 */
export type Scope = { readonly [root: string]: unknown };

interface TemplateProblem {
  readonly path: (string | number)[];
  readonly message: string;
  readonly offset: number;
}

const roots = [
  'type',
  'integration',
  'brand_id',
  'event',
  'epoch',
  'version',
  'idempotency_key',
  'changed_at',
  'data',
  'guest',
  'former',
  'companion',
  'stay',
  'moment',
  'found',
  'may_have_arrived',
  'with',
  'items',
] as const;

type Read = (scope: Scope) => unknown;
type Piece = string | Read;

/** What a body holds for a value that the record does not have. */
export const empties = ['left_out', 'as_null', 'as_text'] as const;
type Empty = (typeof empties)[number];
const isEmpty = (text: string): text is Empty => (empties as readonly string[]).includes(text);

/**
 * Whether the body empties a value that is absent. A stay belongs to us as a whole. A person may hold values of others, so only what the
 * record had before is emptied there.
 */
function isEmptied(path: readonly string[], { guest, empties_guest }: Scope): boolean {
  const [root, field = ''] = path;
  if (root !== 'guest') return root === 'data' || root === 'stay';
  // Worked out by us as a whole.
  if (field === 'history') return (guest as { history?: object } | undefined)?.history !== undefined;
  return empties_guest === true || (guest as { lost?: ReadonlySet<string> } | undefined)?.lost?.has(field) === true;
}

/** `${…}` is a reference to a secret, which is resolved before a template is filled. */
const placeholder = /(?<!\$)\{([^{}]*)\}/g;
const pathForm = /^[A-Za-z_]\w*(?:\.(?:\w+|-))*$/;

interface Compiled {
  readonly pieces: Piece[];
  readonly problems: Omit<TemplateProblem, 'path'>[];
  /** The path of the last placeholder, and its own `empty`. */
  readonly last: { path: readonly string[]; empty?: Empty };
}

function compileText(text: string): Compiled {
  const pieces: Piece[] = [];
  const last: { path: readonly string[]; empty?: Empty } = { path: [] };
  const problems: Omit<TemplateProblem, 'path'>[] = [];
  let end = 0;
  for (const match of text.matchAll(placeholder)) {
    if (match.index > end) pieces.push(text.slice(end, match.index));
    end = match.index + match[0].length;
    const [path = '', ...calls] = (match[1] ?? '').split('|');
    const offset = match.index + 1;
    const root = path.split('.')[0] ?? '';
    if (!pathForm.test(path)) problems.push({ message: `{${match[1]}} is not a path such as {data.id}`, offset });
    else if (!roots.some((known) => known === root)) {
      problems.push({ message: `there is no ${root}; a path begins with one of ${roots.join(', ')}`, offset });
    }
    last.path = path.split('.');
    let read = reader(last.path);
    for (const call of calls) {
      const [name = '', argument = ''] = call.split(/:(.*)/s);
      const filter = filters.get(name);
      if (filter === undefined) {
        problems.push({ message: `there is no filter ${name}; there are ${[...filters.keys()].join(', ')}`, offset });
        continue;
      }
      if (name === 'empty') {
        if (!isEmpty(argument)) problems.push({ message: `empty is one of ${empties.join(', ')}`, offset });
        else last.empty = argument;
      }
      const inner = read;
      read = (scope) => filter(inner(scope), argument);
    }
    pieces.push(read);
  }
  if (end < text.length) pieces.push(text.slice(end));
  return { pieces, problems, last };
}

function emptying(read: Read, path: readonly string[], empty: Empty): Read {
  if (empty === 'left_out') return read;
  const unfiltered = reader(path);
  return (scope) => {
    const value = read(scope);
    // A value that a filter left out is not absent.
    const isAbsent = value === undefined && unfiltered(scope) === undefined;
    return isAbsent && isEmptied(path, scope) ? (empty === 'as_null' ? null : '') : value;
  };
}

export function reader(parts: readonly string[]) {
  return (from: unknown): unknown => {
    let value = from;
    for (const part of parts) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
      value = (value as Record<string, unknown>)[part];
    }
    return value ?? undefined;
  };
}

/** The mistakes in a template, each with its path and character offset. */
export function templateProblems(template: Json, path: (string | number)[] = []): TemplateProblem[] {
  if (typeof template === 'string') return compileText(template).problems.map((problem) => ({ path, ...problem }));
  if (Array.isArray(template)) return template.flatMap((item, i) => templateProblems(item, [...path, i]));
  if (typeof template !== 'object' || template === null) return [];
  return Object.entries(template).flatMap(([key, value]) => [
    ...compileText(key).problems.map((problem) => ({ path: [...path, key], ...problem })),
    ...templateProblems(value, [...path, key]),
  ]);
}

/** A JSON template; undefined if it is one placeholder without a value. */
export function compileTemplate(template: Json, empty: Empty = 'left_out'): (scope: Scope) => unknown {
  if (typeof template === 'string') {
    const { pieces, last } = compileText(template);
    const [only] = pieces;
    if (pieces.length === 1 && typeof only === 'function') return emptying(only, last.path, last.empty ?? empty);
    return (scope) => pieces.map((piece) => (typeof piece === 'string' ? piece : pieceText(piece(scope)))).join('');
  }
  if (Array.isArray(template)) {
    const items = template.map((item) => compileTemplate(item, empty));
    return (scope) => items.map((item) => item(scope)).filter((value) => value !== undefined);
  }
  if (typeof template !== 'object' || template === null) return () => template;
  const { '?': condition, ...rest } = template;
  const applies = condition === undefined ? undefined : compileTemplate(condition);
  const entries = Object.entries(rest).map(
    ([key, value]) => [compileLine(key), compileTemplate(value, empty)] as const,
  );
  return (scope) => {
    if (applies !== undefined && applies(scope) === undefined) return undefined;
    // Without a prototype: a value of the record may become the key.
    const object: Record<string, unknown> = Object.create(null);
    for (const [key, value] of entries) {
      const name = key(scope);
      const inner = value(scope);
      if (name !== undefined && inner !== undefined) object[name] = inner;
    }
    return object;
  };
}

/** A text that needs all its values: undefined if any placeholder has none. `encode` applies to values, not to the text. */
export function compileLine(text: string, encode: (text: string) => string = (value) => value) {
  const { pieces } = compileText(text);
  return (scope: Scope): string | undefined => {
    let line = '';
    for (const piece of pieces) {
      if (typeof piece === 'string') line += piece;
      else {
        const value = piece(scope);
        if (value === undefined || value === '') return undefined;
        line += encode(textOf(value));
      }
    }
    return line;
  };
}

const pieceText = (value: unknown): string => (value === undefined ? '' : textOf(value));

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
