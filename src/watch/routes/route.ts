import type { AlertRoute as RouteSettings } from '../../documents/alert-routes.ts';
import type { Json } from '../../terms.ts';

export type { RouteSettings };

export type Severity = 'warning' | 'critical';
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
