import { isAbsence } from '../canonical/notes.ts';
import type { EpochMs } from '../terms.ts';
import { type Aside, saysSame, split, togetherWith } from './aside.ts';
import { difference } from './difference.ts';
import type { Arrival, Statement } from './forms.ts';
import { merge, type Views } from './merge.ts';
import { isNewer, type Moment, type Says } from './says.ts';
import { accept, repeated, statesSame, type View } from './view.ts';

/** A value of the partner that must not count now. */
export interface HeldPath {
  readonly hold: string;
  /** Canonical, such as guests.email; empty for the whole statement. */
  readonly path: string;
}

export interface Heard {
  /** What each source says, including the statement. */
  readonly views: Views;
  readonly aside: readonly Aside[];
  /** The list shows what it showed before. */
  readonly isRepeated: boolean;
  /** Some of the statement is set aside. */
  readonly isHeld: boolean;
}

export const momentOf = ({ effectiveAt, seq = 0 }: Arrival): Moment => [effectiveAt, seq];

/** A row of a list that a run reads. Older rows that are processed again show nothing. */
export const isOfList = ({ arrival, source }: Statement): boolean => arrival.cause === 'run' && source === 'pull';

/**
 * The list's newest row, processed again, counts as of when the list last showed it: the view states that row, and has the time. With its
 * own time it would be older than what it said itself.
 */
export function asLastShown<Of extends Statement>(statement: Of, { pull }: Views): Of {
  const { arrival, source } = statement;
  const shownAt = pull?.moment[0] ?? 0;
  if (arrival.cause !== 'reprocess' || source !== 'pull' || shownAt <= arrival.effectiveAt) return statement;
  return { ...statement, arrival: { ...arrival, effectiveAt: shownAt } };
}

/** What the sources of a reservation say after one more statement. Values of the paths in `held` are set aside. */
export function hear(
  known: Views,
  asides: readonly Aside[],
  statement: Statement & { readonly says: Says },
  held: readonly HeldPath[],
  lagMs: number,
): Heard {
  const { source, says, manner, arrival } = statement;
  const before = known[source];
  const own = asides.filter((one) => one.source === source);
  const kept: Aside[] = asides.filter((one) => one.source !== source && !isOutdated(one, says, momentOf(arrival)));
  const shown = own.reduce<View | undefined>((view, one) => accept(view, one.says, one.moment, one.manner), before);
  const isAbsent = statement.notes.some(isAbsence);
  const current = own.filter((one) => isAbsent || !one.isAbsence);
  const isRepeated =
    isOfList(statement) &&
    current.length === own.length &&
    shown !== undefined &&
    statesSame(shown, accept(shown, says, momentOf(arrival), manner));
  let view = isRepeated
    ? before && repeated(before, arrival.effectiveAt, lagMs)
    : accept(before, says, momentOf(arrival), manner);
  const moment = isRepeated && view !== undefined ? view.moment : momentOf(arrival);
  let isHeld = isRepeated && own.some(({ isRefused }) => !isRefused);
  const setAside = (
    path: string,
    as: Pick<Aside, 'hold' | 'isRefused'> & { readonly like?: Aside },
  ): 'unsaid' | 'passes' | 'aside' => {
    if (view === undefined) return 'aside';
    let parted = path === '' ? whole(before, statement) : split(before, view, path, moment);
    // The source said this before, and another one overruled it. Now it would count, and the source has no earlier value to fall back on.
    if (parted.kind === 'same' && as.like === undefined && changesRecord(known, { ...known, [source]: view }, path))
      parted = split(undefined, view, path, moment);
    if (parted.kind === 'unsaid') return 'unsaid';
    if (parted.kind === 'same' || (as.like && !saysSame(parted.said.says, as.like.says))) return 'passes';
    view = parted.kept;
    const { hold, isRefused, like } = as;
    const at = like && path.endsWith(consentField) ? like.moment : moment;
    const absence = isAbsent && { isAbsence: isAbsent };
    kept.push({ hold, ...(isRefused && { isRefused }), ...absence, source, path, moment: at, ...parted.said });
    isHeld ||= isRefused !== true;
    return 'aside';
  };
  if (isRepeated) kept.push(...own.map((one) => repeatedAside(one, arrival.effectiveAt - lagMs)));
  else
    for (const aside of current) {
      const isOlder = isNewer(aside.moment, moment);
      const became = isOlder ? 'unsaid' : setAside(aside.path, { ...aside, like: aside });
      if (became === 'unsaid') kept.push(aside);
    }
  for (const { path, hold } of held) {
    if (!kept.some((one) => one.source === source && one.path === path && one.hold === hold)) setAside(path, { hold });
  }
  const { [source]: _, ...others } = known;
  return { views: view === undefined ? others : { ...known, [source]: view }, aside: kept, isRepeated, isHeld };
}

/** Whether the merged record changes in the values of the path. */
const changesRecord = (known: Views, after: Views, path: string): boolean =>
  difference(merge(known).draft, merge(after).draft).some(({ path: at }) => {
    const field = at.replace(/\[\d+\]/g, '');
    return togetherWith(path).includes(field) || field.startsWith(`${path}.`);
  });

const consentField = 'marketing_consent';

/** A value that a list repeats counts as of `at`; a consent stays as old as its first mention. */
const repeatedAside = (aside: Aside, at: EpochMs): Aside =>
  aside.path.endsWith(consentField) || !isNewer([at, 0], aside.moment) ? aside : { ...aside, moment: [at, 0] };

/**
 * The list has a newer value than a held event: if that were released, it would no longer count. What is held of the list itself stays: the
 * list may go on showing it.
 */
const isOutdated = ({ source, path, moment: at }: Aside, { values }: Says, moment: Moment): boolean =>
  source === 'push' && isNewer(moment, at) && (values[path] ?? null) !== null;

const whole = (before: View | undefined, { says, manner }: Statement & { readonly says: Says }) =>
  ({ kind: 'differs', kept: before, said: { says, manner } }) as const;

/** Part of it does not count now: a newer statement overrules it, or it repeats a row from before an event. */
export function isOverruled(
  known: Views,
  { views: after, isRepeated }: Heard,
  statement: Statement & { readonly says: Says },
): boolean {
  const { source, says, manner, arrival } = statement;
  const moment = momentOf(arrival);
  const others = Object.entries(known).flatMap(([name, view]) => (name === source || view === undefined ? [] : [view]));
  const isOld = Object.values(known).some((view) => view !== undefined && isNewer(view.moment, moment));
  if (!isOld && (!isRepeated || others.length === 0)) return false;
  const newest = { ...known, [source]: accept(known[source], says, endOfTime, manner) };
  return difference(merge(newest).draft, merge(after).draft).length > 0;
}

const endOfTime: Moment = [Number.MAX_SAFE_INTEGER, 0];
