import type { Json } from '../../terms.ts';

export interface AlertRow {
  readonly alert_id: string;
  readonly kind: string;
  /** Empty for an alert about the whole service. */
  readonly integration: string;
  /** The part of the brand, such as a sync or a destination. */
  readonly subject: string;
  readonly severity: 'warning' | 'critical';
  readonly message: string;
  readonly detail: Json;
  readonly raised_at: Date;
  readonly seen_at: Date;
  readonly acknowledged_at: Date | null;
  readonly acknowledged_by: string | null;
  readonly resolved_at: Date | null;
}

/** With all brands that share the alert; null for an alert of one brand or of the service. */
export interface RoutableAlert extends AlertRow {
  readonly brands?: readonly string[] | null;
}
