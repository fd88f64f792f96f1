import type { RequestTemplate } from '../../../documents/pull.ts';
import type { Values } from '../../../outbound/ask/template.ts';
import type { EpochMs, LocalDate, SyncType } from '../../../terms.ts';
import { addDays, daysIn, startOfDayUtc, type Window } from '../window/windows.ts';
import { formattedPlaceholders, writeDate } from './write-date.ts';

export interface ListValues {
  readonly window: Window;
  readonly timezone: string;
  readonly brandId: string;
  readonly sync?: SyncType;
  readonly status?: string | readonly string[];
  /** For a list by modification time: its bounds. */
  readonly since?: EpochMs;
  readonly now?: EpochMs;
}

export function listValues({ window, timezone, brandId, sync, status, since, now }: ListValues): Values {
  return {
    since: inUtc(since),
    since_utc: inUtc(since),
    now: inUtc(now),
    now_utc: inUtc(now),
    'window.from': window.from,
    'window.to': window.to,
    'window.before': addDays(window.from, -1),
    'window.after': dayAfter(window.to),
    'window.days': daysIn(window),
    'window.from_utc': startOfDayUtc(window.from, timezone),
    'window.to_utc': startOfDayUtc(dayAfter(window.to), timezone),
    'sync.type': sync,
    // Always a list: in a body one status arrives as an array too, in a query as one parameter.
    'sync.status': status === undefined ? undefined : [status].flat(),
    'sync.status.joined': status === undefined ? undefined : [status].flat().join(','),
    brand_id: brandId,
  };
}

const inUtc = (moment: EpochMs | undefined) =>
  moment === undefined ? undefined : new Date(moment).toISOString().replace(/\.\d+Z$/, 'Z');
const dayAfter = (date: LocalDate) => addDays(date, 1);

/**
 * The values, plus each date that the template formats itself. {window.before} is the last second before the window, {window.to} its last
 * second, {window.after} the next one.
 */
export function withFormats(template: RequestTemplate, values: Values, about: ListValues): Values {
  const { window, timezone, since, now } = about;
  const start = Date.parse(startOfDayUtc(window.from, timezone));
  const end = Date.parse(startOfDayUtc(dayAfter(window.to), timezone));
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
  return written.length === 0 ? values : { ...values, ...Object.fromEntries(written) };
}
