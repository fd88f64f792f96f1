import type { EpochMs } from '../../terms.ts';
import { keepsAlerts, type News, type QuietHours, type RoutedAlert, type RouteSettings } from './route.ts';

/**
 * Whether a route gets an alert, by severity and integration. A route of some integrations gets no alerts of the whole service,
 * except those that one of its integrations shares.
 */
export function isMeant(
  { severities, integrations }: Pick<RouteSettings, 'severities' | 'integrations'>,
  {
    severity,
    integration,
    brands,
  }: Pick<RoutedAlert, 'severity' | 'integration'> & { readonly brands?: readonly string[] | null },
): boolean {
  if (!severities.includes(severity)) return false;
  return integrations === undefined || (brands ?? [integration]).some((name) => integrations.includes(name));
}

/** How long a notice has to wait for the end of quiet hours; 0 if it may be sent now. */
export function waitMs(
  settings: RouteSettings,
  { severity }: Pick<RoutedAlert, 'severity'>,
  news: News,
  now: EpochMs,
): number {
  const { quiet } = settings;
  if (quiet === undefined || !quiet.severities.includes(severity)) return 0;
  return news === 'resolved' && keepsAlerts(settings) ? 0 : quietLeftMs(quiet, now);
}

/** The clock on the wall of that time zone decides, so quiet hours are an hour shorter or longer when it changes. */
export function quietLeftMs({ from, to, timezone }: QuietHours, now: EpochMs): number {
  const local = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone);
  const [begin, end] = [Temporal.PlainTime.from(from), Temporal.PlainTime.from(to)];
  const time = local.toPlainTime();
  const isAfter = (one: Temporal.PlainTime) => Temporal.PlainTime.compare(time, one) >= 0;
  const overnight = Temporal.PlainTime.compare(begin, end) >= 0;
  const isQuiet = overnight ? isAfter(begin) || !isAfter(end) : isAfter(begin) && !isAfter(end);
  if (!isQuiet) return 0;
  const day = overnight && isAfter(begin) ? local.toPlainDate().add({ days: 1 }) : local.toPlainDate();
  const over = day.toZonedDateTime({ timeZone: timezone, plainTime: end });
  return Math.max(over.epochMilliseconds - now, 1);
}
