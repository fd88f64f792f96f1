/**
 * The path language: `contact.mail`, `rooms[0].type`, `rooms[-1]`, `rooms[].charges`, `'key with spaces'.x`, `["a.b"]`, and
 * starting points other than the item: `$parent.id`, `$record.currency`, `$body.customers`, `$item`; `$key` and
 * `$parent.$key` are the keys of the item and of its parent.
 * `rooms.*.charges` and `rooms.0.type` avoid brackets, which YAML requires to be quoted inside braces.
 */
export type Step =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'each' };

type Start = 'item' | 'record' | 'body' | 'rows' | 'key';

export interface Path {
  readonly start: Start;
  /** Number of $parent steps. */
  readonly up: number;
  readonly steps: readonly Step[];
  /** Only while tracing, and only for a path that the document states. */
  readonly use?: PathUse | undefined;
}

/** What a path found in the records read so far. Neither is set for a path that only passes through empty lists. */
export interface PathUse {
  /** The path in the document, and its text. */
  readonly at: string;
  readonly text: string;
  found: boolean;
  missed: boolean;
}

export function markUse(use: PathUse | undefined, found: boolean): void {
  if (use === undefined) return;
  if (found) use.found = true;
  else use.missed = true;
}

interface Bad {
  readonly kind: 'bad';
  readonly message: string;
  readonly offset: number;
}

export type Parsed = { readonly kind: 'ok'; readonly path: Path } | Bad;

const starts: ReadonlyMap<string, Start> = new Map([
  ['$item', 'item'],
  ['$record', 'record'],
  ['$body', 'body'],
  ['$rows', 'rows'],
  ['$key', 'key'],
]);
const bareKey = /[^\s.[\]'"]+/y;
const index = /-?\d{1,6}/y;
const dollarWord = /\$\w*/y;
/** Refused as keys: every JavaScript object inherits them, so they would not read the partner's data. */
const inherited: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

export function isInherited(key: string): boolean {
  return inherited.has(key);
}

export function parsePath(text: string): Parsed {
  return new PathParser(text).parse();
}

class PathParser {
  readonly #text: string;
  readonly #steps: Step[] = [];
  #at = 0;
  #start: Start = 'item';
  #up = 0;
  #bad: Bad | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): Parsed {
    if (this.#text === '') this.#fail('a path is empty; name a key, or leave the field out', 0);
    this.#beginning();
    const rooted = this.#at > 0;
    if (this.#start === 'key' && this.#at < this.#text.length)
      this.#fail('$key is a value; nothing can follow it', this.#at);
    let first = !rooted;
    while (this.#bad === undefined && this.#at < this.#text.length) {
      this.#step(first);
      first = false;
    }
    return this.#bad ?? { kind: 'ok', path: { start: this.#start, up: this.#up, steps: this.#steps } };
  }

  /** Dollar words are allowed only at the start; $parent may repeat. */
  #beginning(): void {
    while (this.#text[this.#at] === '$') {
      const word = this.#match(dollarWord) ?? '$';
      const named = starts.get(word);
      if (word !== '$parent' && named === undefined) {
        const known = '$item, $parent, $record, $body, $rows and $key';
        this.#fail(`unknown start ${word}; use ${known}. Quote a key that begins with $`, this.#at);
        return;
      }
      if (named !== undefined && named !== 'key' && this.#up > 0) {
        this.#fail(`${word} cannot follow $parent`, this.#at);
        return;
      }
      this.#at += word.length;
      if (named !== undefined) {
        this.#start = named;
        return;
      }
      this.#up++;
      if (!this.#text.startsWith('.$', this.#at)) return;
      this.#at++;
    }
  }

  #step(first: boolean): void {
    const sign = this.#text[this.#at];
    if (sign === '[') {
      this.#bracket();
    } else if (first || sign === '.') {
      if (!first) this.#at++;
      this.#key();
    } else {
      this.#fail(
        `expected . or [ but found ${JSON.stringify(sign)}; quote a key that holds such a character`,
        this.#at,
      );
    }
  }

  #bracket(): void {
    this.#at++;
    const inside = this.#text[this.#at];
    if (inside === ']') {
      this.#steps.push({ kind: 'each' });
    } else if (inside === '"' || inside === "'") {
      this.#quoted();
    } else {
      const number = this.#match(index);
      if (number === undefined) {
        this.#fail('expected a number, a quoted key or ] after [', this.#at);
        return;
      }
      this.#steps.push({ kind: 'index', index: Number(number) });
      this.#at += number.length;
    }
    if (this.#text[this.#at] === ']') this.#at++;
    else this.#fail('expected ]', this.#at);
  }

  #key(): void {
    const sign = this.#text[this.#at];
    if (sign === '"' || sign === "'") {
      this.#quoted();
      return;
    }
    const found = this.#match(bareKey);
    if (found !== undefined) {
      if (found === '*') this.#steps.push({ kind: 'each' });
      else this.#push(found);
      this.#at += found.length;
    } else if (sign === undefined) {
      this.#fail('a key is missing after the last dot', this.#at);
    } else {
      this.#fail(`expected a key but found ${JSON.stringify(sign)}; quote a key that holds such a character`, this.#at);
    }
  }

  #quoted(): void {
    const close = this.#text.indexOf(this.#text[this.#at] ?? '', this.#at + 1);
    if (close < 0) {
      this.#fail('the quote is never closed', this.#at);
      return;
    }
    this.#push(this.#text.slice(this.#at + 1, close));
    this.#at = close + 1;
  }

  #push(key: string): void {
    if (inherited.has(key)) this.#fail(`the key ${key} is not allowed`, this.#at);
    this.#steps.push({ kind: 'key', key });
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text)?.[0];
  }

  /** Keeps the first failure only. The offset stays inside the text. */
  #fail(message: string, at: number): void {
    this.#bad ??= { kind: 'bad', message, offset: Math.max(0, Math.min(at, this.#text.length - 1)) };
  }
}

const plainKey = /^[^\s.[\]'"$][^\s.[\]'"]*$/;
const documentKey = /^[A-Za-z_][\w-]*$/;

/** A concrete path in the partner's JSON as text that parsePath reads back. */
export function pathText(base: string, key: string | number): string {
  if (typeof key === 'number') return `${base}[${key}]`;
  if (!plainKey.test(key)) return `${base}[${JSON.stringify(key)}]`;
  return base === '' ? key : `${base}.${key}`;
}

/** A path in the connector document; any key is allowed: map.extra["loyalty.level"]. */
export function documentPath(base: string, key: string): string {
  return documentKey.test(key) ? `${base}.${key}` : `${base}[${JSON.stringify(key)}]`;
}
