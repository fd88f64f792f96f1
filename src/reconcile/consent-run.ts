import type { EpochMs } from '../terms.ts';
import { isNewer, type Moment, type Source, type Values } from './statement.ts';

/** What one source states about a person's consent, and since when. Null: the source states that it is unknown. */
export interface ConsentStatement {
  readonly value: boolean | null;
  /** When the source began to state this. */
  readonly at: EpochMs;
  /** When it last did; absent if it stated it once. */
  readonly until?: EpochMs;
  /** It stated otherwise before. */
  readonly changed?: true;
}

/**
 * Whether a person agrees to marketing: true, false, or unknown (absent). The newest statement counts, and a yes is as old as its first
 * mention: a source that repeats its yes does not overturn a newer no of another source.
 */
export interface Consent extends ConsentStatement {
  readonly source: Source;
  /** The statements of the other sources. */
  readonly others?: { readonly [Name in Source]?: ConsentStatement };
  /** The last statement of the guest's own events. It also counts for bookings that are older and arrive later. */
  readonly own?: { readonly value: boolean | null; readonly source: Source; readonly at: EpochMs };
}

/**
 * A source that repeats a guest's yes says nothing new: against other sources the statement is as old as its first mention. So the next
 * poll does not undo a refusal that arrived by event. A repeated refusal counts as of its last mention.
 */
export interface ConsentRun {
  readonly since: Moment;
  /** The newest statement of the same source that said otherwise. */
  readonly otherwise?: Moment | undefined;
}

interface Stated {
  readonly values: Values;
  readonly at?: { readonly [field: string]: Moment } | undefined;
  readonly run?: ConsentRun | undefined;
}

const field = 'marketing_consent';

const lastStated = ({ values, at }: Stated, otherwise: Moment): Moment | undefined =>
  values[field] === undefined ? undefined : (at?.[field] ?? otherwise);

/** The time that counts for the consent of an item. */
export const consentAt = (item: Stated, otherwise: Moment): Moment =>
  (item.values[field] === true ? item.run?.since : undefined) ?? item.at?.[field] ?? otherwise;

/** When the consent of an item began to be stated as it is now. */
export const consentSince = (item: Stated, otherwise: Moment): Moment =>
  item.run?.since ?? item.at?.[field] ?? otherwise;

/** The run after two statements of one source about one guest, in either order of arrival. */
export function runOf(a: Stated, aAt: Moment, b: Stated, bAt: Moment): ConsentRun | undefined {
  const [lastA, lastB] = [lastStated(a, aAt), lastStated(b, bAt)];
  if (lastA === undefined || lastB === undefined) return lastA === undefined ? b.run : a.run;
  const [newer, last, older, olderLast] = isNewer(lastB, lastA) ? [b, lastB, a, lastA] : [a, lastA, b, lastB];
  const isSame = newer.values[field] === older.values[field];
  const otherwise = newest([newer.run?.otherwise, older.run?.otherwise, isSame ? undefined : olderLast]);
  const mentions = [last, consentSince(newer, last), ...(isSame ? [olderLast, consentSince(older, olderLast)] : [])];
  const since = oldest(mentions.filter((moment) => otherwise === undefined || isNewer(moment, otherwise))) ?? last;
  if (otherwise === undefined && !isNewer(last, since)) return undefined;
  return { since, ...(otherwise && { otherwise }) };
}

const newest = (moments: readonly (Moment | undefined)[]): Moment | undefined =>
  moments.reduce(
    (best, moment) => (moment !== undefined && (best === undefined || isNewer(moment, best)) ? moment : best),
    undefined,
  );
const oldest = (moments: readonly Moment[]): Moment | undefined =>
  moments.reduce<Moment | undefined>(
    (best, moment) => (best === undefined || isNewer(best, moment) ? moment : best),
    undefined,
  );
