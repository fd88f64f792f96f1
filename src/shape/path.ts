/**
 * The path language: `contact.mail`, `rooms[0].type`, `rooms[-1]`, `rooms[].charges`, `'key with spaces'.x`, `["a.b"]`, and
 * where it starts when that is not the item itself: `$parent.id`, `$record.currency`, `$body.customers`, `$key`, `$item`.
 */
export type Step =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'each' };

export type Start = 'item' | 'record' | 'body' | 'rows' | 'key';

export interface Path {
  readonly start: Start;
  /** How many levels above the item it starts. */
  readonly up: number;
  readonly steps: readonly Step[];
}

export type Parsed =
  | { readonly kind: 'ok'; readonly path: Path }
  | { readonly kind: 'bad'; readonly message: string; readonly offset: number };

const starts: Readonly<Record<string, Start>> = {
  $item: 'item',
  $record: 'record',
  $body: 'body',
  $rows: 'rows',
  $key: 'key',
};
const bareKey = /[^\s.[\]'"]+/y;
const index = /-?\d{1,6}/y;
/** These would be read from every JavaScript object, not from the partner's. */
const inherited: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

class Bad extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

export function parsePath(text: string): Parsed {
  try {
    return { kind: 'ok', path: parse(text) };
  } catch (error) {
    if (error instanceof Bad) return { kind: 'bad', message: error.message, offset: error.offset };
    throw error;
  }
}

function parse(text: string): Path {
  if (text === '') throw new Bad('a path is empty; name a key, or leave the field out', 0);
  const steps: Step[] = [];
  let start: Start = 'item';
  let up = 0;
  let at = 0;
  // A dollar word may only stand first, $parent any number of times before it is left for keys.
  while (text[at] === '$') {
    const word = /^\$\w*/.exec(text.slice(at))?.[0] ?? '$';
    const named = starts[word];
    if (word !== '$parent' && named === undefined)
      throw new Bad(
        `unknown start ${word}; there are $item, $parent, $record, $body, $rows and $key. Quote a key that begins with $`,
        at,
      );
    if (named !== undefined && up > 0) throw new Bad(`${word} cannot follow $parent`, at);
    if (named === undefined) up++;
    else start = named;
    at += word.length;
    const more = named === undefined && text.startsWith('.$', at);
    if (more) at++;
    else break;
  }
  const rooted = at > 0;
  if (start === 'key' && at < text.length) throw new Bad('$key is a value; nothing can follow it', at);
  let first = !rooted;
  while (at < text.length) {
    const sign = text[at];
    if (sign === '[') {
      at = bracket(text, at, steps);
    } else if (first || sign === '.') {
      at = key(text, first ? at : at + 1, steps);
    } else {
      throw new Bad(`expected . or [ but found ${JSON.stringify(sign)}; quote a key that holds such a character`, at);
    }
    first = false;
  }
  return { start, up, steps };
}

function bracket(text: string, open: number, steps: Step[]): number {
  const inside = text[open + 1];
  if (inside === ']') {
    steps.push({ kind: 'each' });
    return open + 2;
  }
  let end: number;
  if (inside === '"' || inside === "'") {
    end = quoted(text, open + 1, steps);
  } else {
    index.lastIndex = open + 1;
    const number = index.exec(text)?.[0];
    if (number === undefined)
      throw new Bad('expected a number, a quoted key or ] after [', Math.min(open + 1, text.length - 1));
    steps.push({ kind: 'index', index: Number(number) });
    end = open + 1 + number.length;
  }
  if (text[end] !== ']') throw new Bad('expected ]', Math.min(end, text.length - 1));
  return end + 1;
}

function key(text: string, at: number, steps: Step[]): number {
  if (text[at] === '"' || text[at] === "'") return quoted(text, at, steps);
  bareKey.lastIndex = at;
  const found = bareKey.exec(text)?.[0];
  if (found === undefined) {
    if (at >= text.length) throw new Bad('a key is missing after the last dot', text.length - 1);
    throw new Bad(`expected a key but found ${JSON.stringify(text[at])}; quote a key that holds such a character`, at);
  }
  push(found, at, steps);
  return at + found.length;
}

function quoted(text: string, open: number, steps: Step[]): number {
  const close = text.indexOf(text[open] ?? '', open + 1);
  if (close < 0) throw new Bad('the quote is never closed', open);
  push(text.slice(open + 1, close), open, steps);
  return close + 1;
}

function push(found: string, at: number, steps: Step[]): void {
  if (inherited.has(found)) throw new Bad(`the key ${found} is not allowed`, at);
  steps.push({ kind: 'key', key: found });
}

const plainKey = /^[^\s.[\]'"$][^\s.[\]'"]*$/;

/** A concrete path as text: what a parse of it would read. */
export function pathText(base: string, key: string | number): string {
  if (typeof key === 'number') return `${base}[${key}]`;
  if (!plainKey.test(key)) return `${base}[${JSON.stringify(key)}]`;
  return base === '' ? key : `${base}.${key}`;
}
