import type { EpochMs } from '../../terms.ts';
import { keepsAlerts, type News, type Notice, type RoutedAlert, type RouteSettings } from './routes/route.ts';
import type { RouteAnswer } from './routes/send.ts';

/** A route and an alert whose turn it is, leased to this node. */
export interface ClaimedSend {
  readonly route: string;
  readonly alert: Omit<RoutedAlert, 'raised_at' | 'resolved_at'>;
  readonly raised_at: Date;
  readonly resolved_at: Date | null;
  /** What the route knows. */
  readonly sent: 'nothing' | News;
  readonly fence: number;
  readonly attempt: number;
  /** An earlier try may have arrived. */
  readonly tried: boolean;
  /** Raised more than a day ago, and still open. */
  readonly stale: boolean;
}

type SendOutcome =
  | { readonly kind: 'sent'; readonly news: News }
  | { readonly kind: 'retry'; readonly delayMs: number; readonly message: string }
  /** Nothing to send any more. */
  | { readonly kind: 'dropped' }
  /** Nothing to send until the alert ends. */
  | { readonly kind: 'rest' };

export interface SendStore {
  readonly claim: (limit: number, leaseMs: number) => Promise<readonly ClaimedSend[]>;
  /** Counts only while the lease is ours. */
  readonly settle: (send: ClaimedSend, outcome: SendOutcome) => Promise<void>;
}

export interface SendAlertsPorts {
  readonly store: SendStore;
  /** Undefined for a route that no document has any more. */
  readonly settingsOf: (route: string) => Promise<RouteSettings | 'unreadable' | undefined>;
  readonly send: (settings: RouteSettings, notice: Notice) => Promise<RouteAnswer>;
  readonly link: string | undefined;
  readonly failed: (failure: { readonly route: string; readonly alertId: string; readonly message: string }) => void;
  readonly chance: () => number;
}

/** A claim is sent within its lease even if every try takes its whole 20 seconds. */
const atOnce = 4;
const leaseMs = 90_000;
const firstDelayMs = 5_000;
const mostDelayMs = 15 * 60_000;

/**
 * Sends what is due, each route's alerts in the order they were raised. A failure is retried after 5 seconds, doubling up to 15 minutes,
 * for a day. Returns how many were sent.
 */
export async function sendAlerts(ports: SendAlertsPorts, signal?: AbortSignal): Promise<number> {
  let sent = 0;
  for (;;) {
    const claims = await ports.store.claim(atOnce, leaseMs);
    const outcomes = await Promise.all(
      [...Map.groupBy(claims, ({ route }) => route).values()].map((mine) => sendInOrder(mine, ports, signal)),
    );
    sent += outcomes.reduce((sum, count) => sum + count, 0);
    if (claims.length < atOnce || signal?.aborted) return sent;
  }
}

async function sendInOrder(
  claims: readonly ClaimedSend[],
  ports: SendAlertsPorts,
  signal?: AbortSignal,
): Promise<number> {
  let sent = 0;
  for (const claim of claims) {
    // What is left is claimed again when its lease ends.
    if (signal?.aborted) break;
    const outcome = await sendOne(claim, ports);
    await ports.store.settle(claim, outcome);
    if (outcome.kind === 'sent') sent += 1;
  }
  return sent;
}

async function sendOne(claim: ClaimedSend, ports: SendAlertsPorts): Promise<SendOutcome> {
  const settings = await ports.settingsOf(claim.route);
  if (settings === undefined) return { kind: 'dropped' };
  const isGivenUp = claim.stale && claim.tried && claim.sent === 'nothing';
  const news = isGivenUp ? undefined : newsFor(claim, settings);
  // The row of an open alert stays, or the alert would be queued again.
  if (news === undefined) return { kind: claim.resolved_at === null ? 'rest' : 'dropped' };
  const { alert, raised_at, resolved_at } = claim;
  const notice: Notice = { alert: { ...alert, raised_at, resolved_at }, news, link: ports.link };
  const answer: RouteAnswer =
    settings === 'unreadable'
      ? { kind: 'failed', message: 'A secret of the route cannot be read.' }
      : await ports.send(settings, notice);
  if (answer.kind === 'sent') return { kind: 'sent', news };
  ports.failed({ route: claim.route, alertId: alert.alert_id, message: answer.message });
  const backoffMs = Math.min(firstDelayMs * 2 ** claim.attempt, mostDelayMs) * (1 + ports.chance() / 4);
  return { kind: 'retry', delayMs: Math.round(Math.max(backoffMs, answer.afterMs ?? 0)), message: answer.message };
}

/**
 * What to send: the beginning of an open alert, or the end of one that the route knows or may know of. An alert that was over before
 * anyone heard of it concerns nobody; a webhook gets its end nevertheless, for its records.
 */
function newsFor(claim: ClaimedSend, settings: RouteSettings | 'unreadable'): News | undefined {
  const { sent, resolved_at, tried } = claim;
  if (sent === 'resolved') return undefined;
  if (resolved_at === null) return sent === 'nothing' ? 'raised' : undefined;
  if (sent === 'raised' || tried) return 'resolved';
  return settings !== 'unreadable' && settings.type === 'webhook' ? 'resolved' : undefined;
}

/** A notice that tries a route, and leaves nothing open there. */
export async function testRoute(
  settings: RouteSettings,
  about: Pick<SendAlertsPorts, 'send' | 'link'> & { readonly now: EpochMs; readonly alertId: string },
): Promise<RouteAnswer> {
  const { send, now, alertId, link } = about;
  const alert: RoutedAlert = {
    alert_id: alertId,
    kind: 'test',
    integration: settings.integrations?.[0] ?? '',
    subject: '',
    severity: settings.severities.includes('warning') ? 'warning' : 'critical',
    message: 'This is a test of the alert route. Nothing is wrong.',
    raised_at: new Date(now),
    resolved_at: null,
  };
  const first = await send(settings, { alert, news: 'raised', link });
  if (first.kind === 'failed' || !keepsAlerts(settings)) return first;
  return send(settings, { alert: { ...alert, resolved_at: new Date(now) }, news: 'resolved', link });
}
