import { isObject, type Json, type JsonObject } from '../../../../src/terms.ts';
import { reservationWords } from '../lexicon.ts';
import { findRoot } from '../root.ts';
import { type Suggestion, suggestConnector } from '../suggest.ts';
import { wordsOf } from '../words.ts';
import { statusesInText } from './described.ts';
import { type ApiDescription, namesProperty, type Operation, type Proposed } from './model.ts';
import { requestOf } from './request.ts';
import { enumOf, flattened } from './schema.ts';
import { synthesize } from './synthesize.ts';
import { findWindow } from './window.ts';

/** An operation that looks like a list of reservations. */
export interface Candidate {
  readonly operation: string;
  readonly score: number;
  readonly reason: string;
}

export interface Ranked extends Omit<Candidate, 'operation'> {
  readonly operation: Operation;
  readonly sample: Json;
  readonly suggestion: Suggestion & { kind: 'ok' };
  readonly confidence: number;
}

/** Only the likeliest by name are examined: reading a large schema takes time. */
const mostExamined = 12;

/** The operations that look like a list of reservations, the likeliest first. */
export function rank(operations: readonly Operation[]): Ranked[] {
  return operations
    .map((operation) => ({ operation, name: nameScore(operation) }))
    .filter(({ name }) => name > 0)
    .toSorted((a, b) => b.name - a.name)
    .slice(0, mostExamined)
    .flatMap(({ operation, name }): Ranked[] => {
      const sample = operation.sample ?? answerOf(operation);
      const root = sample === undefined ? undefined : findRoot(sample);
      if (sample === undefined || root === undefined || root.single) return [];
      const suggestion = suggestConnector(sample);
      if (suggestion.kind === 'nothing') return [];
      const mapped = suggestion.fields.length;
      const priced = suggestion.fields.some(({ field }) => field === 'total_amount') ? 1 : 0;
      const window = findWindow(operation);
      const score =
        Math.round((name + mapped / 6 + priced + (window === undefined ? 0 : 1 + 2 * window.confidence)) * 100) / 100;
      return [
        {
          operation,
          sample,
          suggestion,
          score,
          confidence: Math.min(0.95, 0.5 + score / 20),
          reason: `its answer lists records with the dates of a stay; ${mapped} fields found${window === undefined ? '' : `, and a range of days by ${window.value.by}`}`,
        },
      ];
    })
    .toSorted((a, b) => b.score - a.score);
}

const otherTopics =
  /\b(?:availability|rate plan|inventory|invoice|folio|payment|housekeeping|report|statistic|audit|webhook|deposit|attachment|note)s?\b/;

function nameScore({ method, path, about }: Operation): number {
  const words = wordsOf(path.replaceAll(/[{}/]/g, ' '));
  const text = `${words.join(' ')} ${wordsOf(about).join(' ')}`;
  const known = words.some((word) => reservationWords.has(word))
    ? 2
    : /\breservations?\b|\bbookings?\b/.test(text)
      ? 1
      : 0;
  const writes = method === 'PUT' || (method === 'POST' && !/\b(?:search|find|list|query|get|filter|all)\b/.test(text));
  // A path that ends with an id answers with one record.
  if (path.endsWith('}')) return 0;
  return known - (writes ? 3 : 0) - (otherTopics.test(words.join(' ')) ? 1.5 : 0) + 1;
}

/** The answer that the schema describes; a status without values takes those that the request filters by. */
function answerOf(operation: Operation): Json | undefined {
  const { response, parameters } = operation;
  if (response === undefined) return undefined;
  const filter = parameters.find(({ name }) => wordsOf(name).some((word) => word === 'status' || word === 'statuses'));
  const choices = filter === undefined ? [] : [...enumOf(filter.schema), ...enumOf(flattened(filter.schema.items))];
  return synthesize(response, choices.length > 0 ? choices.map(String) : statusesInText(operation));
}

export const operationName = ({ method, path }: Operation) => `${method} ${path}`;

export interface ProposedSingle {
  readonly single: JsonObject;
  /** Where the answer has the reservation; absent for the answer itself. */
  readonly singlePath?: string;
}

/** The operation that answers with one reservation by its id. */
export function findSingle(description: ApiDescription, list: Operation): Proposed<ProposedSingle> | undefined {
  const nearest = description.operations
    .flatMap((operation) => {
      const id = idOf(operation, list);
      if (operation === list || operation.method !== 'GET' || id === undefined) return [];
      const answer =
        operation.sample ?? (operation.response === undefined ? undefined : synthesize(operation.response));
      const place = answer === undefined ? undefined : placeOfOne(answer);
      return place === undefined ? [] : [{ operation, id, place, near: shared(operation.path, list.path) }];
    })
    .toSorted((a, b) => b.near - a.near || b.place.score - a.place.score)[0];
  if (nearest === undefined) return undefined;
  const { operation, id, place } = nearest;
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
