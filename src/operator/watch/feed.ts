import { median } from './silence.ts';

/** What a brand's feed brought in 24 hours, from the activity counts. Runs are those that found reservations. */
export interface FeedDay {
  readonly events: number;
  readonly runs: number;
  readonly rows: number;
  readonly run_ms: number;
  /** Rows and events that became dead letters. A row that fails in every run counts in each of them. */
  readonly dead_rows: number;
  readonly dead_events: number;
}

export type FeedMeasure = 'events' | 'rows' | 'run_seconds' | 'dead_share';

export interface FeedFinding {
  readonly measure: FeedMeasure;
  readonly now: number;
  /** On this weekday in the last four weeks. */
  readonly usual: number;
}

interface FeedHabit {
  readonly today: FeedDay;
  /** The same weekday one to four weeks ago; all zero where there was nothing yet. */
  readonly weeks: readonly FeedDay[];
  /** Its list shows changes since the last run, not all reservations of a window: a day counts, not a run. */
  readonly listsChanges: boolean;
}

/** Far fewer is less than this share of the usual number; far more is this many times as much. */
export const fewShare = 0.3;
export const manyTimes = 3;
/** A small inn has days without an event, and weeks with two bookings: below these numbers nothing is judged. */
export const fewestADay = 40;
export const fewestARun = 20;
/** Shorter runs may become slower without anybody noticing. */
export const leastRunSeconds = 30;
const leastRuns = 4;
const fewestDead = 10;
export const leastDeadShare = 0.02;
/** Each of the weeks this much above the one before, and twice the first: slower and slower. */
const growth = 1.15;

/** The value of a measure for a day; undefined if nothing is known. */
export function measured(measure: FeedMeasure, day: FeedDay, listsChanges: boolean): number | undefined {
  const { events, runs, rows, run_ms } = day;
  if (measure === 'events') return events;
  if (measure === 'rows') return runs === 0 ? undefined : listsChanges ? rows : rows / runs;
  if (measure === 'run_seconds') return runs === 0 ? undefined : run_ms / runs / 1_000;
  const { dead, of } = deadOf(day);
  return of === 0 ? undefined : dead / of;
}

/** By the number of different rows: each run shows the same ones again. */
function deadOf({ events, runs, rows, dead_rows, dead_events }: FeedDay) {
  return { dead: dead_rows / Math.max(1, runs) + dead_events, of: rows / Math.max(1, runs) + events };
}

/**
 * Compares a day with the same weekday of the last four weeks. Three of them must be known, so a new brand is not judged, nor one that was
 * closed. `season`: stays around now for each stay around then, by the records; a hotel that closes has fewer rows and events.
 */
export function judgeFeed({ today, weeks, listsChanges }: FeedHabit, season = 1): FeedFinding[] {
  const findings: FeedFinding[] = [];
  const of = (measure: FeedMeasure) => ({
    now: measured(measure, today, listsChanges),
    past: weeks.map((week) => measured(measure, week, listsChanges)),
  });
  const few = (measure: 'events' | 'rows', fewest: number) => {
    const { now, past } = of(measure);
    const usual = median(past.map((one) => one ?? 0));
    const expected = usual * Math.min(1, season);
    if (now !== undefined && expected >= fewest && now < fewShare * expected) findings.push({ measure, now, usual });
  };
  few('events', fewestADay);
  few('rows', listsChanges ? fewestADay : fewestARun);

  const known = weeks.filter(({ runs, events }) => runs + events > 0).length >= 3;
  const many = (measure: 'run_seconds' | 'dead_share', least: number, scale = 1) => {
    const { now = 0, past } = of(measure);
    const usual = median(past.map((one) => one ?? 0));
    const isRising = past.every((one, i) => one !== undefined && (past[i - 1] ?? now) >= growth * one);
    const isMuch = now >= manyTimes * usual * scale || (isRising && now >= 2 * (past.at(-1) ?? 0) * scale);
    if (known && now >= least && isMuch) findings.push({ measure, now, usual });
  };
  const { now: rows = 0, past } = of('rows');
  const moreRows = rows / Math.max(1, median(past.map((one) => one ?? 0)));
  if (today.runs >= leastRuns) many('run_seconds', leastRunSeconds, Math.max(1, moreRows));
  if (deadOf(today).dead >= fewestDead) many('dead_share', leastDeadShare);
  return findings;
}
