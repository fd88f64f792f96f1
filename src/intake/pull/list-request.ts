import type { PullSettings, RequestTemplate } from '../../documents/pull.ts';
import type { Run } from './run-state.ts';

type Settings = Pick<PullSettings, 'request' | 'requests' | 'hasWindows' | 'since'>;

/** The request of the run's sync, or the one for all. */
export function listRequestOf({ request, requests }: Settings, { sync }: Partial<Pick<Run, 'sync'>>): RequestTemplate {
  return (sync && requests[sync]) ?? request;
}

/** Whether the range is cut into windows of stay dates. A list by modification time alone would answer the same for each of them. */
export function asksByDays(settings: Settings, run: Partial<Pick<Run, 'sync'>>): boolean {
  return settings.hasWindows && mentions(listRequestOf(settings, run), '{window.');
}

/** The longest step of a list by modification time, if its range is cut: its windows are then days on which changes were made. */
export function changeStepDays(settings: Settings, run: Pick<Run, 'sync'>): number | undefined {
  return asksByDays(settings, run) ? undefined : settings.since.stepDays;
}

/** Whether the range of the run is read in parts, which can be halved. */
export function isCut(settings: Settings, run: Pick<Run, 'sync'>): boolean {
  return asksByDays(settings, run) || settings.since.stepDays !== undefined;
}

export function mentions(template: RequestTemplate, placeholder: string): boolean {
  return JSON.stringify(template).includes(placeholder);
}
