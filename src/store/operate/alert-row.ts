import type { Json } from '../../terms.ts';
import type { RoutedAlert } from '../../watch/routes/route.ts';

export interface AlertRow extends RoutedAlert {
  readonly detail: Json;
  readonly seen_at: Date;
  readonly acknowledged_at: Date | null;
  readonly acknowledged_by: string | null;
}

/** With all brands that share the alert; null for an alert of one brand or of the service. */
export interface RoutableAlert extends AlertRow {
  readonly brands?: readonly string[] | null;
}
