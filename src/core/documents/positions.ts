import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  Scalar,
  type YAMLMap,
} from 'yaml';
import type { Problem } from './mistake.ts';
import type { Path } from './path.ts';

export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** The position of a problem: the wrong key, the wrong value, or for a missing key the key of its parent. */
export function positionOf(
  document: Document,
  source: string,
  { path, at, offset }: Pick<Problem, 'path' | 'at' | 'offset'>,
): TextPosition {
  let node: Node | undefined = document.contents ?? undefined;
  // The start of the key under which `node` stands; for an item of a list, the start of the item.
  let keyStart = startOf(node) ?? 0;
  let depth = 0;
  for (const key of path) {
    const step = stepInto(document, node, key);
    if (step === undefined) break;
    node = step.value;
    keyStart = step.start;
    depth++;
  }
  const isWhole = depth === path.length;
  return positionAt(source, isWhole && at === 'value' ? valueStart(node, source, keyStart, offset) : keyStart);
}

/** The node at a path; aliases (*name) are followed. */
export function nodeAt(document: Document, path: Path): Node | undefined {
  let node: Node | undefined = document.contents ?? undefined;
  for (const key of path) node = stepInto(document, node, key)?.value;
  return node;
}

/** The keys and positions from the root to the last of a chain of nodes, each the parent of the next. */
export function pathOfAncestors(chain: readonly unknown[]): (string | number)[] {
  const path: (string | number)[] = [];
  for (const [i, above] of chain.entries()) {
    const child = chain[i + 1];
    if (isPair(above) && isScalar(above.key)) path.push(String(above.key.value));
    else if (isSeq(above) && child !== undefined) path.push(above.items.indexOf(child));
  }
  return path;
}

function stepInto(
  document: Document,
  from: Node | undefined,
  key: string | number,
): { value: Node | undefined; start: number } | undefined {
  const node = isAlias(from) ? from.resolve(document) : from;
  if (isSeq(node)) {
    const item = node.items[Number(key)];
    return isNode(item) ? { value: item, start: startOf(item) ?? 0 } : undefined;
  }
  if (!isMap(node)) return undefined;
  const pair = pairsOf(node).get(String(key));
  return pair === undefined ? undefined : { value: pair.value ?? undefined, start: startOf(pair.key) ?? 0 };
}

type KeyedPair = Pair<Node, Node | null>;
const indexes = new WeakMap<YAMLMap, ReadonlyMap<string, KeyedPair>>();

/** The pairs of a mapping by their keys, the last of duplicates as in the value. Indexed once: a document may have a mistake at every key. */
function pairsOf(node: YAMLMap): ReadonlyMap<string, KeyedPair> {
  const known = indexes.get(node);
  if (known !== undefined) return known;
  const pairs = new Map<string, KeyedPair>();
  for (const pair of node.items as KeyedPair[]) if (isScalar(pair.key)) pairs.set(String(pair.key.value), pair);
  indexes.set(node, pairs);
  return pairs;
}

function startOf(node: Node | undefined): number | undefined {
  return node?.range?.[0];
}

function valueStart(node: Node | undefined, source: string, keyStart: number, offset: number | undefined): number {
  const range = node?.range;
  // `key:` with nothing after it has an empty value somewhere behind the colon; the key is the better place.
  if (!range || range[0] === range[1]) return keyStart;
  if (offset === undefined || !isScalar(node) || typeof node.value !== 'string') return range[0];
  return insideScalar(source, range[0], range[1], node as Scalar<string>, offset);
}

/**
 * The position in the source of the character at `offset` of a value. Walks value and source side by side, since quotes, escapes and
 * folded lines make them differ; inside a run of folded white space it is exact to that run.
 */
function insideScalar(source: string, start: number, end: number, node: Scalar<string>, offset: number): number {
  const { type, value } = node;
  let at = start;
  if (type === Scalar.QUOTE_DOUBLE || type === Scalar.QUOTE_SINGLE) at++;
  if (type === Scalar.BLOCK_LITERAL || type === Scalar.BLOCK_FOLDED) {
    at = source.indexOf('\n', start);
    at = skipSpace(source, at === -1 ? start : at, end);
  }
  for (let i = 0; i < offset && at < end; ) {
    if (source[at] === '\n' || source[at] === '\r') {
      at = skipSpace(source, at, end);
      while (i < offset && /\s/.test(value[i] ?? '')) i++;
    } else if (type === Scalar.QUOTE_DOUBLE && source[at] === '\\') {
      const escaped = /^\\(?:x..|u....|U.{8}|\r?\n[ \t]*|.)/su.exec(source.slice(at, at + 80))?.[0] ?? '\\';
      at += escaped.length;
      if (!/^\\\r?\n/.test(escaped)) i += escaped.startsWith('\\U') && escaped > '\\U0000ffff' ? 2 : 1;
    } else {
      at += type === Scalar.QUOTE_SINGLE && source.startsWith("''", at) ? 2 : 1;
      i++;
    }
  }
  return at;
}

function skipSpace(source: string, from: number, end: number): number {
  let at = from;
  while (at < end && /\s/.test(source[at] ?? '')) at++;
  return at;
}

/** Line and column of a character. Counted here: the YAML library's own counter loses its place behind some syntax errors. */
export function positionAt(source: string, offset: number): TextPosition {
  const starts = lineStartsOf(source);
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  const mark = low === 0 && offset > 0 && source.startsWith('\uFEFF') ? 1 : 0;
  return { line: low + 1, column: Math.min(offset, source.length) - (starts[low] ?? 0) - mark + 1 };
}

/** Cached for one text: mistakes are reported document by document. */
let counted: { readonly source: string; readonly starts: readonly number[] } | undefined;

function lineStartsOf(source: string): readonly number[] {
  if (counted?.source === source) return counted.starts;
  const starts = [0];
  for (let at = source.indexOf('\n'); at !== -1; at = source.indexOf('\n', at + 1)) starts.push(at + 1);
  counted = { source, starts };
  return starts;
}
