import type { AlertRoute as RouteSettings } from '../../../core/documents/alert-routes.ts';
import type { EpochMs, Json } from '../../../terms.ts';

export type { RouteSettings };

type Severity = 'warning' | 'critical';
export type News = 'raised' | 'resolved';

/** An alert as routes get it. It holds no guest data. */
export interface RoutedAlert {
  readonly alert_id: string;
  readonly kind: string;
  /** Empty for an alert of the whole service. */
  readonly integration: string;
  /** The part of the brand, such as a sync or a destination. */
  readonly subject: string;
  readonly severity: Severity;
  readonly message: string;
  readonly raised_at: Date;
  readonly resolved_at: Date | null;
  readonly detail?: Json;
}

export interface Notice {
  readonly alert: RoutedAlert;
  readonly news: News;
  /** Where the console shows it; undefined where no public address is set. */
  readonly link: string | undefined;
}

export type QuietHours = NonNullable<RouteSettings['quiet']>;
export type EmailSettings = Omit<Extract<RouteSettings, { type: 'email' }>, 'type' | 'severities'>;

/** PagerDuty and Opsgenie keep the alert: its end closes what its beginning opened, and disturbs nobody. */
export const keepsAlerts = ({ type }: RouteSettings): boolean => type === 'pagerduty' || type === 'opsgenie';

/** One line, the same everywhere: "Critical: The partner refuses our credentials. (lisbon-grand)". */
export function headline({ alert, news }: Notice): string {
  const state = news === 'resolved' ? 'Resolved' : alert.severity === 'critical' ? 'Critical' : 'Warning';
  return `${state}: ${plain(alert.message)}${alert.integration === '' ? '' : ` (${plain(alert.integration)})`}`;
}

/** One short line without control characters and Markdown links: a text inside an alert must not look like a part of it. */
export const plain = (text: string): string =>
  cut(
    text
      .slice(0, 2_000)
      .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
      .replaceAll('](', '] ('),
    1_500,
  );

/** What a person needs besides the headline. */
export function factsOf({ alert }: Notice): readonly (readonly [name: string, value: string])[] {
  return [
    ['Alert', alert.kind],
    ...(alert.integration === '' ? [] : [['Integration', plain(alert.integration)] as const]),
    ...(alert.subject === '' ? [] : [['Subject', plain(alert.subject)] as const]),
    ['Raised', alert.raised_at.toISOString()],
    ...(alert.resolved_at === null ? [] : [['Resolved', alert.resolved_at.toISOString()] as const]),
  ];
}

/** The beginning of a text that exceeds what a vendor takes. */
export const cut = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most - 1)}…`);

/**
 * Whether a route gets an alert, by severity and integration. A route of some integrations gets no alerts of the whole service,
 * except those that one of its integrations shares.
 */
export function isMeant(
  { severities, integrations }: Pick<RouteSettings, 'severities' | 'integrations'>,
  alert: Pick<RoutedAlert, 'severity' | 'integration'> & { readonly brands?: readonly string[] | null },
): boolean {
  if (!severities.includes(alert.severity)) return false;
  const brands = alert.brands ?? [alert.integration];
  return integrations === undefined || brands.some((name) => integrations.includes(name));
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
