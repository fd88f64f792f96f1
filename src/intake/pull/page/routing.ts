import type { Brand } from '../../../brand/brand.ts';
import { shortHash } from '../../../kit/short-hash.ts';
import type { PullPlan } from '../ports.ts';
import type { Row } from './row.ts';

/** The rows of a page by the brand that they belong to. */
export interface RoutedRows {
  readonly own: readonly Row[];
  readonly others: readonly { readonly brand: Brand; readonly rows: readonly Row[] }[];
  /** The properties of the rows that no brand takes; an empty text for a row that names none. */
  readonly unrouted: readonly string[];
}

/**
 * Divides one poll between several brands of one account. Every row names its property. A row that names an unknown property, or none,
 * is left out and counted; its brand is never guessed.
 */
export function routeRows({ settings, routing }: PullPlan, rows: readonly Row[]): RoutedRows {
  if (routing === undefined) return { own: rows, others: [], unrouted: [] };
  const byProperty = Map.groupBy(rows, ({ property = '' }) => property);
  const own = byProperty.get(settings.brandId) ?? [];
  const others = routing.brands.flatMap((brand) => {
    const its = byProperty.get(brand.body.brand_id);
    return its === undefined ? [] : [{ brand, rows: its }];
  });
  const taken = new Set([settings.brandId, ...routing.brands.map(({ body }) => body.brand_id)]);
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
