import type { PullSettings, Single } from '../../../documents/pull.ts';
import { type OpenRequest, openRequest } from '../../../outbound/ask/request.ts';
import type { Json } from '../../../terms.ts';
import { asObject } from '../page/as-object.ts';

/** Undefined if the id does not have the parts that the request sends. */
export function singleRequest(
  single: Omit<Single, 'map'>,
  { base_url: baseUrl, brandId }: Pick<PullSettings, 'base_url' | 'brandId'>,
  id: string,
): OpenRequest | undefined {
  const values = { id, brand_id: brandId };
  if (single.split === undefined) return openRequest(single, baseUrl, values);
  const parts = id.split(single.split).map((part) => part.trim());
  if (parts.length !== partsIn(single) || parts.includes('')) return undefined;
  return openRequest(single, baseUrl, {
    ...values,
    ...Object.fromEntries(parts.map((part, index) => [`id.${index}`, part])),
  });
}

/** How many ids the request sends: {id.0}, {id.1}. */
export function partsIn({ path, query, body, headers }: Pick<Single, 'path' | 'query' | 'body' | 'headers'>): number {
  const used = JSON.stringify([path, query, body, headers]).matchAll(/\{id\.(\d)\}/g);
  return Math.max(...Array.from(used, ([, index]) => Number(index))) + 1;
}

/** The answer with the requested id beside the reservation, for the mapping to read at `$body`. */
export function withRequestedId(body: Json, { id_as: idAs }: Single, id: string): Json {
  if (idAs === undefined) return body;
  return typeof body === 'object' && body !== null ? { ...asObject(body), [idAs]: id } : body;
}
