import { hash53 } from '../../kit/seen.ts';
import type { EpochMs } from '../../terms.ts';
import { listRequestOf, mentions } from './list-request.ts';
import type { PullPorts } from './ports.ts';
import { askedRange } from './range.ts';
import type { Position, Run } from './run-state.ts';
import type { PullSettings } from './settings.ts';
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
export function feedOf({ baseUrl, brandId }: Pick<PullSettings, 'baseUrl' | 'brandId'>): number {
  return hash53(JSON.stringify([baseUrl, brandId]));
}

/** A clock that is further off is taken for a wrong header. */
const mostSlowMs = 86_400_000;

/**
 * The position with its watermark by the slower of two clocks, ours and the partner's as its first answer shows it (`Date`). The partner
 * compares {since} with times of its own clock: if that is slower, changes after this run have times before our start.
 */
export function byPartnersClock(position: Position, { date = '' }: Readonly<Record<string, string>>): Position {
  const { startedAt, pass, window, from } = position;
  const isFirst = pass.no === 1 && pass.pages === 0 && window?.from === from;
  const shown = Date.parse(date);
  if (startedAt === undefined || !isFirst || !(shown < startedAt && shown > startedAt - mostSlowMs)) return position;
  return { ...position, startedAt: shown };
}
