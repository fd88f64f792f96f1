import type { Json } from '../terms.ts';
import type { Judgement } from './silence.ts';

/** A fault that exists now. It raises an alert; when it ends, the alert is resolved. */
export interface Condition {
  readonly kind: AlertKind;
  /** Empty if it concerns the service, or several integrations. */
  readonly integration: string;
  readonly subject: string;
  readonly severity: 'warning' | 'critical';
  /** For an operator; no guest data. */
  readonly message: string;
  readonly detail: { readonly [key: string]: Json };
}

export const alertKinds = [
  'auth_failed',
  'breaker_open',
  'feed_silent',
  'run_failed',
  'run_incomplete',
  'dead_letters_growing',
  'bookings_unlisted',
  'clock_skew',
  'node_stalled',
  'deliveries_behind',
  'destination_away',
  'destination_failing',
  'document_broken',
  'alert_route_failing',
] as const;
type AlertKind = (typeof alertKinds)[number];

/** The facts to judge, from the store and the documents in force. */
export interface Facts {
  readonly feeds: readonly {
    readonly integration: string;
    readonly feed: 'push' | 'pull';
    readonly judgement: Judgement;
  }[];
  /** The last finished run of each sync. */
  readonly runs: readonly {
    readonly integration: string;
    readonly sync: string;
    readonly state: string;
    readonly run_id: string;
    readonly error_code: string | null;
  }[];
  readonly breakers: readonly {
    readonly api: string;
    readonly integrations: readonly string[];
    readonly last_failure: string | null;
  }[];
  readonly authFailures: readonly { readonly integration: string; readonly message: string | null }[];
  readonly deadLetters: readonly {
    readonly integration: string;
    readonly last_hour: number;
    /** An hour's usual number, over the day before. */
    readonly usual: number;
    readonly open: number;
  }[];
  /** Reservations that disappeared from their brand's lists during the last day. */
  readonly unlisted: readonly { readonly integration: string; readonly count: number }[];
  readonly skews: readonly {
    readonly integration: string;
    /** Refused in the last hour or two because their time was too far off. */
    readonly refused: number;
    /** Accepted, but more than a minute in the future. */
    readonly ahead: number;
    readonly taken: number;
  }[];
  /** Nodes with loops that make no progress. */
  readonly stalled: readonly { readonly node: string; readonly loops: readonly string[] }[];
  /** Nodes whose clock differs from the database's by more than the tolerance. */
  readonly nodeClocks: readonly { readonly node: string; readonly ahead_ms: number }[];
  readonly lanes: readonly {
    readonly integration: string;
    readonly destination: string;
    readonly waiting: number;
    readonly late_ms: number | null;
  }[];
  /** Destinations that accept nothing now. */
  readonly failing: readonly {
    readonly destination: string;
    readonly integrations: number;
    readonly waiting: number;
    readonly last_failure: string | null;
  }[];
  /** Destinations whose circuit is open. */
  readonly circuits: readonly {
    readonly destination: string;
    readonly last_failure: string;
    readonly open_since: Date;
  }[];
  readonly broken: readonly { readonly document: string; readonly message: string }[];
  /** Alert routes that take nothing now. */
  readonly alertRoutes: readonly {
    readonly route: string;
    readonly waiting: number;
    readonly failure: string | null;
  }[];
}

const fewestDead = 10;
const fewestUnlisted = 10;
const behindMs = 15 * 60_000;
const hours = (ms: number): string => `${(ms / 3_600_000).toFixed(1)} hours`;

/** Codes of runs that fail because the partner's API does not work; its open circuit already raises an alert. */
const apiFailures: ReadonlySet<string> = new Set([
  'pull.breaker_open',
  'pull.server_error',
  'pull.timeout',
  'pull.unreachable',
]);

/** The conditions, one for each cause: a partner's API that is down is one alert, however many brands use it. */
export function conditionsOf(facts: Facts): Condition[] {
  const affected = new Set(facts.breakers.flatMap(({ integrations }) => integrations));
  const away = new Set<string>(facts.circuits.map(({ destination }) => destination));
  const failing = new Set<string>(facts.failing.map(({ destination }) => destination));
  return oneForMany(
    eachCondition({
      ...facts,
      runs: facts.runs.filter((run) => !affected.has(run.integration) || !apiFailures.has(run.error_code ?? '')),
      feeds: facts.feeds.filter(({ feed, integration }) => feed === 'push' || !affected.has(integration)),
      failing: facts.failing.filter(({ destination }) => !away.has(destination)),
      lanes: facts.lanes.filter(({ destination }) => !away.has(destination) && !failing.has(destination)),
    }),
  );
}

/** From this many brands on, the same problem at the same time counts as one cause. */
const manyBrands = 20;
const namedBrands = 20;

function oneForMany(conditions: readonly Condition[]): Condition[] {
  const groups = Map.groupBy(conditions, ({ kind, severity, integration, subject, detail }) =>
    integration === '' ? Symbol() : JSON.stringify([kind, severity, subject, detail.code]),
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined || group.length < manyBrands) return group;
    const integrations = group.map(({ integration }) => integration).sort();
    const message = `${group.length} brands at once; the first is ${integrations[0]}: ${first.message}`;
    const detail = {
      ...(first.detail.code !== undefined && { code: first.detail.code }),
      brands: group.length,
      integrations: integrations.slice(0, namedBrands),
    };
    return [{ ...first, integration: '', message, detail }];
  });
}

