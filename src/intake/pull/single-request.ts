import type { Json } from '../../terms.ts';
import { beside } from './beside.ts';
import { type OpenRequest, openRequest } from './request.ts';
import type { PullSettings, RequestTemplate } from './settings.ts';

/** How to request one reservation by its id. */
export interface SingleTemplate extends RequestTemplate {
  /** The id consists of several: {id.0}, {id.1}. */
  readonly split?: { readonly on: string; readonly parts: number };
  /** The name under which the answer gets the requested id. */
  readonly idAs?: string;
}

/** Undefined if the id does not have the parts that the request sends. */
export function singleRequest(
  single: SingleTemplate,
  { baseUrl, brandId }: Pick<PullSettings, 'baseUrl' | 'brandId'>,
  id: string,
): OpenRequest | undefined {
  const values = { id, brand_id: brandId };
  if (single.split === undefined) return openRequest(single, baseUrl, values);
  const parts = id.split(single.split.on).map((part) => part.trim());
  if (parts.length !== single.split.parts || parts.includes('')) return undefined;
  return openRequest(single, baseUrl, {
    ...values,
    ...Object.fromEntries(parts.map((part, index) => [`id.${index}`, part])),
  });
}

/** The answer with the requested id beside the reservation, for the mapping to read at `$body`. */
export function withRequestedId(body: Json, { idAs }: SingleTemplate, id: string): Json {
  if (idAs === undefined) return body;
  return typeof body === 'object' && body !== null ? { ...beside(body), [idAs]: id } : body;
}
