import type { Reservation } from '../canonical/reservation.ts';
import type { EpochMs } from '../terms.ts';
import { merge } from './merge.ts';
import { readViews, type StoredViews } from './said.ts';
import type { Mark, Source } from './statement.ts';

/**
 * Whether a guest agrees to marketing: true, false, or unknown (absent). Kept with its source and time, so that a value that a newer
 * message only repeats does not undo a newer statement.
 */
export interface Consent {
  /** Null: an event cleared it. */
  readonly value: boolean | null;
  readonly source: Source;
  readonly at: EpochMs;
  /** The last statement of the guest's own events. It also counts for bookings that are older and arrive later. */
  readonly own?: Pick<Consent, 'value' | 'source' | 'at'>;
}

/** The rows of one page have one time: of two statements with the same time, a refusal wins. */
export function newerConsent(known: Consent | undefined, other: Consent | undefined): Consent | undefined {
  if (known === undefined || other === undefined) return known ?? other;
  const newer = newerOf(known, other);
  const own = known.own && other.own ? newerOf(known.own, other.own) : (known.own ?? other.own);
  return own === undefined || own === newer.own ? newer : { ...newer, own };
}

function newerOf<One extends Pick<Consent, 'value' | 'at'>>(known: One, other: One): One {
  if (other.at === known.at) return other.value === false && known.value !== false ? other : known;
  return other.at > known.at ? other : known;
}

/** The consent of each guest of a stored reservation, by position. */
export function consentsIn(
  record: Reservation,
  said: StoredViews | undefined,
  mark: Mark,
): readonly (Consent | undefined)[] {
  if (!record.guests.some(({ marketing_consent }) => marketing_consent !== undefined)) return [];
  const { givers } = merge(readViews(said, record, mark));
  return record.guests.map(({ marketing_consent: value }, index) => {
    const giver = givers.get(`guests[${index}].marketing_consent`);
    return value === undefined || giver === undefined ? undefined : { value, source: giver.source, at: giver.at[0] };
  });
}
