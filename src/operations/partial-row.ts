import type { Prepared } from '../reconcile/incoming.ts';
import type { RawRecord } from '../shape/config.ts';
import type { JsonObject } from '../terms.ts';

/** What a bare row of a further list states about a reservation that is known already; undefined for any other row. */
export function statedBy(raw: RawRecord, prepared: Prepared): JsonObject | undefined {
  if (raw.partial !== true || prepared.kind !== 'dead' || prepared.message === undefined) return undefined;
  return { id: raw.key, ...prepared.message.says().values };
}
