import type { Brand } from '../../../brand/brand.ts';
import type { Pagination } from '../../../documents/connector-pagination.ts';
import type { ErrorCode } from '../../../errors.ts';
import { shortHash } from '../../../kit/short-hash.ts';
import { answerReader } from '../../../outbound/ask/answer.ts';
import type { Asked } from '../../../outbound/ask/ports.ts';
import type { RawRecord } from '../../../shape/shape.ts';
import type { Json } from '../../../terms.ts';
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
  const shaped = shaper.records(body);
  if (shaped.kind === 'invalid') return { kind: 'misshapen', code: 'pull.wrong_shape', message: shaped.message };
  const shown = shaper.flat
    ? shaper.rows(body).map((row) => flatRow(row, shaper.rowKey(row)))
    : shaped.records.map((raw) => nestedRow(raw, plan.routing));
  const rows = shaper.flat ? shown : withPartials(lastOfEach(shown));
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

function nestedRow(raw: RawRecord, routing: Routing | undefined): Row {
  const content = shortHash(JSON.stringify(raw.value));
  const property = routing?.propertyOf(raw.value);
  const identity =
    raw.key === '' ? content : raw.partial ? partialIdentity(raw.key, property) : rowIdentity(raw.key, property);
  return { identity, content, raw, ...(property !== undefined && { property }) };
}

/** A bare cancellation adds to the row of the same reservation, it does not replace it: the two are different rows. */
function partialIdentity(key: string, property: string | undefined): number {
  return rowIdentity(`${key} \u0000partial`, property);
}

/** If a page shows a reservation twice, the later row counts. */
function lastOfEach(rows: readonly Row[]): readonly Row[] {
  const last = new Map(rows.map((row) => [row.identity, row]));
  return last.size === rows.length ? rows : rows.filter((row) => last.get(row.identity) === row);
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
