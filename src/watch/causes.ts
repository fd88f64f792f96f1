import { type AlertKind, alertKinds, type Condition } from './facts.ts';

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
    case 'deliveries_behind':
    case 'deliveries_paused':
    case 'deliveries_retrying':
      return { kind: 'destination', name: subject };
    case 'breaker_open':
      return { kind: 'partner', name: subject };
    case 'document_broken':
      return { kind: 'document', name: subject };
    case 'node_stalled':
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

export function titleOf({ kind, name }: Cause): string {
  switch (kind) {
    case 'destination':
      return `Deliveries to ${name}`;
    case 'partner':
      return `The partner’s API ${name}`;
    case 'pull':
      return `Pulling ${name}`;
    case 'push':
      return `Events of ${name}`;
    case 'records':
      return `Records of ${name}`;
    case 'node':
      return `Node ${name}`;
    case 'document':
      return `The ${name}`;
    case 'service':
      return `The ${name}`;
    case 'brands':
      return `Several brands: ${name.replace(/^\w+/, (alertKind) => alertKind.replaceAll('_', ' '))}`;
  }
}

/** Alerts of a destination concern every brand that feeds it. */
export const isOfDestination = (kind: string): boolean => ['destination_away', 'destination_failing'].includes(kind);

/** A message about a shared alert for those who may see only some of its brands: the alert's own message names one of them. */
export const sharedText = (kind: string, brands: number): string =>
  `An alert is open for ${brands} brands at once: ${kind.replaceAll('_', ' ')}.`;

/** What to do about each kind of alert. */
const advice: Readonly<Record<AlertKind, string>> = {
  role_missing: 'Start a node with this role, or one with --role all. What waits is then worked off by itself.',
  events_behind: 'See whether a worker is busy or stalled, and add one if it is busy. Events are not lost.',
  feed_silent:
    'Ask the partner whether the feed was switched off. For events, check the rejected webhooks of the brand.',
  feed_low:
    'Ask the partner whether hotels, rooms or statuses were removed from the feed. Compare a day with the partner’s system.',
  runs_slow:
    'Open a run: it has the time of each page. Ask the partner; shorten the range of the sync or raise its interval.',
  dead_letter_share:
    'Open the dead letters of the brand, by code. A new spelling of the partner belongs into the connector.',
  webhooks_refused:
    'Open the brand: Push shows what is refused. Rotate the secret there if the partner has another one; the sandbox tells the partner what is wrong. For a stream, correct the path of the connector that the alert names.',
  stream_failing:
    'Stop the other program that uses the same application key, or correct the key, the chain or the credentials. Reading resumes from the stored offset.',
  stream_gap:
    'Backfill the days since the last connection with `innbound sync NAME --from D --to D`. The alert ends with the next complete run.',
  stream_behind:
    'Make the stream readable again before the partner deletes its events; see the other alerts of the brand.',
  run_failed: 'Open the run: it has the partner’s answer and the next step for its code.',
  run_incomplete: 'Open the run to see which windows are missing. The next run asks for them again.',
  breaker_open: 'Ask the partner. Pulls resume by themselves when the API answers; nothing is lost meanwhile.',
  auth_failed: 'Correct the credentials in the brand’s document or in Secrets, then resume the brand.',
  dead_letters_growing: 'Open the dead letters of the brand, fix the first one, then replay all with the same code.',
  bookings_unlisted:
    'Compare some of them with the partner’s system. They do not change until the partner sends a change.',
  rows_held:
    'Open the hold. A renamed field: correct the mapping. A mistake of the partner: tell them and wait. A genuine change: release it.',
  rows_unusual:
    'Ask the partner whether this is right. Withdrawals count at once; a value that cannot be read leaves the stored one as it is: correct the mapping. Every event needs an id of its own.',
  clock_skew: 'Synchronize the clock that is off with NTP.',
  node_stalled: 'Check that the node reaches the database. If it does, restart it; its work moves to other nodes.',
  deliveries_behind: 'Check the destination’s answers. If it is only slow, raise its concurrency or its batch size.',
  destination_away: 'Ask who runs the destination. Deliveries wait and resume by themselves.',
  destination_failing:
    'Read the destination’s answer. If it refuses our credentials or our format, correct its document.',
  partner_waiting:
    'Open the onboarding link of the brand: answer the comments there, or look at the checklist and approve.',
  alert_route_failing: 'Test the route on the Alerts page: it shows the answer. Correct its address or its secret.',
  feedback_failing:
    'Give the credentials of the destination the permission that its page names, or set `feedback: false`. Reading continues where it stopped.',
  document_broken: 'Open the document: it names the mistake. Its brands stop until it is corrected.',
};

/** In the order of the kinds, which begins with causes and continues with their effects; each once. */
export const adviceFor = (kinds: readonly string[]): string[] =>
  alertKinds.filter((kind) => kinds.includes(kind)).map((kind) => advice[kind]);
