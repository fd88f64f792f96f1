import { closest } from '../canonical/closest.ts';
import { checkedText } from './checked.ts';

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
    return near === undefined ? { message } : { message, suggestion: `${near}${text.slice(dot)}` };
  }).meta({ pattern: '^(query|body|header)\\..+', ...(usual !== undefined && { examples: [usual] }) });
