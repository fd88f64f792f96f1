import { type Guest, guestSchema } from '../canonical/reservation.ts';
import type { Json } from '../terms.ts';
import { isSame } from './guest-update.ts';

/** The field under which a merged profile names the one that continues it. */
const mergedInto = 'merged_into';

/** What is left of a profile that was merged into another: only where its data went. */
export const retired = (into: string): Guest => ({ extra: { [mergedInto]: into } });

export function continuedBy({ extra }: Guest): string | undefined {
  const id = extra?.[mergedInto];
  return typeof id === 'string' ? id : undefined;
}

/**
 * A profile without what belongs to somebody else. A value that equals the other person's is replaced by what the profile's `own`
 * sources say, or goes; any other value stays.
 */
export function withoutOther(whole: Guest, other: Guest, own: Guest): Guest {
  const kept: Record<string, unknown> = {};
  for (const field of Object.keys(guestSchema.shape) as (keyof Guest)[]) {
    const value = isSame(whole[field] as Json, other[field] as Json) ? own[field] : whole[field];
    if (value !== undefined) kept[field] = value;
  }
  return kept as Guest;
}
