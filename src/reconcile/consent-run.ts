import type { EpochMs } from '../terms.ts';
import { isNewer, type Mark, type Source, type Values } from './statement.ts';

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
  readonly since: Mark;
  /** The newest statement of the same source that said otherwise. */
  readonly otherwise?: Mark | undefined;
}

interface Stated {
  readonly values: Values;
  readonly at?: { readonly [field: string]: Mark } | undefined;
  readonly run?: ConsentRun | undefined;
}

const field = 'marketing_consent';

const lastStated = ({ values, at }: Stated, otherwise: Mark): Mark | undefined =>
  values[field] === undefined ? undefined : (at?.[field] ?? otherwise);

/** The time that counts for the consent of an item. */
export const consentAt = (item: Stated, otherwise: Mark): Mark =>
  (item.values[field] === true ? item.run?.since : undefined) ?? item.at?.[field] ?? otherwise;

/** When the consent of an item began to be stated as it is now. */
export const consentSince = (item: Stated, otherwise: Mark): Mark => item.run?.since ?? item.at?.[field] ?? otherwise;

/** The run after two statements of one source about one guest, in either order of arrival. */
export function runOf(a: Stated, aAt: Mark, b: Stated, bAt: Mark): ConsentRun | undefined {
  const [lastA, lastB] = [lastStated(a, aAt), lastStated(b, bAt)];
  if (lastA === undefined || lastB === undefined) return lastA === undefined ? b.run : a.run;
  const [newer, last, older, olderLast] = isNewer(lastB, lastA) ? [b, lastB, a, lastA] : [a, lastA, b, lastB];
  const isSame = newer.values[field] === older.values[field];
  const otherwise = newest([newer.run?.otherwise, older.run?.otherwise, isSame ? undefined : olderLast]);
  const mentions = [last, consentSince(newer, last), ...(isSame ? [olderLast, consentSince(older, olderLast)] : [])];
  const since = oldest(mentions.filter((mark) => otherwise === undefined || isNewer(mark, otherwise))) ?? last;
  if (otherwise === undefined && !isNewer(last, since)) return undefined;
  return { since, ...(otherwise && { otherwise }) };
}

const newest = (marks: readonly (Mark | undefined)[]): Mark | undefined =>
  marks.reduce(
    (best, mark) => (mark !== undefined && (best === undefined || isNewer(mark, best)) ? mark : best),
    undefined,
  );
const oldest = (marks: readonly Mark[]): Mark | undefined =>
  marks.reduce<Mark | undefined>((best, mark) => (best === undefined || isNewer(best, mark) ? mark : best), undefined);
