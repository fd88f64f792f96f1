import type { EpochMs } from '../../../terms.ts';
import { isPartOf, isTold, partsOf, type Sign } from './signs.ts';

/** Bookings that arrived together, and how many of them had each sign. */
export interface Counted {
  readonly rows: number;
  readonly signs: { readonly [sign: Sign]: number };
  /** Of the rows with a sign: how many arrive or leave on the same day, or have the same booker. Only what most of them share. */
  readonly shared?: { readonly [sign: Sign]: { readonly [day: string]: number } };
  /** The run to which a page belongs: its pages are judged together. Absent for events. */
  readonly run?: string | undefined;
  /** When the rows came. */
  readonly at?: EpochMs | undefined;
}

/** What is known about one feed of a brand. Bounded; JSON in the store. */
export interface Baseline {
  /** The last batches, newest last, about `recentRows` rows. */
  readonly recent: readonly Counted[];
  /** Of the last thousands of rows; older rows count less and less. */
  readonly usual: Counted;
  /** Open holds, and those that ended lately. */
  readonly holds: readonly Hold[];
  /** What somebody must know although nothing is held back: when it last happened, and how often. */
  readonly told?: { readonly [sign: Sign]: Evidence & { readonly at: EpochMs } };
}

/** One accident of one feed. */
export interface Hold {
  readonly id: string;
  readonly sign: Sign;
  /** Of the rows that were judged: how many had the value stored, and how many still had it or kept it. */
  readonly shareBefore: number;
  readonly shareNow: number;
  /** The bookings that were judged, for the message: 40 of 40. */
  readonly affected: number;
  readonly of: number;
  /** The bookings of which it kept something back. */
  readonly rows: number;
  readonly state: 'open' | 'ended' | 'released' | 'refused';
  readonly at: EpochMs;
  /** When it last kept something back. */
  readonly heldAt: EpochMs;
  readonly closedAt?: EpochMs;
  readonly closedBy?: string;
}

/** Settings of a brand; the defaults are in the integration's schema. */
export interface GuardLimits {
  /** The fewest rows that make an accident. */
  readonly rows: number;
  /** The share of rows, 0 to 1, in a window of at least `manyRows`. */
  readonly share: number;
}

export const nothingKnown: Baseline = { recent: [], usual: { rows: 0, signs: {} }, holds: [] };

const recentRows = 120;
const usualRows = 5_000;
/** A new brand is treated as if it had so many ordinary rows behind it: its first accident must not count as its habit. */
const startRows = 1_000;
const mostSigns = 64;
const mostHolds = 20;
/** With fewer rows than this, nearly all of them must be affected; of events, only if the brand has no more bookings. */
const manyRows = 20;
const fewRowsShare = 0.8;
/** A sign must be this many times as frequent as it usually is for this brand. */
const timesUsual = 3;
/** For how long a released change counts as normal; each occurrence extends it. */
const rememberedMs = 30 * 86_400_000;
/** Not for long: the next cancellation of everything may be an accident. */
const endingsRememberedMs = 2 * 86_400_000;
/** Events of this time are judged together. */
const eventsMs = 3_600_000;
/** Of a brand's bookings, this share of events at most passes before a hold; of a large one, so many that the recent rows can show it. */
const passingShare = 0.1;
const mostPassing = recentRows / 2;
/** More bookings of a brand than these make no difference. */
export const bookingsToldApart = mostPassing / passingShare;

/** The rows of a group arrive on one day, and those whose guests are forgotten left on one day: hardly any other row is affected. */
const groupSize = 60;
const othersShare = 0.2;
const fewestOthers = 3;
/** From this share of one day on, rows may be a group; of two days, if they are events: two groups one after the other. */
const oneDayShare = 0.8;
const twoDaysShare = 0.95;
/** Amounts in another unit or currency, rather than other prices; and how far single rows may be from it. */
const farFactor = 3;
const nearFactor = 1.5;
const mostShared = 6;
/** Bookings that a list no longer shows are cancelled for good: fewer of them are an accident. */
const goneShare = 0.25;

export interface Verdict {
  readonly normal: Baseline;
  /** The signs whose values are held, with their hold. */
  readonly held: ReadonlyMap<Sign, Hold>;
}

