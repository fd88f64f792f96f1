import { isObject, type Json, type JsonObject } from '../../../../src/terms.ts';
import { findPaging, pagingNames } from '../paging.ts';
import type { Suggestion } from '../suggest.ts';
import { wordsOf } from '../words.ts';
import type { Operation, Parameter, Proposed } from './model.ts';
import { exampleOf } from './schema.ts';

/** Cursors that are the id of the last row received. */
const afterIds = ['starting after', 'start after', 'after id', 'last id'];

/** How pages follow each other: from the request's parameters, else from the response. */
export function pagingFor(operation: Operation, sample: Json, suggestion: Suggestion & { kind: 'ok' }) {
  const shape = isObject(suggestion.connector.shape) ? suggestion.connector.shape : {};
  const rootPath = typeof shape.root_path === 'string' ? shape.root_path : undefined;
  const seen = findPaging(isObject(sample) ? sample : {}, rootPath);
  const total = seen.total ?? (isObject(sample) && typeof sample.total === 'number' ? 'total' : undefined);
  const { type, next } = seen.pagination;
  const id = isObject(suggestion.connector.map) ? suggestion.connector.map.id : undefined;
  const lastId = typeof id === 'string' && rootPath?.includes('[') !== true ? `${rootPath ?? ''}[-1].${id}` : undefined;
  const cursor = type === 'cursor' ? String(next) : undefined;
  const asked = findParameterPaging(operation, { total, lastId, cursor, more: seen.more });
  if (asked !== undefined) return { pagination: asked.value, confidence: asked.confidence, reason: asked.reason };
  if (seen.confidence >= 0.7) return seen;
  return {
    pagination: { type: 'none' } as JsonObject,
    confidence: 0.6,
    reason: 'no parameter of the request asks for a page',
  };
}

/** How pages follow each other, from the names of the parameters; `envelope` is what the response shows. */
function findParameterPaging(
  { parameters, responseHeaders = [] }: Operation,
  envelope: {
    /** The path of the last row's id. */
    readonly lastId?: string | undefined;
    readonly total?: string | undefined;
    readonly cursor?: string | undefined;
    readonly more?: string | undefined;
  },
): Proposed<JsonObject> | undefined {
  const named = ({ name }: Parameter) => wordsOf(lastKey(name)).join(' ');
  const asked = parameters.filter((one) => one.in === 'query' || one.in === 'body');
  const by = (names: readonly string[]) => names.flatMap((name) => asked.find((one) => named(one) === name) ?? [])[0];
  const limit = by(pagingNames.limit);
  const size = limit && { limit: placeOf(limit), page_size: pageSize(limit) };
  const total = envelope.total === 'total' ? undefined : envelope.total;
  const as = (value: JsonObject, confidence: number, reason: string): Proposed<JsonObject> => ({
    value: { ...value, ...size, ...(total !== undefined && { total }) },
    confidence,
    reason,
  });
  const cursor = by(pagingNames.cursor);
  const nextHeader = responseHeaders.find((name) =>
    pagingNames.cursor.includes(wordsOf(name.replace(/^x-/i, '')).join(' ')),
  );
  const isAfterId = cursor !== undefined && afterIds.includes(named(cursor));
  const next = envelope.cursor ?? (nextHeader && `header.${nextHeader}`) ?? (isAfterId ? envelope.lastId : undefined);
  const more = envelope.more === undefined ? {} : { more: envelope.more };
  if (cursor !== undefined && next !== undefined) {
    const reason = `the response names the next page in ${next}, and the request takes it as ${cursor.name}`;
    return as({ type: 'cursor', next, ...more, cursor: placeOf(cursor) }, 0.95, reason);
  }
  const offset = by(pagingNames.offset);
  if (offset !== undefined && limit !== undefined) {
    const reason = `the request takes ${offset.name} and ${limit.name}`;
    return as({ type: 'offset', offset: placeOf(offset), ...firstOf(offset, 0) }, 0.95, reason);
  }
  const page = by(pagingNames.page);
  if (page !== undefined) {
    const reason = `the request takes ${page.name}${limit === undefined ? '' : ` and ${limit.name}`}`;
    return as({ type: 'page', page: placeOf(page), ...firstOf(page, 1) }, limit === undefined ? 0.85 : 0.95, reason);
  }
  if (responseHeaders.some((name) => name.toLowerCase() === 'link'))
    return as({ type: 'link' }, 0.85, 'the response has a Link header');
  if (cursor === undefined) return undefined;
  const reason = `the request takes ${cursor.name}, but the description does not say where the response names the next page: set next`;
  return as({ type: 'cursor', next: 'next_cursor', ...more, cursor: placeOf(cursor) }, 0.3, reason);
}

export const lastKey = (name: string) => name.split('.').at(-1) ?? name;
const placeOf = ({ in: place, name }: Parameter) => `${place}.${name}`;

/** As many rows as the partner allows, up to 200. */
function pageSize({ schema, about }: Parameter): number {
  const described = /\b(?:max(?:imum)?|up to|at most)\b[^\d]{0,20}(\d{1,5})/i.exec(about)?.[1];
  const most =
    typeof schema.maximum === 'number' ? schema.maximum : described === undefined ? undefined : Number(described);
  const example = exampleOf(schema);
  const usual =
    typeof schema.default === 'number'
      ? Math.max(schema.default, 100)
      : typeof example === 'number' && example >= 10
        ? example
        : 200;
  return Math.max(1, Math.min(200, most ?? usual));
}

/** The number of the first page, where it is not the usual one. */
function firstOf({ schema, about }: Parameter, usual: 0 | 1): { readonly first?: number } {
  const said =
    schema.default === 0 || schema.default === 1
      ? schema.default
      : /\b(?:zero|0)[- ]based\b|starts? (?:at|with|from) 0\b/i.test(about)
        ? 0
        : schema.minimum === 0 || schema.minimum === 1
          ? schema.minimum
          : usual;
  return said === usual ? {} : { first: said };
}
