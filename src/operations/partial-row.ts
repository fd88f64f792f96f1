import type { Statement } from '../reconcile/forms.ts';
import type { JsonObject } from '../terms.ts';

/** What a bare row of a further list states about a reservation that is known already; undefined for any other row. */
export function statedBy({ raw, says, record }: Statement): JsonObject | undefined {
  if (raw.partial !== true || record !== undefined || says === undefined) return undefined;
  return { id: raw.key, ...says.values };
}
