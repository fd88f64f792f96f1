import type { PullSettings } from '../../../documents/pull.ts';
import { shortHash } from '../../../kit/short-hash.ts';
import type { EpochMs, LocalDate } from '../../../terms.ts';
import type { PullPorts } from '../ports.ts';
import { changeStepDays, listRequestOf, mentions } from '../request/list-request.ts';
import type { Position, Run } from '../run/run-state.ts';
import type { Changes } from './range.ts';
import { askedRange } from './range.ts';
import { addDays, startOfDayUtc } from './windows.ts';

/**
 * The changes that this run asks for, if its request uses {since}: from the start of the last complete run of the sync minus the overlap,
 * which covers changes that were being saved during that run, until now. A requested range covers the changes of its days.
 */
export async function changesOf(
  ports: Pick<PullPorts, 'runs'>,
  run: Run,
  settings: PullSettings,
  now: EpochMs,
): Promise<Changes | undefined> {
  if (!mentions(listRequestOf(settings, run), '{since')) return undefined;
  const asked = askedRange(run);
  if (asked !== undefined) {
    const { from, to } = asked;
    return { since: startOfDay(from, settings), until: Math.min(now, startOfDay(addDays(to, 1), settings)) };
  }
  const last = run.sync && (await ports.runs.watermark(run.integration, run.sync, feedOf(settings)));
  return { since: last === undefined ? now - settings.since.firstMs : last - settings.since.overlapMs, until: now };
}

/** A partner may exclude both bounds: a change exactly between two steps must be in one of them. A step of one day has no room for it. */
const overlapOf = ({ since }: PullSettings): number => (since.stepDays === 1 ? 0 : 1_000);

/** The values of {since} and {now} at the position: the bounds of its step, if the changes are cut into steps. */
export function changesAt(
  settings: PullSettings,
  run: Pick<Run, 'sync'>,
  { since, until, window }: Position,
): { readonly since?: EpochMs; readonly now?: EpochMs } {
  if (since === undefined || until === undefined) return {};
  if (window === undefined || changeStepDays(settings, run) === undefined) return { since, now: until };
  return {
    since: Math.max(since, startOfDay(window.from, settings) - overlapOf(settings)),
    now: Math.min(until, startOfDay(addDays(window.to, 1), settings)),
  };
}

const startOfDay = (day: LocalDate, { timezone }: Pick<PullSettings, 'timezone'>): EpochMs =>
  Date.parse(startOfDayUtc(day, timezone));

/** Identifies the list: the watermark of a test system, or of another property, says nothing about this one. */
export function feedOf({ base_url: baseUrl, brandId }: Pick<PullSettings, 'base_url' | 'brandId'>): number {
  return shortHash(JSON.stringify([baseUrl, brandId]));
}

/** A larger difference is a wrong header, not a slow clock. */
const mostSlowMs = 86_400_000;

/**
 * Sets the watermark to the partner's time in the `Date` header of the first answer, if its clock is slower than ours. The partner
 * compares {since} with modification times by its own clock, and a slow clock writes times before our start after this run.
 */
export function byPartnersClock(position: Position, { date = '' }: Readonly<Record<string, string>>): Position {
  const { startedAt, pass, window, from } = position;
  const isFirst = pass.no === 1 && pass.pages === 0 && window?.from === from;
  const shown = Date.parse(date);
  if (startedAt === undefined || !isFirst || !(shown < startedAt && shown > startedAt - mostSlowMs)) return position;
  return { ...position, startedAt: shown };
}
