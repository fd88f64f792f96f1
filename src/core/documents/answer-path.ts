import { closest } from '../canonical/closest.ts';
import { parseAnswerPath } from '../json-path/read.ts';
import { checkedText, type TextFinding } from './checked.ts';

const examples = 'such as meta.next, links[0].href or paging["next.token"]';
const starts: ReadonlySet<string> = new Set(['$body', '$item', '$record']);

/** A path to one value of an answer or of a row; `several`: to every value it finds. */
export function checkAnswerPath(text: string, several = false): TextFinding | undefined {
  const [word] = /^\$\w*/.exec(text) ?? [];
  if (word !== undefined && !starts.has(word)) {
    const message = `starts with ${word}, which has no meaning here; quote a key that begins with $`;
    return { message, suggestion: text.slice(word.length + 1) || undefined };
  }
  const parsed = parseAnswerPath(text);
  if (parsed.kind === 'bad') return { message: `is not a path ${examples}: ${parsed.message}`, offset: parsed.offset };
  const isEach = parsed.path.steps.some(({ kind }) => kind === 'each');
  return isEach && !several ? { message: 'names every item of a list; name one, such as [0] or [-1]' } : undefined;
}

/** `min` reports an empty text. */
const unlessEmpty = (several: boolean) => (text: string) => (text === '' ? undefined : checkAnswerPath(text, several));

export const answerPath = () => checkedText(`a path ${examples}`, unlessEmpty(false)).min(1);
/** Ids in the rows: the path may pass through lists. */
export const idsPath = () => checkedText('a path such as guests[].id', unlessEmpty(true)).min(1);

/** Where in a request a value goes. */
export interface Place {
  readonly part: 'query' | 'body' | 'header';
  /** One name for query and header; the keys from the body's root for body. */
  readonly keys: readonly [string, ...string[]];
}

const parts = ['query', 'body', 'header'] as const;

/** query.offset, body.paging.limit or header.X-Page; undefined for any other text. */
export function parsePlace(text: string): Place | undefined {
  const dot = text.indexOf('.');
  const part = parts.find((known) => known === text.slice(0, dot));
  const rest = text.slice(dot + 1);
  if (part === undefined || rest === '') return undefined;
  // Names of query parameters and headers may contain dots.
  const [first = '', ...more] = part === 'body' ? rest.split('.') : [rest];
  return [first, ...more].includes('') ? undefined : { part, keys: [first, ...more] };
}

/** `usual`: the name to begin a form with. */
export const placeText = (usual?: string) =>
  checkedText('a place in the request such as query.offset', (text) => {
    if (parsePlace(text) !== undefined) return undefined;
    const message = 'must be a place in the request: query.NAME, body.KEY.KEY or header.NAME';
    const dot = text.indexOf('.');
    if (dot === -1) return text === '' ? { message } : { message, suggestion: `query.${text}` };
    const near = closest(text.slice(0, dot), parts);
    return { message, suggestion: near && `${near}${text.slice(dot)}` };
  }).meta({ pattern: '^(query|body|header)\\..+', ...(usual !== undefined && { examples: [usual] }) });
