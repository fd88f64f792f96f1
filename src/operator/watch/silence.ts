import type { EpochMs } from '../../terms.ts';

/**
 * Whether a feed has fallen silent, judged by its own history. A city hotel sends hundreds of events on a Friday evening and none
 * on a Sunday night; a fixed threshold would miss the first and raise false alarms for the second. So we estimate how many
 * events these hours of these weekdays usually bring, counted from the last one.
 */
interface Feed {
  readonly lastAt: EpochMs;
  /** Past hours with at least one event; an hour that is missing had none. */
  readonly hours: readonly { readonly at: EpochMs; readonly count: number }[];
  readonly timezone: string;
}

export interface Judgement {
  readonly silent: boolean;
  readonly silentMs: number;
  /** The number that was to be expected since; undefined if there is too little history. */
  readonly expected: number | undefined;
}

interface SilenceRules {
  /** How many must be missing: with 8 expected, none arrives by chance 3 times in 10,000. */
  readonly missed: number;
  readonly leastMs: number;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Samples needed for an estimate. */
const leastSamples = 3;

export function judgeSilence(feed: Feed, now: EpochMs, rules: SilenceRules): Judgement {
  const silentMs = Math.max(0, now - feed.lastAt);
  const expected = silentMs < rules.leastMs ? 0 : expectedSince(feed, now);
  return { silent: expected !== undefined && expected >= rules.missed, silentMs, expected };
}

function expectedSince({ lastAt, hours, timezone }: Feed, now: EpochMs): number | undefined {
  const first = hours[0]?.at;
  if (first === undefined) return undefined;
  const counts = new Map(hours.map(({ at, count }) => [Math.floor(at / hourMs), count]));
  const firstHour = Math.floor(first / hourMs);
  const lastWhole = Math.floor(lastAt / hourMs) - 1;
  let expected = 0;
  let known = false;
  for (let hour = Math.floor(lastAt / hourMs); hour * hourMs < now; hour++) {
    const typical = typicalOf(counts, firstHour, lastWhole, hour, timezone);
    if (typical === undefined) continue;
    known = true;
    const from = Math.max(lastAt, hour * hourMs);
    const to = Math.min(now, (hour + 1) * hourMs);
    expected += (typical * (to - from)) / hourMs;
  }
  return known ? expected : undefined;
}

/** The median of this hour on this weekday in earlier weeks; with too few of them, of this hour on all earlier days. */
function typicalOf(
  counts: ReadonlyMap<number, number>,
  firstHour: number,
  lastWhole: number,
  hour: number,
  timezone: string,
): number | undefined {
  const weekly: number[] = [];
  const daily: number[] = [];
  for (let days = 1; days <= 28; days++) {
    // The same time on the property's clock: over a change to summer time that is 23 or 25 hours earlier.
    const then = hour - days * 24 + offsetHours(timezone, hour) - offsetHours(timezone, hour - days * 24);
    if (then > lastWhole || then < firstHour) continue;
    const count = counts.get(then) ?? 0;
    daily.push(count);
    if (days % 7 === 0) weekly.push(count);
  }
  const samples = weekly.length >= leastSamples ? weekly : daily;
  return samples.length >= leastSamples ? median(samples) : undefined;
}

/** Of an even number the lower of the two in the middle: in doubt a feed is quieter than it might be. */
export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor((numbers.length - 1) / 2)] ?? 0;
}

const offsets = new Map<string, number>();

function offsetHours(timezone: string, hour: number): number {
  const key = `${timezone} ${Math.floor((hour * hourMs) / dayMs)}`;
  const known = offsets.get(key);
  if (known !== undefined) return known;
  const at = Temporal.Instant.fromEpochMilliseconds(hour * hourMs).toZonedDateTimeISO(timezone);
  const hours = Math.round(at.offsetNanoseconds / 3.6e12);
  if (offsets.size > 50_000) offsets.clear();
  offsets.set(key, hours);
  return hours;
}
