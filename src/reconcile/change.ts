import type { ChangeEvent } from '../terms.ts';

/** The next version of a record, and what kind of change it is. Every status may follow every other: hotels undo check-ins and revive cancellations. */
export function changeAfter(
  known: { readonly version: number; readonly status?: string | undefined } | undefined,
  status: string | undefined,
): { readonly event: ChangeEvent; readonly version: number } {
  const endsNow = ended.has(status ?? '') && !ended.has(known?.status ?? '');
  const event = endsNow ? 'cancelled' : known === undefined ? 'created' : 'updated';
  return { event, version: (known?.version ?? 0) + 1 };
}

const ended = new Set(['cancelled', 'no_show']);

export const newerIsStored = 'A newer state is stored.';
