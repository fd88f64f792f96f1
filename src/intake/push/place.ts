import { parseAnswerPath, pathReader } from '../../json-path/read.ts';
import type { Json } from '../../terms.ts';
import type { Headers } from './verification.ts';

/** Where places are looked up: an event, the body that contains it (equal when a body is one event), and the headers. */
export interface Scope {
  readonly item: Json;
  readonly body: Json;
  readonly headers: Headers;
}

/** A place is a path in the event, $body.PATH, header.NAME, or $item for the event itself. */
export function valueAt({ item, body, headers }: Scope, place: string): Json | undefined {
  if (place === '$item') return item;
  if (place.startsWith('header.')) {
    const value = headers[place.slice(7).toLowerCase()];
    return Array.isArray(value) ? value.join(', ') : value;
  }
  return at(place.startsWith('$body.') ? body : item, place);
}

/** A non-blank string, or a number as a string. */
export function textOf(value: Json | undefined): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** The first of several places that holds a text. */
export function firstText(scope: Scope, places: readonly string[]): { text: string; place: string } | undefined {
  for (const place of places) {
    const text = textOf(valueAt(scope, place));
    if (text !== undefined) return { text, place };
  }
  return undefined;
}

/** The first text or number at one of the dotted paths, as text. */
export function textAt(body: Json, paths: readonly string[]): string | undefined {
  return firstText({ item: body, body, headers: {} }, paths)?.text;
}

/** An RFC 6901 pointer; `above` is the pointer of the event in its body. Headers have no pointer. */
export function pointerTo(place: string, above: string): string {
  if (place.startsWith('header.')) return '';
  if (place === '$item') return above;
  const parsed = parseAnswerPath(place);
  const { start, steps } = parsed.kind === 'ok' ? parsed.path : { start: 'item', steps: [] };
  const keys = steps.map((step) => (step.kind === 'key' ? step.key : step.kind === 'index' ? String(step.index) : ''));
  const escaped = keys.map((key) => key.replaceAll('~', '~0').replaceAll('/', '~1'));
  return [start === 'body' ? '' : above, ...escaped].join('/');
}

/** Places come from connectors, so there are few. */
const readers = new Map<string, (body: Json) => Json | undefined>();

export function at(body: Json, path: string): Json | undefined {
  let read = readers.get(path);
  if (read === undefined) {
    read = pathReader(path);
    readers.set(path, read);
  }
  return read(body);
}
