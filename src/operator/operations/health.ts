import type { Versioned } from '../../core/brand/brand.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { LastComparison } from '../store/comparisons.ts';
import { type OpenAlert, openAlertsOf, waitingRuns } from '../store/conditions.ts';
import type { StreamState } from '../store/feeds.ts';
import { type IntegrationNow, integrationsNow } from '../store/overview.ts';
import { causeOf, causeOfAlert, causeText } from '../watch/causes.ts';
import { comparedText, restsOn } from '../watch/conditions/evidence.ts';
import { describeFailure, describeUnread } from '../watch/conditions/feeds.ts';
import { conditionsOf } from '../watch/conditions.ts';
import { type Condition, type Facts, noFacts } from '../watch/facts.ts';
import { type Finding, type Health, healthFrom } from '../watch/health.ts';
import { brandsConcerned, limitedMessage } from './alert-view.ts';
import { factsOf, type LaneHealth, streamsNow } from './facts.ts';

/** The health of a brand, with the facts about it that callers show beside it. */
export interface BrandHealth extends Health {
  readonly integration: string;
  /** By its document, by a person, or after refused credentials. */
  readonly paused: boolean;
  readonly pausedInDocument: boolean;
  readonly openAlerts: number;
  /** The last audit at each destination. */
  readonly comparisons: readonly LastComparison[];
  /** What the state rests on. */
  readonly restsOn: string | null;
  readonly now: IntegrationNow;
  /** Accepted events that are not processed yet. */
  readonly pending: number;
  readonly lanes: readonly LaneHealth[];
  /** The stream that brings its events. */
  readonly stream: StreamNow | null;
}

export interface StreamNow {
  readonly connected_since: Date | null;
  readonly last_message_at: Date | null;
  /** What is wrong with it, and what to do. */
  readonly problem: string | null;
}

/** The health of brands, for the API, the commands and the metrics, from facts that are cheap to read now. Takes one connection. */
export async function healthOf(runtime: Runtime, names: readonly string[]): Promise<BrandHealth[]> {
  const { pool } = runtime;
  const { documents } = runtime.active();
  const known = names.flatMap((name) => documents.get(name) ?? []);
  const keys = known.flatMap(({ name, body }) =>
    body.deliver.map((destination) => ({ integration: name, destination })),
  );
  const polling = [...new Set([...names, ...known.map(pollerOf)])];
  const now = await integrationsNow(pool, polling);
  const nowBy = new Map(now.map((brand) => [brand.integration, brand]));
  const facts = await factsOf(runtime, { names, polling, keys });
  const { lanes, pending } = facts;
  const streams = known.some(({ body }) => body.stream || body.pulled_by) ? await streamsNow(runtime) : [];
  const streamBy = new Map(streams.flatMap((stream) => stream.brands.map((name) => [name, stream] as const)));
  const destinations = [...new Set(keys.map(({ destination }) => destination))];
  const conditions = conditionsOf({
    ...noFacts,
    ...facts,
    pauses: known.flatMap(({ name, body }) =>
      body.pull || body.pulled_by || body.stream ? pauseOf(name, body.paused, nowBy.get(name)) : [],
    ),
    evidence: known.flatMap(({ name, body }) => {
      const own = nowBy.get(name);
      if (own === undefined) return [];
      const { bookings, with_email, delivered, last_event_at } = own;
      const has_data = (last_event_at ?? nowBy.get(body.pulled_by ?? name)?.last_run_at ?? null) !== null;
      const pulls = !streamBy.has(name) && (body.pull !== undefined || body.pulled_by !== undefined);
      const delivers = body.deliver.length > 0;
      return [{ integration: name, pulls, has_data, bookings, with_email, delivered, delivers }];
    }),
    waitingRuns: await waitingRuns(pool, polling),
    askedToWait: now.filter(({ retry_at }) => retry_at !== null).map(({ integration }) => integration),
    deadLetters: now.map(({ integration, open_dead_letters: open }) => ({ integration, last_hour: 0, usual: 0, open })),
    streams,
  });
  const concerning = byBrand(runtime, conditions);
  const alerts = await openAlertsOf(pool, { integrations: names, destinations });
  const alertsBy = byBrand(runtime, alerts.map(stored));
  const lanesBy = Map.groupBy(lanes, ({ integration }) => integration);
  const comparisonsBy = Map.groupBy(facts.comparisons, (one) => one.integration);
  const pendingBy = new Map(pending.map(({ integration, count }) => [integration, count]));
  return known.flatMap((document) => {
    const { name: integration, body } = document;
    const brand = nowBy.get(integration);
    if (brand === undefined) return [];
    const poller = pollerOf(document);
    const stream = streamBy.get(integration);
    const ofOther = (name: string | undefined, ...causes: string[]) =>
      name === undefined || name === integration
        ? []
        : (concerning.get(name) ?? []).filter((one) => causes.includes(causeOf(one).kind));
    // A brand that another integration polls for, or whose stream another one reads, is as healthy as that.
    const judged = [
      ...(concerning.get(integration) ?? []),
      ...ofOther(poller, 'pull').filter(({ kind }) => kind !== 'paused' && kind !== 'new'),
      ...ofOther(stream?.account, 'push').filter(({ kind, subject }) => kind !== 'webhooks_refused' || subject !== ''),
    ];
    const open = alertsBy.get(integration) ?? [];
    const comparisons = comparisonsBy.get(integration) ?? [];
    const health = healthFrom(
      judged.map(findingOf),
      open.map(({ integration: _, ...finding }) => finding),
    );
    return [
      {
        integration,
        ...health,
        paused: judged.some(({ kind }) => kind === 'paused' || kind === 'auth_failed'),
        pausedInDocument: body.paused,
        openAlerts: open.length,
        comparisons,
        restsOn:
          [restsOn(brand) ?? [], comparisons.map((one) => comparedText(one, runtime.clock.now()))].flat(2).join('; ') ||
          null,
        now: brand,
        pending: pendingBy.get(integration) ?? 0,
        lanes: lanesBy.get(integration) ?? [],
        stream: stream ? streamNow(stream) : null,
      },
    ];
  });
}

