import { isObject, type Json } from '../../terms.ts';
import { pathText, type Step } from '../json-path/path.ts';
import type { ShapeSection } from './config.ts';
import { loneScope } from './draft.ts';
import type { Env } from './env.ts';
import { compileEach, compileRead } from './read.ts';
import { isHollow, keyOfStep, type Scope } from './scope.ts';

/** Finds the records in a response. */
export type Rows = ReturnType<typeof compileRows>;

export interface FoundRows {
  readonly kind: 'ok';
  readonly rows: readonly Scope[];
  /** The rows of further lists that may lack dates or status. */
  readonly partial: readonly Scope[];
}

export interface Misshapen {
  readonly kind: 'invalid';
  readonly code: 'record.root_not_found' | 'record.not_a_list';
  readonly message: string;
  /** A single reservation was looked for, and the place where it would be is empty. */
  readonly isEmpty?: boolean;
}

export function compileRows(shape: ShapeSection, env: Env) {
  const root = place(shape.root_path, 'shape.root_path', env);
  const alone = shape.single_path === undefined ? undefined : place(shape.single_path, 'shape.single_path', env);
  const total = place(shape.total ?? 'total', 'shape.total', env);
  const further = (shape.also ?? []).map(({ path, set = {}, partial = false }, i) => {
    const { each } = place(path, `shape.also[${i}].path`, env);
    return { partial, rows: (scope: Scope) => each(scope).map((row) => withFields(row, set)) };
  });
  /** All rows, or why the response has none. */
  const all = (body: Json): FoundRows | Misshapen => {
    const scope = answerScope(body);
    const located = listAt(root, scope, shape);
    if (located) return located;
    const rows = root.each(scope);
    if (further.length === 0) return { kind: 'ok', rows, partial: [] };
    const those = (partial: boolean) => further.flatMap((list) => (list.partial === partial ? list.rows(scope) : []));
    return { kind: 'ok', rows: [...rows, ...those(false)], partial: those(true) };
  };
  return {
    all,
    single: (body: Json) => singleAt(body, root, alone),
    /** How many rows the partner's paging counts in this response. */
    count: (body: Json) =>
      listAt(root, answerScope(body), shape) === undefined ? root.counted(answerScope(body)).length : 0,
    total: (body: Json) => wholeNumber(total.read(answerScope(body))),
  };
}

/** A bare list with related tables beside it is at `$list`; the shape reads it as the answer itself. */
function answerScope(body: Json): Scope {
  const scope = loneScope(body);
  return isObject(body) && Array.isArray(body.$list) ? { ...scope, item: body.$list } : scope;
}

function withFields(row: Scope, fields: Readonly<Record<string, Json>>): Scope {
  return isObject(row.item) ? { ...row, item: { ...row.item, ...fields } } : row;
}

type RowsAt = ReturnType<typeof place>;

function place(text: string | undefined, at: string, env: Env) {
  const path = env.path(text ?? '$item', at) ?? { start: 'item', up: 0, steps: [] };
  if (path.start !== 'item' || path.up > 0) env.problem(at, 'this path starts at the response itself', 0);
  const each = path.steps.findIndex((step) => step.kind === 'each');
  const keys = path.steps.findIndex((step) => step.kind !== 'key');
  const counted = each < 0 ? path : { ...path, steps: path.steps.slice(0, each + 1) };
  const list = keys < 0 ? path : { ...path, steps: path.steps.slice(0, keys) };
  return {
    text,
    each: compileEach(path),
    /** The items that paging counts: those of the first list on the path. */
    counted: compileEach(counted),
    read: compileRead(path, false),
    /** Reads the path up to its first index or []: the list that holds the rows. */
    list: compileRead(list, false),
    /** For a path that goes through lists, and so has no single value: the first of these lists. */
    outer: each < 0 ? undefined : outerList(path.steps.slice(0, each)),
  };
}

function outerList(steps: readonly Step[]) {
  const read = compileRead({ start: 'item', up: 0, steps }, false);
  return { text: steps.reduce((base, step) => pathText(base, keyOfStep(undefined, step)), ''), read };
}

/** Why there is no list at the path, or undefined. A null list is empty, and so is an empty object where a list is named; a missing one may mean a wrong path, so it does not count as empty. */
function listAt(root: RowsAt, scope: Scope, shape: ShapeSection): Misshapen | undefined {
  const { text = '', read } = root.outer ?? root;
  const value = read(scope);
  if (Array.isArray(value) || value === null) return undefined;
  if (value === undefined) {
    if (shape.missing_is_empty === true) return undefined;
    return {
      kind: 'invalid',
      code: 'record.root_not_found',
      message: `The response has nothing at ${text || 'its root'}; ${seen(scope.item)}.`,
    };
  }
  if (isHollow(value) && (text !== '' || shape.object_is_one === true)) return undefined;
  // A path through lists also goes through the values of an object.
  if (typeof value === 'object' && (root.outer !== undefined || shape.object_is_one === true)) return undefined;
  const where = text === '' ? 'The response is' : `At ${text} there is`;
  const actual = typeof value === 'object' ? `an object with ${names(value)}` : `a ${typeof value}`;
  const hint = root.text === undefined ? '; set shape.root_path to the key that holds the list' : '';
  return {
    kind: 'invalid',
    code: 'record.not_a_list',
    message: `${where} ${actual}, not a list of reservations${hint}.`,
  };
}

/** A single reservation: at single_path, else at root_path, else the response itself. */
function singleAt(
  body: Json,
  root: RowsAt,
  alone: RowsAt | undefined,
): { readonly kind: 'ok'; readonly row: Scope } | Misshapen {
  const scope = answerScope(body);
  const [row] = alone === undefined ? listedOrBare(scope, root) : alone.each(scope);
  if (row !== undefined && typeof row.item === 'object' && row.item !== null) return { kind: 'ok', row };
  const list = (alone ?? root).list(scope);
  return {
    kind: 'invalid',
    code: 'record.root_not_found',
    message: `The response holds no single reservation; ${seen(body)}.`,
    isEmpty: isEmptyList(body) || isEmptyList(list) || (list !== body && isHollow(list)),
  };
}

function isEmptyList(value: Json | undefined): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

function listedOrBare(scope: Scope, root: RowsAt): readonly Scope[] {
  const rows = root.text === undefined ? [] : root.each(scope);
  // An empty list means no reservation: its envelope is not one.
  const value = root.text === undefined ? undefined : root.read(scope);
  if (rows.length > 0 || Array.isArray(value) || isHollow(value)) return rows;
  return bare(scope);
}

/** The response itself as one record: an object, or a list that contains it. */
function bare(scope: Scope): Scope[] {
  const { item } = scope;
  if (!Array.isArray(item)) return [scope];
  return item.slice(0, 1).map((only): Scope => ({ ...scope, item: only, up: scope }));
}

/** Names keys so that the engineer can find the list; never values, which may be guest data. */
function seen(body: Json | undefined): string {
  if (Array.isArray(body)) return 'it is a list';
  return typeof body === 'object' && body !== null
    ? `it is an object with ${names(body)}`
    : `it is ${body === null ? 'null' : `a ${typeof body}`}`;
}

function names(value: object): string {
  const keys = Object.keys(value);
  if (keys.length === 0) return 'no keys';
  return `the keys ${keys
    .slice(0, 8)
    .map((key) => key.slice(0, 40))
    .join(', ')}${keys.length > 8 ? ' and more' : ''}`;
}

function wholeNumber(value: Json | undefined): number | undefined {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}
