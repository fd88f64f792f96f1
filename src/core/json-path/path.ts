/**
 * The language that names a place in a partner's JSON, in mappings, requests and events: `contact.mail`, `rooms[0].type`, `rooms[-1]`,
 * `rooms[].charges`, `'key with spaces'.x`, `["a.b"]`, and starting points other than the item: `$parent.id`, `$record.currency`,
 * `$body.customers`, `$item`; `$key` and `$parent.$key` are the keys of the item and of its parent.
 * `rooms.*.charges` and `rooms.0.type` avoid brackets, which YAML requires to be quoted inside braces.
 */
export type Step = (
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'each' }
) & {
  /** Where the step begins in the text. */
  readonly offset: number;
};

type Start = 'item' | 'record' | 'body' | 'rows' | 'key';

export interface Path {
  readonly start: Start;
  /** Number of $parent steps. */
  readonly up: number;
  readonly steps: readonly Step[];
}

interface Bad {
  readonly kind: 'bad';
  readonly message: string;
  readonly offset: number;
}

type Parsed = { readonly kind: 'ok'; readonly path: Path } | Bad;

const starts: ReadonlyMap<string, Start> = new Map([
  ['$item', 'item'],
  ['$record', 'record'],
  ['$body', 'body'],
  ['$rows', 'rows'],
  ['$key', 'key'],
]);
const quoted = String.raw`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`;
/** `[0]`, `[]`, `["key"]`, or a key after a dot. */
const stepForm = (bare: string) =>
  new RegExp(
    String.raw`\[(?:(?<index>-?\d{1,6})|(?<inside>${quoted}))?\]|\.?(?:(?<quoted>${quoted})|(?<bare>${bare}+))`,
    'sy',
  );
const steps = stepForm(String.raw`[^\s.[\]'"]`);
const stepsWithSpaces = stepForm(String.raw`[^.[\]'"]`);
/** Refused as keys: every JavaScript object inherits them, so they would not read the partner's data. */
const inherited: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

export function isInherited(key: string): boolean {
  return inherited.has(key);
}

/** `spaces`: a key with spaces needs no quotes. In a mapping a space is more often a mistake, such as `net + tax`. */
export function parsePath(text: string, { spaces = false } = {}): Parsed {
  // The offset stays inside the text.
  const bad = (message: string, at: number): Bad => ({
    kind: 'bad',
    message,
    offset: Math.max(0, Math.min(at, text.length - 1)),
  });
  if (text === '') return bad('a path is empty; name a key, or leave the field out', 0);
  const beginning = beginningOf(text);
  if ('message' in beginning) return bad(beginning.message, beginning.end);
  const { start, up, end } = beginning;
  if (start === 'key' && end < text.length) return bad('$key is a value; nothing can follow it', end);
  const found: Step[] = [];
  const form = spaces ? stepsWithSpaces : steps;
  for (let at = end; at < text.length; ) {
    form.lastIndex = at;
    const match = form.exec(text);
    const isKey = match !== null && !match[0].startsWith('[');
    // Only the first step of a path without a start has no dot.
    if (match === null || (isKey && match[0].startsWith('.') === (at === 0))) return bad(...faultAt(text, at));
    const { index, inside, quoted: outside, bare } = match.groups ?? {};
    const written = inside ?? outside;
    // A backslash makes a quote or a backslash part of the key.
    const key = written?.slice(1, -1).replace(/\\(["'\\])/g, '$1') ?? (bare === '*' ? undefined : bare);
    const offset = inside !== undefined || match[0].startsWith('.') ? at + 1 : at;
    if (key !== undefined && inherited.has(key)) return bad(`the key ${key} is not allowed`, offset);
    if (index !== undefined) found.push({ kind: 'index', index: Number(index), offset });
    else found.push(key === undefined ? { kind: 'each', offset } : { kind: 'key', key, offset });
    at = form.lastIndex;
  }
  return { kind: 'ok', path: { start, up, steps: found } };
}

/** Dollar words are allowed only at the start; $parent may repeat. */
function beginningOf(text: string) {
  const parents = /^(?:\$parent\.(?=\$))*/.exec(text)?.[0] ?? '';
  const up = parents.length / '$parent.'.length;
  const word = /^\$\w*/.exec(text.slice(parents.length))?.[0] ?? '';
  const end = parents.length + word.length;
  if (word === '' || word === '$parent') return { start: 'item', up: word === '' ? up : up + 1, end } as const;
  const start = starts.get(word);
  if (start === undefined) {
    const known = '$item, $parent, $record, $body, $rows and $key';
    return { message: `unknown start ${word}; use ${known}. Quote a key that begins with $`, end: parents.length };
  }
  if (start !== 'key' && up > 0) return { message: `${word} cannot follow $parent`, end: parents.length };
  return { start, up, end };
}

/** What is wrong with the step that begins there. */
function faultAt(text: string, at: number): [message: string, at: number] {
  const isBracket = text[at] === '[';
  const inside = isBracket || (text[at] === '.' && at > 0) ? at + 1 : at;
  const sign = text[inside];
  if (!isBracket && at > 0 && inside === at)
    return [`expected . or [ but found ${JSON.stringify(sign)}; quote a key that holds such a character`, at];
  const end = new RegExp(isBracket ? `${quoted}|-?\\d{1,6}` : quoted, 'sy');
  end.lastIndex = inside;
  if (isBracket && end.test(text)) return ['expected ]', end.lastIndex];
  if (sign === '"' || sign === "'") return ['the quote is never closed', inside];
  if (isBracket) return ['expected a number, a quoted key or ] after [', inside];
  if (sign === undefined) return ['a key is missing after the last dot', inside];
  return [`expected a key but found ${JSON.stringify(sign)}; quote a key that holds such a character`, inside];
}

const plainKey = /^(?!\*$)[^\s.[\]'"$][^\s.[\]'"]*$/;

/** A concrete path in the partner's JSON as text that parsePath reads back. */
export function pathText(base: string, key: string | number): string {
  if (typeof key === 'number') return `${base}[${key}]`;
  if (!plainKey.test(key)) return `${base}["${key.replace(/["\\]/g, '\\$&')}"]`;
  return base === '' ? key : `${base}.${key}`;
}