function byBrand<One extends Pick<Finding, 'kind' | 'subject'> & Pick<Condition, 'integration' | 'brands'>>(
  runtime: Runtime,
  items: readonly One[],
): ReadonlyMap<string, readonly One[]> {
  const byName = new Map<string, One[]>();
  for (const one of items) {
    const { kind, integration, subject, brands = null } = one;
    for (const name of integration === '' ? brandsConcerned(runtime, { kind, subject, brands }) : [integration])
      byName.set(name, [...(byName.get(name) ?? []), one]);
  }
  return byName;
}

const findingOf = (one: Condition): Finding => {
  const { kind, subject, state, message, action } = one;
  return { kind, subject, state, message, cause: causeText(causeOf(one)), ...(action && { action }) };
};

/** An open alert is a condition of the last evaluation. */
function stored(alert: OpenAlert): Finding & { readonly integration: string } {
  const { kind, integration, subject, severity } = alert;
  const state = severity === 'critical' ? 'failing' : kind === 'partner_waiting' ? 'healthy' : 'attention';
  return { kind, integration, subject, state, message: limitedMessage(alert), cause: causeText(causeOfAlert(alert)) };
}

function pauseOf(integration: string, inDocument: boolean, now: IntegrationNow | undefined): Facts['pauses'] {
  if (inDocument) return [{ integration, by: null }];
  return now?.paused_at ? [{ integration, by: now.paused_by ?? 'an operator' }] : [];
}

function streamNow({ connected_since, last_message_at, ...facts }: StreamState): StreamNow {
  const { failures, refused } = facts;
  const problem = failures > 0 ? describeFailure(facts) : refused && describeUnread(refused);
  return { connected_since, last_message_at, problem };
}

/** The integration that polls for the brand. */
const pollerOf = ({ name, body }: Versioned<'integration'>): string => body.pulled_by ?? name;
