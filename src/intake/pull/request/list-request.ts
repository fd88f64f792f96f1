import type { PullSettings, RequestTemplate } from '../../../documents/pull.ts';
import type { Run } from '../run/run-state.ts';

type Settings = Pick<PullSettings, 'request' | 'requests' | 'hasWindows' | 'since'>;

/** The request of the run's sync, or the one for all; undefined if the partner has no list. */
export function listRequestOf(
  { request, requests }: Pick<Settings, 'request' | 'requests'>,
  { sync }: Partial<Pick<Run, 'sync'>>,
): RequestTemplate | undefined {
  return (sync && requests[sync]) ?? request;
}

export const noList = {
  kind: 'failed',
  code: 'pull.no_such_sync',
  message: 'The connector describes no list of reservations: it has no pull.request',
} as const;

/** Whether the range is cut into windows of stay dates. A list by modification time alone would answer the same for each of them. */
export function asksByDays(settings: Settings, run: Partial<Pick<Run, 'sync'>>): boolean {
  return settings.hasWindows && mentions(listRequestOf(settings, run), '{window.');
}

/**
 * The days of one request for a list by modification time, if its range is cut: its windows are then days on which changes were made. One
 * day less than the partner allows, because requests overlap and a day may have 25 hours.
 */
export function changeStepDays(settings: Settings, run: Pick<Run, 'sync'>): number | undefined {
  const { stepDays } = settings.since;
  return asksByDays(settings, run) || stepDays === undefined ? undefined : Math.max(1, stepDays - 1);
}

/** Whether the range of the run is read in parts, which can be halved. */
export function isCut(settings: Settings, run: Pick<Run, 'sync'>): boolean {
  return asksByDays(settings, run) || settings.since.stepDays !== undefined;
}

export function mentions(template: RequestTemplate | undefined, placeholder: string): boolean {
  return JSON.stringify(template ?? null).includes(placeholder);
}
