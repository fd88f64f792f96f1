import type { JsonObject } from '../../terms.ts';
import type { RequestTemplate } from './settings.ts';
import { repeatForIds, usesId, type Values } from './template.ts';

/** The calls that acknowledge a page: one for all its ids, or one per id if {id} is used outside a list. */
export function acknowledgements(
  template: RequestTemplate,
  ids: readonly string[],
  brandId: string,
): { readonly template: RequestTemplate; readonly values: Values }[] {
  if (ids.length === 0) return [];
  const body = template.body && (repeatForIds(template.body, ids) as JsonObject);
  const call = body === undefined ? template : { ...template, body };
  const all = { ids: [...ids], 'ids.joined': ids.join(','), brand_id: brandId };
  const isForEach = [call.path, call.query, body, call.headers].some((part) => usesId(part));
  return isForEach ? ids.map((id) => ({ template: call, values: { ...all, id } })) : [{ template: call, values: all }];
}
