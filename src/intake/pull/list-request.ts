import type { PullSettings, RequestTemplate } from '../../documents/pull.ts';
import type { Run } from './run-state.ts';

type Settings = Pick<PullSettings, 'request' | 'requests' | 'hasWindows'>;

/** The request of the run's sync, or the one for all. */
export function listRequestOf({ request, requests }: Settings, { sync }: Pick<Run, 'sync'>): RequestTemplate {
  return (sync && requests[sync]) ?? request;
}

/** Whether the range is cut into windows. A list by modification time alone would answer the same for each of them. */
export function asksByDays(settings: Settings, run: Pick<Run, 'sync'>): boolean {
  return settings.hasWindows && mentions(listRequestOf(settings, run), '{window.');
}

export function mentions(template: RequestTemplate, placeholder: string): boolean {
  return JSON.stringify(template).includes(placeholder);
}
