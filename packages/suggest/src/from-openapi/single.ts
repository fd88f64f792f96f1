import { isObject, type Json, type JsonObject } from '../../../../src/terms.ts';
import { findRoot } from '../root.ts';
import { wordsOf } from '../words.ts';
import { namesProperty } from './credentials.ts';
import type { ApiDescription, Operation, Proposed } from './model.ts';
import { requestOf } from './request.ts';
import { synthesize } from './synthesize.ts';

export interface ProposedSingle {
  readonly single: JsonObject;
  /** Where the answer has the reservation; absent for the answer itself. */
  readonly singlePath?: string;
}

/** The operation that answers with one reservation by its id. */
export function findSingle(description: ApiDescription, list: Operation): Proposed<ProposedSingle> | undefined {
  const found = description.operations
    .flatMap((operation) => {
      const id = idOf(operation, list);
      if (operation === list || operation.method !== 'GET' || id === undefined) return [];
      const answer =
        operation.sample ?? (operation.response === undefined ? undefined : synthesize(operation.response));
      const place = answer === undefined ? undefined : placeOfOne(answer);
      return place === undefined ? [] : [{ operation, id, place, near: shared(operation.path, list.path) }];
    })
    .toSorted((a, b) => b.near - a.near || b.place.score - a.place.score)[0];
  if (found === undefined) return undefined;
  const { operation, id, place } = found;
  const { request } = requestOf(operation, undefined);
  const { method: _method, ...rest } = request;
  const single: JsonObject =
    id.in === 'path'
      ? { ...rest, path: String(request.path).replace(`{${id.name}}`, '{id}') }
      : { ...rest, query: { ...(isObject(request.query) ? request.query : {}), [id.name]: '{id}' } };
  return {
    value: { single, ...(place.path !== '' && { singlePath: place.path }) },
    confidence: 0.85,
    reason: `${operation.method} ${operation.path} answers with one reservation`,
  };
}

/** The one parameter that is the reservation's id; a path with a second unknown part cannot be filled. */
function idOf(
  { path, parameters }: Operation,
  list: Operation,
): { readonly in: 'path' | 'query'; readonly name: string } | undefined {
  const parts = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name);
  const unknown = parts.filter((name) => !namesProperty({ in: 'path', name, about: '', required: true, schema: {} }));
  if (unknown.length === 1 && unknown[0] !== undefined && path.endsWith(`{${unknown[0]}}`)) {
    const words = wordsOf(unknown[0]);
    const isOwn =
      words.length === 1 ||
      isIdOf(words, list.path) ||
      words.some((word) => word === 'reservation' || word === 'booking');
    return isOwn ? { in: 'path', name: unknown[0] } : undefined;
  }
  if (unknown.length > 0) return undefined;
  const query = parameters.find(
    (one) =>
      one.in === 'query' &&
      one.required &&
      /^(?:reservation|booking)?(?: (?:id|number|code))?$/.test(wordsOf(one.name).join(' ')) &&
      one.name !== '',
  );
  return query === undefined ? undefined : { in: 'query', name: query.name };
}

/** `stayId` under `/stays`. */
function isIdOf(words: readonly string[], list: string): boolean {
  const name = words.filter((word) => !['id', 'number', 'code', 'uid', 'uuid'].includes(word)).join(' ');
  const listed = wordsOf(list.split('/').at(-1) ?? '').join(' ');
  return name !== '' && (listed === name || listed === `${name}s`);
}

function shared(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

/** Where an answer has a reservation; an answer may be a list of one. */
function placeOfOne(answer: Json): { readonly path: string; readonly score: number } | undefined {
  const root = findRoot(answer);
  return root && { path: `${root.path ?? ''}${root.single ? '' : '[0]'}`, score: root.confidence };
}
