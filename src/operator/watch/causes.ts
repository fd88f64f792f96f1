import { advice, alertKinds, type Condition } from './facts.ts';

/** What conditions have in common: one destination, one partner's API, one brand's feed, one node, one document. */
export interface Cause {
  readonly kind: 'destination' | 'partner' | 'pull' | 'push' | 'records' | 'node' | 'document' | 'service' | 'brands';
  readonly name: string;
}

/** Alerts with the same cause are one incident. */
export function causeOf(one: Pick<Condition, 'kind' | 'integration' | 'subject'>): Cause {
  const { kind, integration, subject } = one;
  /** Of one brand, or the same of many brands at once. */
  const of = (part: 'pull' | 'push' | 'records'): Cause =>
    integration === '' ? { kind: 'brands', name: `${kind} ${subject}`.trim() } : { kind: part, name: integration };
  switch (kind) {
    case 'destination_away':
    case 'destination_failing':
    case 'destination_refusing':
    case 'destination_differs':
    case 'erased_guest_there':
    case 'deliveries_behind':
    case 'deliveries_paused':
    case 'deliveries_retrying':
      return { kind: 'destination', name: subject };
    case 'breaker_open':
      return { kind: 'partner', name: subject };
    case 'document_broken':
      return { kind: 'document', name: subject };
    case 'node_stalled':
    case 'disk_full':
      return { kind: 'node', name: subject };
    case 'role_missing':
      return { kind: 'service', name: `${subject} nodes` };
    case 'alert_route_failing':
      return { kind: 'service', name: `alert route ${subject}` };
    case 'feedback_failing':
      return { kind: 'service', name: `list of unsubscribed guests of ${subject}` };
    case 'dead_letters_growing':
    case 'dead_letter_share':
    case 'rows_held':
    case 'rows_unusual':
    case 'no_email':
    case 'delivers_nowhere':
      return of('records');
    case 'feed_silent':
    case 'feed_low':
      return of(subject.startsWith('push') ? 'push' : 'pull');
    case 'clock_skew':
      return integration === '' && subject !== '' ? { kind: 'node', name: subject } : of('push');
    case 'partner_waiting':
    case 'webhooks_refused':
    case 'events_behind':
    case 'stream_failing':
    case 'stream_gap':
    case 'stream_behind':
      return of('push');
    case 'auth_failed':
    case 'run_failed':
    case 'run_incomplete':
    case 'run_waiting':
    case 'runs_slow':
    case 'bookings_unlisted':
    case 'paused':
    case 'new':
      return of('pull');
  }
}

/** Of a stored alert, whose kind a newer version may have written. */
export function causeOfAlert(alert: { readonly kind: string; readonly integration: string; readonly subject: string }) {
  const kind = alertKinds.find((one) => one === alert.kind);
  return kind === undefined
    ? ({ kind: 'brands', name: `${alert.kind} ${alert.integration}`.trim() } as const)
    : causeOf({ ...alert, kind });
}

export const causeText = ({ kind, name }: Cause): string => `${kind}:${name}`;

export function readCause(text: string): Cause {
  const at = text.indexOf(':');
  return { kind: text.slice(0, at) as Cause['kind'], name: text.slice(at + 1) };
}

const titles: Readonly<Record<Cause['kind'], (name: string) => string>> = {
  destination: (name) => `Deliveries to ${name}`,
  partner: (name) => `The partner’s API ${name}`,
  pull: (name) => `Pulling ${name}`,
  push: (name) => `Events of ${name}`,
  records: (name) => `Records of ${name}`,
  node: (name) => `Node ${name}`,
  document: (name) => `The ${name}`,
  service: (name) => `The ${name}`,
  brands: (name) => `Several brands: ${name.replace(/^\w+/, (alertKind) => alertKind.replaceAll('_', ' '))}`,
};
export const titleOf = ({ kind, name }: Cause): string => titles[kind](name);

/** Alerts of a destination concern every brand that feeds it. */
export const isOfDestination = (kind: string): boolean =>
  ['destination_away', 'destination_failing', 'destination_refusing'].includes(kind);

/** A message about a shared alert for those who may see only some of its brands: the alert's own message names one of them. */
export const sharedText = (kind: string, brands: number): string =>
  `An alert is open for ${brands} brands at once: ${kind.replaceAll('_', ' ')}.`;

/** In the order of the kinds, which begins with causes and continues with their effects; each once. */
export const adviceFor = (kinds: readonly string[]): string[] =>
  alertKinds.filter((kind) => kinds.includes(kind)).map((kind) => advice[kind]);
