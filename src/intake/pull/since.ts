import type { PullSettings } from '../../documents/pull.ts';
import { hash53 } from '../../kit/seen.ts';
import type { EpochMs } from '../../terms.ts';
import { listRequestOf, mentions } from './list-request.ts';
import type { PullPorts } from './ports.ts';
import { askedRange } from './range.ts';
import type { Position, Run } from './run-state.ts';
import { startOfDayUtc } from './windows.ts';

/**
 * The value of {since} in this run, if its request uses it: the start of the last complete run of the sync minus the overlap, which
 * covers changes that were being saved during that run. A requested range starts at its first day.
 */
export async function sinceOf(
  ports: Pick<PullPorts, 'runs'>,
  run: Run,
  settings: PullSettings,
  now: EpochMs,
): Promise<EpochMs | undefined> {
  if (!mentions(listRequestOf(settings, run), '{since')) return undefined;
  const asked = askedRange(run);
  if (asked !== undefined) return Date.parse(startOfDayUtc(asked.from, settings.timezone));
  const last = run.sync && (await ports.runs.watermark(run.integration, run.sync, feedOf(settings)));
  return last === undefined ? now - settings.since.firstMs : last - settings.since.overlapMs;
}

/** Identifies the list: the watermark of a test system, or of another property, says nothing about this one. */
export function feedOf({ base_url: baseUrl, brandId }: Pick<PullSettings, 'base_url' | 'brandId'>): number {
  return hash53(JSON.stringify([baseUrl, brandId]));
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