interface Evidence {
  readonly affected: number;
  readonly of: number;
}

export interface Known {
  readonly now: EpochMs;
  readonly newId: () => string;
  /** The brand's bookings that are not over, counted up to `bookingsToldApart`. Only asked for of events. */
  readonly bookings: number;
  /** Of the bookings that the list showed before: how many it should show now. Only asked for if it shows unknown ones. */
  readonly expected: number;
}

/**
 * Decides which signs of a batch are accidents: those that most of the last rows have, counted back from the batch over any number of
 * earlier batches, and far more rows than usual. Pages, polls of a small hotel and single events are judged alike.
 */
export function evaluate(normal: Baseline, batches: readonly Counted[], limits: GuardLimits, known: Known): Verdict {
  const { now, newId } = known;
  const recent = newest([...normal.recent, ...batches]);
  const batch = batches.at(-1) ?? { rows: 0, signs: {} };
  const held = new Map<Sign, Hold>();
  const told = { ...normal.told };
  let holds = normal.holds.filter(({ state, sign, at, closedAt = at }) => {
    return state === 'open' || now - closedAt < (isEnding(partsOf(sign).kind) ? endingsRememberedMs : rememberedMs);
  });
  const accidents: Sign[] = [];
  for (const sign of mostTellingFirst(batch.signs)) {
    if (accidents.some((one) => isPartOf(sign, one))) continue;
    const evidence = evidenceOf(sign, recent, normal.usual, limits, known);
    if (evidence === undefined) continue;
    accidents.push(sign);
    if (isTold(sign)) {
      told[sign] = { ...evidence, at: now };
      continue;
    }
    const raised = holds.find((hold) => hold.sign === sign && (hold.state === 'open' || hold.state === 'released'));
    const { affected, of } = evidence;
    const counts = { ...sharesOf(sign, evidence), affected, of, rows: 0 };
    const hold: Hold = raised ?? { id: newId(), sign, ...counts, state: 'open', at: now, heldAt: now };
    if (raised === undefined) holds = [...holds, hold];
    else if (raised.state === 'released')
      holds = holds.map((one) => (one === raised ? { ...one, closedAt: now } : one));
    if (hold.state === 'open') held.set(sign, hold);
  }
  // What is held is not what is usual; what somebody released is.
  const learnt = batches.map((one) => ({ ...one, signs: without(one.signs, held) }));
  const usual = learnt.reduce(added, normal.usual);
  return {
    normal: { recent, usual, holds: holds.slice(-mostHolds), ...(Object.keys(told).length > 0 && { told }) },
    held,
  };
}

/** How the values changed says more than that they did. */
const mostTellingFirst = (signs: Counted['signs']): Sign[] => {
  const isGeneral = (sign: Sign) => Number(partsOf(sign).kind === 'changed');
  return Object.keys(signs).sort((a, b) => isGeneral(a) - isGeneral(b) || (signs[b] ?? 0) - (signs[a] ?? 0));
};

function evidenceOf(
  sign: Sign,
  recent: readonly Counted[],
  usual: Counted,
  limits: GuardLimits,
  known: Known,
): Evidence | undefined {
  const { kind } = partsOf(sign);
  if (kind === 'strangers') return strangersAmong(recent, limits, known);
  const usualShare = (usual.signs[sign] ?? 0) / Math.max(usual.rows, startRows);
  if (timesUsual * usualShare > fewRowsShare) return undefined;
  const least = kind === 'gone' ? Math.min(goneShare, limits.share) : limits.share;
  const share = Math.max(least, timesUsual * usualShare);
  const isPulled = recent.at(-1)?.run !== undefined;
  const passing = isPulled ? 0 : Math.min(mostPassing, Math.floor(known.bookings * passingShare) + 1);
  const count = counter(sign);
  const days = new Map<string, number>();
  let [affected, of] = [0, 0];
  for (let i = recent.length - 1; i >= 0; i--) {
    const { rows, signs, shared, at = known.now, run } = recent[i] as Counted;
    if (!isPulled && known.now - at > eventsMs) return undefined;
    affected += count(signs);
    of += rows;
    for (const [day, size] of Object.entries(shared?.[sign] ?? {})) days.set(day, (days.get(day) ?? 0) + size);
    const isFew = kind !== 'gone' && of < manyRows && (isPulled || known.bookings < manyRows);
    const needed = isFew ? Math.max(share, fewRowsShare) : share;
    if (affected < Math.max(limits.rows, passing) || affected < needed * of) continue;
    const group = groupIn(kind, days, affected, of, { isPulled, now: known.now });
    // Earlier pages of the run tell whether other days are affected as well.
    const hasMore = run !== undefined && recent[i - 1]?.run === run && group === 'perhaps';
    if (group !== 'group' && !hasMore) return { affected, of };
  }
  return undefined;
}

