import type { EpochMs } from '../../terms.ts';
import { type HoldKind, isPartOf, partsOf, type Sign } from './signs.ts';

/** Rows of stored reservations, and how many of them had each sign. */
export interface Counted {
  readonly rows: number;
  readonly signs: { readonly [sign: Sign]: number };
  /** Of the rows with a sign: how many arrive, or leave, on the same day. Only the days that most of them share. */
  readonly shared?: { readonly [sign: Sign]: { readonly [day: string]: number } };
  /** The run to which a page belongs: its pages are judged together. Absent for events. */
  readonly run?: string | undefined;
  /** When the rows came. */
  readonly at?: EpochMs | undefined;
}

/** What is known about one feed of a brand. Bounded; JSON in the store. */
export interface Normal {
  /** The last batches, newest last, about `recentRows` rows. */
  readonly recent: readonly Counted[];
  /** Of the last thousands of rows; older rows count less and less. */
  readonly usual: Counted & { readonly days: number };
  readonly countedAt?: EpochMs;
  /** Open holds, and those that ended lately. */
  readonly holds: readonly Hold[];
}

/** One accident of one feed. */
export interface Hold {
  readonly id: string;
  readonly sign: Sign;
  /** Of the rows that were judged: how many had the value stored, and how many still had it or kept it. */
  readonly shareBefore: number;
  readonly shareNow: number;
  /** The rows that were judged, for the message: 40 of 40. */
  readonly affected: number;
  readonly of: number;
  readonly state: 'open' | 'ended' | 'released' | 'refused';
  readonly at: EpochMs;
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

export const nothingKnown: Normal = { recent: [], usual: { rows: 0, signs: {}, days: 0 }, holds: [] };

const recentRows = 120;
const usualRows = 5_000;
/** A new brand is treated as if it had so many ordinary rows behind it: its first accident must not count as its habit. */
const startRows = 1_000;
const mostSigns = 64;
const mostHolds = 20;
/** With fewer rows than this, nearly all of them must be affected. */
const manyRows = 20;
const fewRowsShare = 0.8;
/** A sign must be this many times as frequent as it usually is for this brand. */
const timesUsual = 3;
/** For how long a released change counts as normal, and a refused one as an accident that needs no new alert; each occurrence extends it. */
const rememberedMs = 30 * 86_400_000;
/** Not for long: the next cancellation of everything may be an accident. */
const endingsRememberedMs = 2 * 86_400_000;
const dayMs = 86_400_000;

/** Whole groups are cancelled, moved and renegotiated together, and one name may stand on all rooms of a group. */
const fewestByKind: { readonly [Kind in HoldKind]?: number } = { status: 10, shift: 10, changed: 10, factor: 10 };
/** The largest usual group. Its events come in a row within minutes; an accident lasts for longer, has more, or loses values of other days. */
const groupSize = 60;
const longerMs = 3_600_000;
/** The rows of a group arrive on one day, and those whose guests are forgotten left on one day: hardly any other row is affected. */
const othersShare = 0.2;
const fewestOthers = 3;
/** From this share of one day on, rows may be a group; of two days, if they are events: two groups one after the other. */
const oneDayShare = 0.8;
/** Amounts in another unit or currency, rather than other prices; and how far single rows may be from it. */
const farFactor = 3;
const nearFactor = 1.5;
const mostDays = 4;

export interface Verdict {
  readonly normal: Normal;
  /** The signs whose rows are held, with their hold. */
  readonly held: ReadonlyMap<Sign, Hold>;
  /** The hold is new: somebody must be told. */
  readonly opened: readonly Hold[];
}

/**
 * Decides which signs of a batch are accidents: those that most of the last rows have, counted back from the batch over any number of
 * earlier batches, and far more rows than usual. Pages, polls of a small hotel and single events are judged alike.
 */
export function judge(
  normal: Normal,
  batches: readonly Counted[],
  limits: GuardLimits,
  { now, newId }: { readonly now: EpochMs; readonly newId: () => string },
): Verdict {
  const recent = newest([...normal.recent, ...batches]);
  const batch = batches.at(-1) ?? { rows: 0, signs: {} };
  const held = new Map<Sign, Hold>();
  const opened: Hold[] = [];
  let holds = normal.holds.filter(({ state, sign, at, closedAt = at }) => {
    const isEnding = sign === 'gone' || sign.startsWith('status ');
    return state === 'open' || now - closedAt < (isEnding ? endingsRememberedMs : rememberedMs);
  });
  const accidents: Sign[] = [];
  for (const sign of mostTellingFirst(batch.signs)) {
    if (accidents.some((one) => isPartOf(sign, one))) continue;
    const evidence = evidenceOf(sign, recent, normal.usual, limits);
    if (evidence === undefined) continue;
    accidents.push(sign);
    const found = holds.find((hold) => hold.sign === sign && hold.state !== 'ended');
    const hold = found ?? { id: newId(), sign, ...sharesOf(sign, evidence), ...evidence, state: 'open', at: now };
    if (found === undefined) opened.push(hold);
    else if (found.state !== 'open') holds = holds.map((one) => (one === found ? { ...one, closedAt: now } : one));
    if (found?.state !== 'released') held.set(sign, hold);
  }
  const days = Math.max(0, now - (normal.countedAt ?? now)) / dayMs;
  // What is held is not what is usual; what somebody released is.
  const learnt = batches.map((one) => ({ ...one, signs: without(one.signs, held) }));
  const usual = learnt.reduce(added, { ...normal.usual, days: normal.usual.days + days });
  return { normal: { recent, usual, holds: [...holds, ...opened].slice(-mostHolds), countedAt: now }, held, opened };
}

/** How the values changed says more than that they did. */
const mostTellingFirst = (signs: Counted['signs']): Sign[] => {
  const isGeneral = (sign: Sign) => Number(partsOf(sign).kind === 'changed');
  return Object.keys(signs).sort((a, b) => isGeneral(a) - isGeneral(b) || (signs[b] ?? 0) - (signs[a] ?? 0));
};

interface Evidence {
  readonly affected: number;
  readonly of: number;
}

function evidenceOf(
  sign: Sign,
  recent: readonly Counted[],
  usual: Normal['usual'],
  limits: GuardLimits,
): Evidence | undefined {
  const { kind, value } = partsOf(sign);
  const isFar = kind === 'factor' && Math.abs(Math.log(Number(value))) > Math.log(farFactor);
  const usualShare = (usual.signs[sign] ?? 0) / Math.max(usual.rows, startRows);
  if (timesUsual * usualShare > fewRowsShare) return undefined;
  const share = Math.max(limits.share, timesUsual * usualShare);
  const { run: isPulled, at: now = 0 } = recent.at(-1) ?? {};
  const perDay = usual.rows / Math.max(usual.days, 1);
  const fewest = Math.max(limits.rows, fewestByKind[kind] ?? 0, isPulled ? 0 : Math.min(perDay / 4, groupSize));
  const days = new Map<string, number>();
  let [affected, of, since] = [0, 0, now];
  for (let i = recent.length - 1; i >= 0; i--) {
    const { rows, signs, shared, at = now, run } = recent[i] as Counted;
    const own = isFar ? nearSum(signs, sign) : (signs[sign] ?? 0);
    affected += own;
    of += rows;
    if (own > 0) since = Math.min(since, at);
    for (const [day, count] of Object.entries(shared?.[sign] ?? {})) days.set(day, (days.get(day) ?? 0) + count);
    const needed = of < manyRows ? Math.max(share, fewRowsShare) : share;
    if (affected < fewest || affected < needed * of) continue;
    if (isPulled) {
      const [ofOneDay = 0] = largest(days);
      const others = of - ofOneDay;
      // Earlier pages of the run tell whether other days are affected as well.
      const hasMore = run !== undefined && recent[i - 1]?.run === run && ofOneDay >= oneDayShare * affected;
      const isGroup = others >= Math.max(fewestOthers, of / 10) && affected - ofOneDay < othersShare * others;
      if (!isGroup && !hasMore) return { affected, of };
    } else {
      const groups = largest(days).filter((size) => size <= groupSize);
      const isGroup = groups.reduce((sum, size) => sum + size, 0) >= oneDayShare * affected;
      if (!isGroup && (kind === 'cleared' || affected > groupSize || now - since >= longerMs)) return { affected, of };
    }
  }
  return undefined;
}

/** The two days that most of the rows share, as arrivals or as departures. */
function largest(days: ReadonlyMap<string, number>): readonly number[] {
  const of = (kind: string) => [...days].flatMap(([day, rows]) => (day.startsWith(kind) ? [rows] : []));
  const [arrivals, departures] = ['in', 'out'].map((kind) =>
    of(kind)
      .sort((a, b) => b - a)
      .slice(0, 2),
  );
  const sum = (all: readonly number[] = []) => all.reduce((total, rows) => total + rows, 0);
  return (sum(departures) > sum(arrivals) ? departures : arrivals) ?? [];
}

/** Rows whose amounts changed by about the same factor: some of them also changed in an ordinary way since the last poll. */
function nearSum(signs: Counted['signs'], sign: Sign): number {
  const factor = Number(partsOf(sign).value);
  const isNear = (one: Sign) =>
    one === sign || Math.abs(Math.log(Number(partsOf(one).value) / factor)) < Math.log(nearFactor);
  return Object.entries(signs).reduce((sum, [one, rows]) => sum + (isPartOf(one, sign) && isNear(one) ? rows : 0), 0);
}

/** The rows with the sign had the value before; afterwards the others have it. */
function sharesOf(sign: Sign, { affected, of }: Evidence): Pick<Hold, 'shareBefore' | 'shareNow'> {
  const share = affected / of;
  return partsOf(sign).kind === 'cleared' || partsOf(sign).kind === 'gone'
    ? { shareBefore: 1, shareNow: 1 - share }
    : { shareBefore: 0, shareNow: share };
}

/** Counts the rows of a batch that have each sign, and the days that they share: of signs that are not rare, which a page has few of. */
export function countSigns(rows: readonly SignedRow[]): Required<Pick<Counted, 'signs' | 'shared'>> {
  const signs: { [sign: Sign]: number } = {};
  for (const row of rows) for (const sign of row.signs) signs[sign] = (signs[sign] ?? 0) + 1;
  const shared: { [sign: Sign]: { readonly [day: string]: number } } = {};
  for (const [sign, count] of Object.entries(signs)) {
    if (count * 20 < rows.length) continue;
    const days: { [day: string]: number } = {};
    for (const row of rows) {
      if (!row.signs.has(sign)) continue;
      for (const day of [`in ${row.check_in}`, `out ${row.check_out}`]) days[day] = (days[day] ?? 0) + 1;
    }
    const most = Object.entries(days).sort((one, other) => other[1] - one[1]);
    shared[sign] = Object.fromEntries(most.slice(0, mostDays));
  }
  return { signs, shared };
}

export interface SignedRow {
  readonly signs: ReadonlySet<Sign>;
  readonly check_in: string;
  readonly check_out: string;
}

/** Whether a batch may be an accident: if not, the store need not be asked. */
export function isSuspicious(recent: readonly Counted[], limits: GuardLimits): boolean {
  const batch = recent.at(-1);
  if (batch === undefined) return false;
  const share = limits.share / 2;
  const earlier = recent.slice(0, -1).reduce((sum, { rows }) => sum + rows, 0);
  return Object.entries(batch.signs).some(([sign, own]) => {
    if (own + earlier < share * batch.rows) return false;
    const fewest = Math.max(Math.min(2, limits.rows), (fewestByKind[partsOf(sign).kind] ?? 0) / 2);
    let [affected, of] = [0, 0];
    return recent.toReversed().some(({ rows, signs }) => {
      affected += signs[sign] ?? 0;
      of += rows;
      return affected >= fewest && affected >= share * of;
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
function added(usual: Normal['usual'], { rows, signs }: Counted): Normal['usual'] {
  const keep = Math.min(1, usualRows / (usual.rows + rows));
  const sums = new Map(Object.entries(usual.signs));
  for (const [sign, count] of Object.entries(signs)) sums.set(sign, (sums.get(sign) ?? 0) + count);
  const kept = [...sums].map(([sign, count]) => [sign, count * keep] as const).filter(([, count]) => count >= 0.5);
  const most = kept.length <= mostSigns ? kept : kept.sort((a, b) => b[1] - a[1]).slice(0, mostSigns);
  return { rows: (usual.rows + rows) * keep, signs: Object.fromEntries(most), days: usual.days * keep };
}

const without = (signs: Counted['signs'], held: ReadonlyMap<Sign, unknown>): Counted['signs'] =>
  Object.fromEntries(Object.entries(signs).filter(([sign]) => !held.keys().some((one) => isPartOf(sign, one))));
