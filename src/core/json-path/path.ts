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
const bareKey = /[^\s.[\]'"]+/y;
const bareKeyWithSpaces = /[^.[\]'"]+/y;
const quotedKey = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/sy;
const index = /-?\d{1,6}/y;
const dollarWord = /\$\w*/y;
/** Refused as keys: every JavaScript object inherits them, so they would not read the partner's data. */
const inherited: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

export function isInherited(key: string): boolean {
  return inherited.has(key);
}

/** `spaces`: a key with spaces needs no quotes. In a mapping a space is more often a mistake, such as `net + tax`. */
export function parsePath(text: string, { spaces = false } = {}): Parsed {
  return new PathParser(text, spaces ? bareKeyWithSpaces : bareKey).parse();
}

class PathParser {
  readonly #text: string;
  readonly #bareKey: RegExp;
  readonly #steps: Step[] = [];
  #at = 0;
  #start: Start = 'item';
  #up = 0;
  #bad: Bad | undefined;

  constructor(text: string, bareKey: RegExp) {
    this.#text = text;
    this.#bareKey = bareKey;
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
    const offset = this.#at++;
    const inside = this.#text[this.#at];
    if (inside === ']') {
      this.#steps.push({ kind: 'each', offset });
    } else if (inside === '"' || inside === "'") {
      this.#quoted();
    } else {
      const number = this.#match(index);
      if (number === undefined) {
        this.#fail('expected a number, a quoted key or ] after [', this.#at);
        return;
      }
      this.#steps.push({ kind: 'index', index: Number(number), offset });
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
    const bare = this.#match(this.#bareKey);
    if (bare !== undefined) {
      if (bare === '*') this.#steps.push({ kind: 'each', offset: this.#at });
      else this.#push(bare);
      this.#at += bare.length;
    } else if (sign === undefined) {
      this.#fail('a key is missing after the last dot', this.#at);
    } else {
      this.#fail(`expected a key but found ${JSON.stringify(sign)}; quote a key that holds such a character`, this.#at);
    }
  }

  /** A backslash makes a quote or a backslash part of the key. */
  #quoted(): void {
    const key = this.#match(quotedKey);
    if (key === undefined) {
      this.#fail('the quote is never closed', this.#at);
      return;
    }
    this.#push(key.slice(1, -1).replace(/\\(["'\\])/g, '$1'));
    this.#at += key.length;
  }

  #push(key: string): void {
    if (inherited.has(key)) this.#fail(`the key ${key} is not allowed`, this.#at);
    this.#steps.push({ kind: 'key', key, offset: this.#at });
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

const plainKey = /^(?!\*$)[^\s.[\]'"$][^\s.[\]'"]*$/;

/** A concrete path in the partner's JSON as text that parsePath reads back. */
export function pathText(base: string, key: string | number): string {
  if (typeof key === 'number') return `${base}[${key}]`;
  if (!plainKey.test(key)) return `${base}["${key.replace(/["\\]/g, '\\$&')}"]`;
  return base === '' ? key : `${base}.${key}`;
}