/** Whether nearly all rows of a page are unknown bookings, as in the list of another hotel, or of a new brand. */
export const isStrange = ({ rows, signs }: Counted, limits: GuardLimits): boolean =>
  (signs.strangers ?? 0) >= Math.max(limits.rows, fewRowsShare * rows);

/** A list of another hotel: it misses nearly all bookings that it should show, and shows unknown ones. */
function strangersAmong(recent: readonly Counted[], limits: GuardLimits, { expected }: Known): Evidence | undefined {
  const page = recent.at(-1);
  if (page === undefined || expected < limits.rows || !isStrange(page, limits)) return undefined;
  const unknown = page.signs.strangers ?? 0;
  return page.rows - unknown < (1 - fewRowsShare) * expected ? { affected: unknown, of: expected } : undefined;
}

/**
 * Whether the affected rows may be one group: it arrives, or left, on one day. Whole groups are moved and renegotiated together, and guests
 * who left are forgotten together; but nobody takes back the addresses of guests who are still to come. Bookings that end together are a
 * group only if they have somebody in common who booked them: the missing end of a list has its days in common.
 */
function groupIn(
  kind: string,
  days: ReadonlyMap<string, number>,
  affected: number,
  of: number,
  { isPulled, now }: { readonly isPulled: boolean; readonly now: EpochMs },
): 'group' | 'perhaps' | 'no' {
  const today = new Date(now).toISOString().slice(0, 10);
  const isLeft = (day: string) => day.startsWith('out') && day.slice(4) <= today;
  const sizes = isEnding(kind)
    ? largestOf(days, ['by'])
    : largestOf(kind === 'cleared' ? new Map([...days].filter(([day]) => isLeft(day))) : days, ['in', 'out']);
  if (!isPulled) {
    const [one = 0, other = 0] = sizes.filter((size) => size <= groupSize);
    return one >= oneDayShare * affected || one + other >= twoDaysShare * affected ? 'group' : 'no';
  }
  const [ofOneDay = 0] = sizes;
  const others = of - ofOneDay;
  if (others >= Math.max(fewestOthers, of / 10) && affected - ofOneDay < othersShare * others) return 'group';
  return ofOneDay >= oneDayShare * affected ? 'perhaps' : 'no';
}

const isEnding = (kind: string): boolean => kind === 'gone' || kind === 'status';

/** What the most rows share of one kind: the two most common arrivals, departures or bookers. */
function largestOf(shared: ReadonlyMap<string, number>, kinds: readonly string[]): readonly number[] {
  const sizes = kinds.map((kind) =>
    [...shared]
      .flatMap(([one, rows]) => (one.startsWith(`${kind} `) ? [rows] : []))
      .sort((a, b) => b - a)
      .slice(0, 2),
  );
  const sum = (all: readonly number[]) => all.reduce((total, rows) => total + rows, 0);
  return sizes.toSorted((a, b) => sum(b) - sum(a))[0] ?? [];
}

/** Counts the rows with a sign. Amounts in another unit: some of the rows also changed in an ordinary way since the last poll. */
function counter(sign: Sign): (signs: Counted['signs']) => number {
  const { kind, value } = partsOf(sign);
  const factor = Number(value);
  if (kind !== 'factor' || Math.abs(Math.log(factor)) <= Math.log(farFactor)) return (signs) => signs[sign] ?? 0;
  const isNear = (one: Sign) => Math.abs(Math.log(Number(partsOf(one).value) / factor)) < Math.log(nearFactor);
  return (signs) =>
    Object.entries(signs).reduce(
      (sum, [one, rows]) => sum + (isPartOf(one, sign) && (one === sign || isNear(one)) ? rows : 0),
      0,
    );
}

