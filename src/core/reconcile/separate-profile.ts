import type { Json } from '../../terms.ts';
import { fields } from '../canonical/fields.ts';
import type { Guest } from '../canonical/reservation.ts';
import { isSame } from './guest-update.ts';

/** The field that names the profile into which this one was merged. */
const mergedInto = 'merged_into';

/** What remains of a profile after it was merged into another one. A refusal remains: it also concerns the profile's own address. */
export const retired = (into: string, { marketing_consent: consent }: Guest): Guest => ({
  ...(consent === false && { marketing_consent: false }),
  extra: { [mergedInto]: into },
});

export function continuedBy({ extra }: Guest): string | undefined {
  const id = extra?.[mergedInto];
  return typeof id === 'string' ? id : undefined;
}

/**
 * Removes another person's values from a profile. A value equal to the other person's is replaced by the one in `own`, or removed if
 * `own` has none. All other values stay.
 */
export function withoutOther(whole: Guest, other: Guest, own: Guest): Guest {
  const kept: Record<string, unknown> = {};
  for (const field of Object.keys(fields.guests) as (keyof Guest)[]) {
    const value = isSame(whole[field] as Json, other[field] as Json) ? own[field] : whole[field];
    if (value !== undefined) kept[field] = value;
  }
  return kept as Guest;
}
