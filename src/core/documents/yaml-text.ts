import { type Document, isCollection, isScalar, Lexer, parseDocument, visit } from 'yaml';
import { pathOfAncestors, positionAt } from './positions.ts';

/** A syntax error or a key that we do not take, at a character of the text. */
interface TextFault {
  readonly offset: number;
  /** The path of the key, if the mistake is in a key. */
  readonly path?: readonly (string | number)[];
  readonly message: string;
}

export type YamlText =
  | { readonly kind: 'read'; readonly yaml: Document; readonly faults: readonly TextFault[] }
  | { readonly kind: 'refused'; readonly message: string };

const longestText = 1024 * 1024;
const mostNodes = 50_000;
/** Far deeper than any document; the parser calls itself for each level. */
const deepestFlow = 1_000;

/**
 * The YAML in a text, at a cost that grows with its length. The limits are checked on the lexer's tokens, before anything is
 * built. The library's own check for duplicate keys compares every key with every other (17 s for 145 KiB of keys), so it is
 * off and `duplicateKeys` takes its place.
 */
export function readYaml(text: string): YamlText {
  if (text.length > longestText) return { kind: 'refused', message: 'the document exceeds the limit of 1 MiB' };
  const refused = overLimits(text);
  if (refused !== undefined) return { kind: 'refused', message: refused };
  let yaml: Document;
  try {
    yaml = parseDocument(text, { prettyErrors: false, logLevel: 'error', uniqueKeys: false }) as unknown as Document;
  } catch (error) {
    if (error instanceof RangeError) return { kind: 'refused', message: tooDeep };
    throw error;
  }
  // The YAML library reports an overflowing stack as one error per level it had reached.
  if (yaml.errors.some(({ message }) => message.includes('call stack'))) return { kind: 'refused', message: tooDeep };
  const syntax = [...withoutFollowing(yaml.errors), ...yaml.warnings].map(({ pos, message }) => ({
    offset: pos[0],
    message: `YAML: ${message}`,
  }));
  const bare = barePlaceholders(yaml, text);
  const lines = new Set(bare.map(({ offset }) => positionAt(text, offset).line));
  const other = [...syntax, ...keyFaults(yaml, text)].filter(({ offset }) => !lines.has(positionAt(text, offset).line));
  return { kind: 'read', yaml, faults: [...bare, ...other] };
}

const tooDeep = 'the document is nested too deeply';
/** What the lexer emits besides content: white space, line breaks, comments and separators. */
const notContent = new Set([...' \t\r\n#:,]}\u0018\uFEFF']);

function overLimits(text: string): string | undefined {
  let nodes = 0;
  let depth = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === '[' || token === '{') depth++;
    else if (token === ']' || token === '}') depth--;
    if (depth > deepestFlow) return tooDeep;
    // A scalar is two tokens: a mark and its text.
    if (token === '\u001f' || notContent.has(token.charAt(0))) continue;
    nodes++;
    if (nodes > mostNodes) return `the document has more than ${mostNodes.toLocaleString('en')} keys and values`;
  }
  return undefined;
}

/**
 * Errors that only follow from an earlier one are left out: tokens after a broken flow of braces, and everything after a tab in the
 * indentation.
 */
function withoutFollowing(errors: Document['errors']): Document['errors'] {
  const tab = errors.findIndex(({ message }) => message.startsWith('Tabs are not allowed'));
  const first = tab === -1 ? errors : errors.slice(0, tab + 1);
  return first.filter(({ message }, index) => index === 0 || !/^Unexpected .* token in YAML stream/s.test(message));
}

const barePlaceholder = /^\{\s*([A-Za-z_][\w.]*)\s*\}$/;

/** `{window.from}` without quotes, which YAML reads as a mapping with one key and no value. */
function barePlaceholders(yaml: Document, text: string): TextFault[] {
  const faults: TextFault[] = [];
  visit(yaml, {
    Map: (_, map, ancestors) => {
      const [start = 0, end = 0] = map.range ?? [];
      const [, name] = map.flow && map.items.length === 1 ? (barePlaceholder.exec(text.slice(start, end)) ?? []) : [];
      if (name === undefined) return;
      const message = `put the text in quotes: without them YAML reads {${name}} as a mapping`;
      faults.push({ offset: start, path: pathOfAncestors(ancestors), message });
    },
  });
  return faults;
}

/** Keys that are lists or mappings, which YAML allows, and keys that are set twice. */
function keyFaults(yaml: Document, text: string): TextFault[] {
  const faults: TextFault[] = [];
  visit(yaml, {
    Map: (_, map, ancestors) => {
      const first = new Map<string, number>();
      for (const { key } of map.items) {
        if (isCollection(key)) faults.push({ offset: key.range?.[0] ?? 0, message: 'YAML: A key must be text' });
        if (!isScalar(key)) continue;
        const offset = key.range?.[0] ?? 0;
        const name = String(key.value);
        const earlier = first.get(name);
        if (earlier === undefined) first.set(name, offset);
        else {
          const { line } = positionAt(text, earlier);
          const message = `the key ${name} is already set on line ${line}; remove one of the two`;
          faults.push({ offset, path: [...pathOfAncestors(ancestors), name], message });
        }
      }
    },
  });
  return faults;
}
