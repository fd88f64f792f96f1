import type { ErrorCode } from '../../../../errors.ts';
import { shortHash } from '../../../../kit/short-hash.ts';
import type { Json } from '../../../../terms.ts';
import type { Brand } from '../../../brand/brand.ts';
import type { Pagination } from '../../../documents/connector-pagination.ts';
import { pathReader } from '../../../json-path/read.ts';
import { answerReader } from '../../../outbound/ask/answer.ts';
import type { Asked } from '../../../outbound/ask/ports.ts';
import type { RawRecord } from '../../../shape/shape.ts';
import type { PullPlan, Routing } from '../ports.ts';
import { readTotal } from './paginate.ts';

export interface WholePage {
  readonly kind: 'page';
  /** Each reservation once; flat rows as received. */
  readonly rows: readonly Row[];
  /** Rows with the id of a later one. */
  readonly repeated: number;
  /** Rows as the partner's paging counts them. */
  readonly count: number;
  readonly total?: number;
  readonly fingerprint: number;
  /** What acknowledges the rows, earlier ones of the same reservation included; unless the ids of the reservations do. */
  readonly receipts?: readonly string[];
}

type Page = WholePage | { readonly kind: 'misshapen'; readonly code: ErrorCode; readonly message: string };

/** The rows of an answer. */
export function readPage(plan: PullPlan, answer: Extract<Asked, { kind: 'answer' }>): Page {
  const { body, headers } = answer;
  if (body === undefined) return { kind: 'page', rows: [], repeated: 0, count: 0, fingerprint: 0 };
  const { pull: shaper } = plan.brand.shapers;
  const changedAt = plan.settings.changed === undefined ? undefined : pathReader(plan.settings.changed);
  const shaped = shaper.records(body);
  if (shaped.kind === 'invalid') return { kind: 'misshapen', code: 'pull.wrong_shape', message: shaped.message };
  const shown = shaper.flat
    ? shaper.rows(body).map((row) => flatRow(row, shaper.rowKey(row)))
    : shaped.records.map((raw) => nestedRow(raw, plan.routing, changedAt));
  const rows = shaper.flat ? shown : withPartials(newestOfEach(shown));
  const { pagination } = plan.settings;
  const shownTotal = pagination.type !== 'none' && pagination.total === false ? undefined : readTotal(shaped.total);
  const total = totalOf(pagination, body, headers) ?? shownTotal;
  return {
    kind: 'page',
    rows,
    repeated: shown.length - rows.length,
    count: Math.max(shaper.count(body), 0),
    ...(total !== undefined && { total }),
    fingerprint: rows.length === 0 ? 0 : shortHash(rows.map(({ identity }) => identity).join()),
    ...(shaper.receipt && { receipts: shown.flatMap(({ raw }) => shaper.receipt?.(raw.value) ?? []) }),
  };
}

function nestedRow(
  raw: RawRecord,
  routing: Routing | undefined,
  changedAt: ((row: Json) => Json | undefined) | undefined,
): Row {
  const content = shortHash(JSON.stringify(raw.value));
  const property = routing?.propertyOf(raw.value);
  const identity =
    raw.key === '' ? content : raw.partial ? partialIdentity(raw.key, property) : rowIdentity(raw.key, property);
  const changed = momentOf(changedAt?.(raw.value));
  return {
    identity,
    content,
    raw,
    ...(property !== undefined && { property }),
    ...(changed !== undefined && { changed }),
  };
}

/** A time in ISO 8601, or any number that grows. */
function momentOf(value: Json | undefined): number | undefined {
  const number = typeof value === 'string' && !/^\d+(?:\.\d+)?$/.test(value) ? Date.parse(value) : Number(value);
  return value === null || Number.isNaN(number) ? undefined : number;
}

/** A bare cancellation adds to the row of the same reservation, it does not replace it: the two are different rows. */
function partialIdentity(key: string, property: string | undefined): number {
  return rowIdentity(`${key} \u0000partial`, property);
}

/** If a page shows a reservation twice, the row that changed later counts; of rows that do not say, the later one. */
function newestOfEach(rows: readonly Row[]): readonly Row[] {
  const newest = new Map<number, Row>();
  for (const row of rows) {
    const known = newest.get(row.identity);
    if (known === undefined || (row.changed ?? 0) >= (known.changed ?? 0)) newest.set(row.identity, row);
  }
  return newest.size === rows.length ? rows : rows.filter((row) => newest.get(row.identity) === row);
}

/** Rows know the content of a bare cancellation that adds to them. */
function withPartials(rows: readonly Row[]): readonly Row[] {
  const partial = new Map(rows.flatMap(({ raw, content }) => (raw.partial ? [[raw.key, content]] : [])));
  if (partial.size === 0) return rows;
  return rows.map((row) => {
    const added = row.raw.partial ? undefined : partial.get(row.raw.key);
    return added === undefined ? row : { ...row, added };
  });
}

function flatRow(value: Json, key: string): Row {
  const content = shortHash(JSON.stringify(value));
  return { identity: content, content, raw: { key, value } };
}

/** The total at a path in the response, or in a header as header.NAME. */
export function totalOf(
  pagination: Pagination,
  body: Json,
  headers: Readonly<Record<string, string>>,
): number | undefined {
  if (pagination.type === 'none' || pagination.total === false) return undefined;
  return readTotal(answerReader(pagination.total)(body, headers));
}

/** A row of a page with the hashes that identify it. */
export interface Row {
  /** Hash of the reservation's key; of the whole row if it has no key, and for flat rows. */
  readonly identity: number;
  /** Hash of the content. */
  readonly content: number;
  /** Hash of the bare cancellation that adds to the row: without it, it is another row. */
  readonly added?: number;
  readonly raw: RawRecord;
  /** When the partner changed it, if it says so. */
  readonly changed?: number;
  /** The property that the row names, where one poll serves several brands. */
  readonly property?: string;
}

/**
 * Divides one poll between several brands of one account. Every row names its property. A row that names an unknown property, or none,
 * is left out and counted; its brand is never guessed.
 */
export function routeRows({ settings, routing }: PullPlan, rows: readonly Row[]) {
  if (routing === undefined) return { own: rows, others: [], unrouted: [] };
  const byProperty = Map.groupBy(rows, ({ property = '' }) => property);
  const own = byProperty.get(settings.brandId) ?? [];
  const others = routing.brands.flatMap((brand) => {
    const its = byProperty.get(brand.body.brand_id);
    return its === undefined ? [] : [{ brand, rows: its }];
  });
  const taken = new Set([settings.brandId, ...routing.brands.map(({ body }) => body.brand_id)]);
  // The properties of the rows that no brand takes; an empty text for a row that names none.
  const unrouted = rows.flatMap(({ property = '' }) => (taken.has(property) ? [] : [property]));
  return { own, others, unrouted };
}

/** The plan for the rows of one brand. */
export function planFor(plan: PullPlan, brand: Brand): PullPlan {
  const { brand_id: brandId, timezone } = brand.body;
  return { brand, settings: { ...plan.settings, brandId, timezone, integration: brand.integration } };
}

/** Reservations of two properties may have the same id. */
export const rowIdentity = (key: string, property: string | undefined): number =>
  shortHash(property === undefined ? key : `${property}\u0000${key}`);