function eachCondition(facts: Facts): Condition[] {
  const found: Condition[] = [];
  const add = (
    kind: AlertKind,
    severity: Condition['severity'],
    integration: string,
    subject: string,
    message: string,
    detail: Condition['detail'] = {},
  ) => found.push({ kind, severity, integration, subject, message, detail });

  for (const { integration, feed, judgement } of facts.feeds) {
    if (!judgement.silent) continue;
    const expected = Math.round(judgement.expected ?? 0);
    const message =
      feed === 'push'
        ? `No event for ${hours(judgement.silentMs)}; about ${expected} were expected.`
        : `No run has found a reservation for ${hours(judgement.silentMs)}; about ${expected} were expected.`;
    add('feed_silent', 'critical', integration, feed, message, { expected, silent_ms: judgement.silentMs });
  }
  for (const { integration, sync, state, run_id, error_code } of facts.runs) {
    const detail = { run_id, ...(error_code !== null && { code: error_code }) };
    const why = error_code === null ? '' : ` (${error_code})`;
    if (state === 'failed')
      add('run_failed', 'critical', integration, sync, `The last ${sync} run failed${why}.`, detail);
    if (state === 'incomplete') {
      add('run_incomplete', 'warning', integration, sync, `The last ${sync} run is incomplete${why}.`, detail);
    }
  }
  for (const { api, integrations, last_failure } of facts.breakers) {
    const brands = integrations.length === 1 ? '1 brand' : `${integrations.length} brands`;
    const message = `The circuit of ${api} is open after repeated failures (${last_failure ?? 'no answer'}). ${brands} cannot pull; requests resume when it answers again.`;
    const detail = { brands: integrations.length, integrations: integrations.slice(0, namedBrands) };
    add('breaker_open', 'critical', integrations.length === 1 ? (integrations[0] ?? '') : '', api, message, detail);
  }
  for (const { integration, message } of facts.authFailures) {
    const why = message === null ? '' : `: ${message}`;
    add('auth_failed', 'critical', integration, '', `The partner refuses the credentials; pulling is paused${why}.`);
  }
  for (const { integration, last_hour, usual, open } of facts.deadLetters) {
    if (last_hour < fewestDead || last_hour < usual * 3) continue;
    const message = `${last_hour} dead letters in an hour instead of the usual ${Number(usual.toFixed(1))}; ${open} are open.`;
    add('dead_letters_growing', 'warning', integration, '', message, { last_hour, usual, open });
  }
  for (const { integration, count } of facts.unlisted) {
    if (count < fewestUnlisted) continue;
    const message = `${count} reservations disappeared from the partner's lists in a day, without a cancellation.`;
    add('bookings_unlisted', 'warning', integration, '', message, { count });
  }
  for (const { integration, refused, ahead, taken } of facts.skews) {
    if (refused >= 3) {
      const message = `${refused} events were refused because their timestamp was more than five minutes off: the sender's clock is wrong.`;
      add('clock_skew', 'critical', integration, '', message, { refused });
    } else if (ahead >= 3 && ahead * 2 > taken) {
      const message = `${ahead} of ${taken} events of the last hour had a time in the future: the sender's clock is ahead.`;
      add('clock_skew', 'warning', integration, '', message, { ahead, taken });
    }
  }
  for (const { node, loops } of facts.stalled) {
    const message = `Node ${node} makes no progress in ${loops.join(', ')}. Check that it reaches the database; restart it if it does.`;
    add('node_stalled', 'critical', '', node, message, { loops: [...loops] });
  }
  for (const { node, ahead_ms } of facts.nodeClocks) {
    const off = `${Math.round(Math.abs(ahead_ms) / 1000)} seconds ${ahead_ms > 0 ? 'ahead of' : 'behind'}`;
    const message = `The clock of node ${node} is ${off} the database's. Synchronize the clocks of both machines (NTP).`;
    add('clock_skew', 'warning', '', node, message, { ahead_ms });
  }
  for (const { integration, destination, waiting, late_ms } of facts.lanes) {
    if ((late_ms ?? 0) < behindMs) continue;
    const message = `${waiting} ${waiting === 1 ? 'record waits' : 'records wait'} for ${destination}, the longest for ${hours(late_ms ?? 0)}.`;
    add('deliveries_behind', 'warning', integration, destination, message, { waiting, late_ms: late_ms ?? 0 });
  }
  for (const { destination, integrations, waiting, last_failure } of facts.failing) {
    const brands = integrations === 1 ? '1 brand' : `${integrations} brands`;
    const message = `${destination} is failing: ${last_failure ?? 'no answer'}. ${waiting} changes of ${brands} are waiting.`;
    add('destination_failing', 'critical', '', destination, message, { waiting, integrations });
  }
  for (const { destination, last_failure, open_since } of facts.circuits) {
    const message = `${destination} is not available (${last_failure}). Its work waits, uses no tries and resumes by itself.`;
    add('destination_away', 'critical', '', destination, message, {
      code: last_failure,
      open_since: open_since.toISOString(),
    });
  }
  for (const [message, documents] of Map.groupBy(facts.broken, (one) => one.message)) {
    const names = documents.map(({ document }) => document).sort();
    if (names.length >= manyBrands) {
      const about = `${names.length} documents cannot be used, the first is the ${names[0]}: ${message}.`;
      add('document_broken', 'critical', '', message, about, { documents: names.slice(0, namedBrands) });
      continue;
    }
    for (const name of names) add('document_broken', 'critical', '', name, `The ${name} cannot be used: ${message}.`);
  }
  for (const { route, waiting, failure } of facts.alertRoutes) {
    const alerts = waiting === 1 ? '1 alert waits' : `${waiting} alerts wait`;
    const message = `The alert route ${route} does not accept alerts: ${failure ?? 'no answer.'} ${alerts}. Try it with \`innbound alert test ${route}\`.`;
    add('alert_route_failing', 'critical', '', route, message);
  }
  return found;
}