/** The rows with the sign had the value before; afterwards the others have it. */
function sharesOf(sign: Sign, { affected, of }: Evidence): Pick<Hold, 'shareBefore' | 'shareNow'> {
  const share = Math.min(1, affected / of);
  return partsOf(sign).kind === 'cleared' || partsOf(sign).kind === 'gone'
    ? { shareBefore: 1, shareNow: 1 - share }
    : { shareBefore: 0, shareNow: share };
}

/** Counts the rows of a batch that have each sign, and the days and bookers that they share: of signs that are not rare, which a page has few of. */
export function countSigns(rows: readonly SignedRow[]): Required<Pick<Counted, 'signs' | 'shared'>> {
  const signs: { [sign: Sign]: number } = {};
  for (const row of rows) for (const sign of row.signs) signs[sign] = (signs[sign] ?? 0) + 1;
  const shared: { [sign: Sign]: { readonly [day: string]: number } } = {};
  for (const [sign, count] of Object.entries(signs)) {
    if (count * 20 < rows.length) continue;
    const days: { [day: string]: number } = {};
    for (const row of rows) {
      if (!row.signs.has(sign)) continue;
      const all = [`in ${row.check_in}`, `out ${row.check_out}`, ...(row.bookers ?? []).map((one) => `by ${one}`)];
      for (const one of new Set(all)) days[one] = (days[one] ?? 0) + 1;
    }
    const most = Object.entries(days).sort((one, other) => other[1] - one[1]);
    shared[sign] = Object.fromEntries(most.slice(0, mostShared));
  }
  return { signs, shared };
}

export interface SignedRow {
  readonly signs: ReadonlySet<Sign>;
  readonly check_in: string;
  readonly check_out: string;
  /** Who may have booked it: a person, a company, an agency, a group or a block, without their names. */
  readonly bookers?: readonly string[];
}

/** Whether a batch may be an accident: if not, the store need not be asked. */
export function isSuspicious(recent: readonly Counted[], limits: GuardLimits): boolean {
  const batch = recent.at(-1);
  if (batch === undefined) return false;
  const share = Math.min(limits.share, goneShare) / 2;
  return Object.keys(batch.signs).some((sign) => {
    if (sign === 'strangers') return false;
    let [affected, of] = [0, 0];
    return recent.toReversed().some(({ rows, signs }) => {
      affected += signs[sign] ?? 0;
      of += rows;
      return affected >= Math.min(2, limits.rows) && affected >= share * of;
    });
  });
}

/** The last batches that together have `recentRows` rows. */
export function newest(batches: readonly Counted[]): readonly Counted[] {
  let rows = 0;
  const from = batches.findLastIndex((batch) => {
    rows += batch.rows;
    return rows >= recentRows;
  });
  return from <= 0 ? batches : batches.slice(from);
}

/** Adds to what is usual. Counts shrink in proportion once there are enough rows; rare signs are forgotten. */
function added(usual: Counted, { rows, signs }: Counted): Counted {
  const keep = Math.min(1, usualRows / (usual.rows + rows));
  const sums = new Map(Object.entries(usual.signs));
  for (const [sign, count] of Object.entries(signs)) sums.set(sign, (sums.get(sign) ?? 0) + count);
  const kept = [...sums].map(([sign, count]) => [sign, count * keep] as const).filter(([, count]) => count >= 0.5);
  const most = kept.length <= mostSigns ? kept : kept.sort((a, b) => b[1] - a[1]).slice(0, mostSigns);
  return { rows: (usual.rows + rows) * keep, signs: Object.fromEntries(most) };
}

const without = (signs: Counted['signs'], held: ReadonlyMap<Sign, unknown>): Counted['signs'] =>
  Object.fromEntries(
    Object.entries(signs).filter(([sign]) => sign !== 'strangers' && !held.keys().some((one) => isPartOf(sign, one))),
  );
