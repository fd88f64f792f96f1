import type { EpochMs, SyncType } from '../../../../terms.ts';
import { addDays } from '../../../canonical/values.ts';
import type { PullSettings, RequestTemplate } from '../../../documents/pull.ts';
import type { OpenRequest, Values } from '../../../outbound/ask/request.ts';
import { openPage, type Paginator } from '../page/paginate.ts';
import type { Position, Run } from '../run/run-state.ts';
import { daysIn, startOfDay, type Window } from '../window/windows.ts';
import { formattedPlaceholders, writeDate } from './write-date.ts';

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

interface ListValues {
  readonly window: Window;
  readonly timezone: string;
  readonly brandId: string;
  readonly sync?: SyncType | undefined;
  readonly status?: string | readonly string[] | undefined;
  /** For a list by modification time: its bounds. */
  readonly since?: EpochMs;
  readonly now?: EpochMs;
}

/**
 * The values of a list request, with each date that the template formats itself: {window.before} is then the last second before the
 * window, {window.to} its last second, {window.after} the next one.
 */
export function listValues(
  { window, timezone, brandId, sync, status, since, now }: ListValues,
  template?: RequestTemplate,
): Values {
  const before = addDays(window.from, -1);
  const after = addDays(window.to, 1);
  const start = startOfDay(window.from, timezone);
  const end = startOfDay(after, timezone);
  const moments: Readonly<Record<string, EpochMs | undefined>> = {
    'window.from': start,
    'window.before': start - 1000,
    'window.to': end - 1000,
    'window.after': end,
    'window.from_utc': start,
    'window.to_utc': end,
    since,
    since_utc: since,
    now,
    now_utc: now,
  };
  const written = formattedPlaceholders(template).map(([name, format]) => {
    const moment = moments[name];
    const zone = name.endsWith('_utc') ? 'UTC' : timezone;
    return [`${name}:${format}`, moment === undefined ? undefined : writeDate(moment, format, zone)] as const;
  });
  return {
    since: inUtc(since),
    since_utc: inUtc(since),
    now: inUtc(now),
    now_utc: inUtc(now),
    'window.from': window.from,
    'window.to': window.to,
    'window.before': before,
    'window.after': after,
    'window.days': daysIn(window),
    'window.from_utc': inUtc(start),
    'window.to_utc': inUtc(end),
    'sync.type': sync,
    // Always a list: in a body one status arrives as an array too, in a query as one parameter.
    'sync.status': status === undefined ? undefined : [status].flat(),
    'sync.status.joined': status === undefined ? undefined : [status].flat().join(','),
    brand_id: brandId,
    ...Object.fromEntries(written),
  };
}

const inUtc = (moment: EpochMs | undefined) =>
  moment === undefined ? undefined : new Date(moment).toISOString().replace(/\.\d+Z$/, 'Z');

/** The list request for the position's window and page. */
export function pageRequest(
  settings: PullSettings,
  { sync }: Pick<Run, 'sync'>,
  paginator: Paginator,
  position: Position,
  now: EpochMs,
): OpenRequest {
  const { window, from, to, pass } = position;
  const { timezone, brandId } = settings;
  const status = sync && settings.syncs[sync]?.status;
  const { list = 0 } = position;
  const template = list === 0 ? listRequestOf(settings, { sync }) : settings.also[list - 1];
  if (template === undefined) throw new TypeError(noList.message);
  const about = {
    window: window ?? { from, to },
    timezone,
    brandId,
    sync,
    status,
    now,
    ...changesAt(settings, { sync }, position),
  };
  return openPage(paginator, pass.page, template, settings.base_url, listValues(about, template));
}

/** The values of {since} and {now} at the position: the bounds of its step, if the changes are cut into steps. */
function changesAt(
  settings: PullSettings,
  run: Pick<Run, 'sync'>,
  { since, until, window }: Position,
): Pick<ListValues, 'since' | 'now'> {
  if (since === undefined || until === undefined) return {};
  if (window === undefined || changeStepDays(settings, run) === undefined) return { since, now: until };
  const { timezone } = settings;
  // A partner may exclude both bounds: a change exactly between two steps must be in one of them. A step of one day has no room for it.
  const overlapMs = settings.since.stepDays === 1 ? 0 : 1_000;
  return {
    since: Math.max(since, startOfDay(window.from, timezone) - overlapMs),
    now: Math.min(until, startOfDay(addDays(window.to, 1), timezone)),
  };
}
