import type { Versioned } from '../brand/brand.ts';
import { openCircuitsOf } from '../composition/partner-apis.ts';
import { streamsOf } from '../composition/stream.ts';
import type { Stream } from '../intake/stream/ports.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { refusedSinceAccepted } from '../store/events/rejections.ts';
import { type StreamState, streamStates } from '../store/events/streams.ts';
import { lastRuns } from '../store/operate/conditions.ts';
import {
  openAlertsOf,
  type RetryingLane,
  retryingLanes,
  usualLatencies,
  waitingRuns,
} from '../store/operate/health.ts';
import { type IntegrationNow, integrationsNow, type LaneNow, lanesNow } from '../store/operate/overview.ts';
import { readLanesWithWork } from '../store/outbox/lanes-with-work.ts';
import { type OpenCircuit, openCircuits } from '../store/remotes.ts';
import {
  describeFailure,
  describeUnread,
  type Health,
  type HealthFacts,
  isDestinationFailing,
  judgeHealth,
  type LaneFacts,
} from '../watch/health.ts';
import { limitedMessage } from './alert-view.ts';

/** The health of a brand, with the facts about it that callers show beside it. */
export interface BrandHealth extends Health {
  readonly integration: string;
  /** By its document, by a person, or after refused credentials. */
  readonly paused: boolean;
  readonly pausedInDocument: boolean;
  readonly openAlerts: number;
  readonly now: IntegrationNow;
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

export interface LaneHealth extends LaneNow {
  readonly retrying: number;
  /** The destination accepts nothing now. */
  readonly failing: boolean;
  readonly last_failure: string | null;
}

/** The one place that reads and judges health, for the API, the commands and the metrics. Takes one connection. */
export async function healthOf(runtime: Runtime, names: readonly string[]): Promise<BrandHealth[]> {
  const { pool } = runtime;
  const { documents } = runtime.active();
  const known = names.flatMap((name) => documents.get(name) ?? []);
  const keys = known.flatMap(({ name, body }) =>
    body.deliver.map((destination) => ({ integration: name, destination })),
  );
  const pollers = known.map(pollerOf);
  const now = await integrationsNow(pool, [...new Set([...names, ...pollers])]);
  const lanes = await lanesNow(pool, keys);
  const retrying = await retryingLanes(pool, keys);
  const runs = await lastRuns(pool, pollers);
  const waiting = await waitingRuns(pool, pollers);
  const circuits = await openCircuitsOf(runtime);
  const destinations = [...new Set(keys.map(({ destination }) => destination))];
  const alerts = await openAlertsOf(pool, { integrations: names, destinations });
  const away = await openCircuits(pool, 'destination');
  const refused = await refusedSinceAccepted(pool, names);
  const streams = known.some(({ body }) => body.stream || body.pulled_by) ? await streamsNow(runtime) : [];
  const streamBy = new Map(streams.flatMap((stream) => stream.brands.map((name) => [name, stream] as const)));
  const late = lanes.filter(({ late_ms }) => (late_ms ?? 0) > 0).map(({ integration }) => integration);
  const usual = late.length === 0 ? new Map<string, number>() : await usualLatencies(pool, [...new Set(late)]);
  const lanesBy = Map.groupBy(lanes, ({ integration }) => integration);
  const factsOf = laneJudge(runtime, retrying, away);
  const runsBy = Map.groupBy(runs, ({ integration }) => integration);
  const waitingBy = Map.groupBy(waiting, ({ integration }) => integration);
  const alertsBy = Map.groupBy(alerts, ({ integration, subject }) => integration || `destination ${subject}`);
  const refusedBy = new Map(refused.map((one) => [one.integration, one]));
  const circuitBy = new Map(
    circuits.flatMap((circuit) => circuit.integrations.map((name) => [name, circuit] as const)),
  );
  const nowBy = new Map(now.map((brand) => [brand.integration, brand]));
  return known.flatMap(({ name: integration, body: document }) => {
    const brand = nowBy.get(integration);
    if (brand === undefined) return [];
    // A brand that another integration polls for is as healthy as that poll.
    const poller = document.pulled_by ?? integration;
    const poll = nowBy.get(poller) ?? brand;
    const mine = lanesBy.get(integration) ?? [];
    const laneFacts = mine.map((lane) => factsOf(lane, usual.get(integration)));
    const circuit = circuitBy.get(poller);
    const stream = streamBy.get(integration);
    const concerning = [integration, ...document.deliver.map((name) => `destination ${name}`)];
    const open = concerning.flatMap((key) => alertsBy.get(key) ?? []);
    const facts: HealthFacts = {
      pulls: stream === undefined && (document.pull !== undefined || document.pulled_by !== undefined),
      pausedBy: document.paused
        ? { kind: 'document' }
        : brand.paused_at
          ? { kind: 'person', name: brand.paused_by ?? 'an operator' }
          : undefined,
      refusedCredentials: poll.auth_failed_at ? { message: poll.auth_message } : undefined,
      circuit: circuit && { api: circuit.api, failures: circuit.failures, lastFailure: circuit.last_failure },
      askedToWait: poll.retry_at !== null,
      hasData: brand.last_event_at !== null || poll.last_run_at !== null,
      lastRuns: (runsBy.get(poller) ?? []).map(({ sync, state, error_code }) => ({
        sync,
        state,
        errorCode: error_code,
      })),
      waitingRuns: waitingBy.get(poller) ?? [],
      lanes: laneFacts,
      openDeadLetters: brand.open_dead_letters,
      refusals: document.push.enabled ? refusedBy.get(integration) : undefined,
      stream,
      alerts: open.map((alert) => ({ ...alert, message: limitedMessage(alert) })),
    };
    const paused = facts.pausedBy !== undefined || facts.refusedCredentials !== undefined;
    const lanesNowJudged = mine.map((lane, index) => ({ ...lane, ...judgedLane(laneFacts[index]) }));
    return [
      {
        integration,
        ...judgeHealth(facts),
        paused,
        pausedInDocument: document.paused,
        openAlerts: open.length,
        now: brand,
        lanes: lanesNowJudged,
        stream: stream ? streamNow(stream) : null,
      },
    ];
  });
}

/** The streams of the documents in force, with their brands. What other documents could not read no longer counts. */
export async function streamsNow(runtime: Runtime) {
  const streams = await streamsOf(runtime);
  const states = streams.size === 0 ? [] : await streamStates(runtime.pool, [...streams.keys()]);
  return states.map((state) => {
    const { revision, brands } = streams.get(state.stream) as Stream;
    const isCurrent = state.refused?.revision === revision && state.refused.count > 0;
    const names = [...brands.values()].map(({ integration }) => integration as string);
    return { ...state, brands: names, refused: isCurrent ? state.refused : null };
  });
}

function streamNow({ connected_since, last_message_at, ...facts }: StreamState): StreamNow {
  const { failures, refused } = facts;
  const problem = failures > 0 ? describeFailure(facts) : refused && describeUnread(refused);
  return { connected_since, last_message_at, problem };
}

/** The integration that polls for the brand. */
const pollerOf = ({ name, body }: Versioned<'integration'>): string => body.pulled_by ?? name;

/** The lanes with waiting work, of all brands. Idle lanes are not read. */
export async function busyLanes(runtime: Runtime): Promise<LaneHealth[]> {
  const { pool } = runtime;
  const { documents } = runtime.active();
  const keys = (await readLanesWithWork(pool)).filter(({ integration, destination }) =>
    documents.get(integration)?.body.deliver.includes(destination),
  );
  const lanes = await lanesNow(pool, keys);
  const retrying = await retryingLanes(pool, keys);
  const away = await openCircuits(pool, 'destination');
  const factsOf = laneJudge(runtime, retrying, away);
  return lanes.map((lane) => ({ ...lane, ...judgedLane(factsOf(lane, undefined)) }));
}

function laneJudge(
  runtime: Runtime,
  retrying: readonly RetryingLane[],
  away: readonly OpenCircuit[],
): (lane: LaneNow, usualMs: number | undefined) => LaneFacts {
  const { destinations } = runtime.active();
  const retryingBy = new Map(retrying.map((one) => [`${one.integration} ${one.destination}`, one]));
  const awayBy = new Map(away.map((one) => [one.name, one.last_failure]));
  return (lane, usualMs) => {
    const failed = retryingBy.get(`${lane.integration} ${lane.destination}`);
    return {
      destination: lane.destination,
      paused: destinations.get(lane.destination)?.body.paused === true,
      waiting: lane.waiting,
      retrying: failed?.retrying ?? 0,
      lastFailure: failed?.last_failure ?? null,
      circuitOpen: awayBy.get(lane.destination),
      deliveredSince: failed?.delivered_since ?? false,
      lateMs: lane.late_ms ?? 0,
      usualMs,
    };
  };
}

const judgedLane = (facts: LaneFacts | undefined) => ({
  retrying: facts?.retrying ?? 0,
  failing: facts !== undefined && isDestinationFailing(facts),
  last_failure: facts?.circuitOpen ?? facts?.lastFailure ?? null,
});
