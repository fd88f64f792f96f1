import { feedbackStreams } from '../../composition/feedback.ts';
import { streamedBrands } from '../../composition/stream.ts';
import { describeSign } from '../../core/reconcile/accidents/signs.ts';
import { readLanesWithWork } from '../../core/store/outbox/due.ts';
import { systemClock } from '../../kit/clock.ts';
import { systemRandom } from '../../kit/ids.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { routeStates, sendStore, settleAlerts, sharedAlerts } from '../store/alerts.ts';
import { clockSkews, deadLetterGrowth, manyCancelled, quietFeeds } from '../store/conditions.ts';
import { recentlyUnlisted, streamStates } from '../store/feeds.ts';
import { endHolds, toldLately } from '../store/holds.ts';
import { liveNodes } from '../store/nodes.ts';
import { type OnboardingLink, openLinks } from '../store/onboarding.ts';
import { alertsOf } from '../watch/alerts.ts';
import { conditionsOf } from '../watch/conditions.ts';
import { troubledNodes } from '../watch/diagnosis.ts';
import { type AlertKind, alertKinds, type Facts, noFacts } from '../watch/facts.ts';
import { sendAlerts } from '../watch/send-alerts.ts';
import { judgeSilence } from '../watch/silence.ts';
import { alertRoutes, routesFor, sendingPorts } from './alert-routes.ts';
import { examineDisk } from './examine-disk.ts';
import { factsOf, sharedCauses, streamsNow } from './facts.ts';
import { reprocessHolds } from './holds.ts';
import { seasons, unusualDays } from './unusual-days.ts';

/** Evaluates all conditions once: raises, refreshes and resolves alerts, then sends notifications. */
export async function watchOnce(runtime: Runtime): Promise<void> {
  await judgeCauses(runtime);
  await judgeBrands(runtime);
  await judgeFeeds(runtime);
}

/** Kinds with one alert for each cause. Judging them costs the same with any number of brands. */
const causeKinds: readonly AlertKind[] = [
  'breaker_open',
  'role_missing',
  'disk_full',
  'node_stalled',
  'destination_away',
  'destination_refusing',
  'document_broken',
  'alert_route_failing',
];
/** Kinds that compare a day with earlier ones. */
export const dayKinds: readonly AlertKind[] = ['feed_low', 'runs_slow', 'dead_letter_share'];
const brandKinds = alertKinds.filter((kind) => !causeKinds.includes(kind) && !dayKinds.includes(kind));

export async function judgeCauses(runtime: Runtime): Promise<void> {
  await settle(runtime, { ...noFacts, ...(await causes(runtime)) }, causeKinds);
}

/** The kinds that need facts about every brand. With 100,000 brands these take seconds to read. */
export async function judgeBrands(runtime: Runtime): Promise<void> {
  await settle(runtime, await facts(runtime), brandKinds);
}

/** The kinds that change with each counted hour. */
export async function judgeFeeds(runtime: Runtime): Promise<void> {
  await settle(runtime, { ...noFacts, volumes: await unusualDays(runtime) }, dayKinds);
}

async function settle(runtime: Runtime, known: Facts, kinds: readonly string[]): Promise<void> {
  const routes = alertRoutes(runtime);
  const { raised, resolved } = await settleAlerts(
    runtime.pool,
    alertsOf(conditionsOf(known), known.shared).filter(({ kind }) => kinds.includes(kind)),
    kinds,
    (alert, news) => routesFor(routes, alert, news, systemClock.now()),
  );
  for (const { alert_id, kind, integration, subject, severity } of raised) {
    runtime.log.warn({ alert_id, kind, integration, subject, severity }, 'watch: alert raised');
  }
  for (const { alert_id, kind, integration, subject } of resolved) {
    runtime.log.info({ alert_id, kind, integration, subject }, 'watch: alert resolved');
  }
  await sendDueAlerts(runtime);
}

/** Sends the alerts that are due on any route. */
export function sendDueAlerts(runtime: Runtime, signal?: AbortSignal): Promise<number> {
  return sendAlerts(
    {
      ...sendingPorts(runtime, systemClock),
      store: sendStore(runtime.pool),
      chance: systemRandom,
      failed: ({ route, alertId, message }) =>
        runtime.log.warn(
          { code: 'operate.alert_unsent', route, alert_id: alertId, failure: message },
          'watch: an alert route did not accept an alert; retrying',
        ),
    },
    signal,
  );
}

/** How many expected arrivals must be missing. Runs are 15 to 60 minutes apart, so fewer of them are enough. */
const rules = {
  push: { missed: 8, leastMs: 15 * 60_000 },
  pull: { missed: 4, leastMs: 90 * 60_000 },
};

async function causes(runtime: Runtime) {
  const { pool } = runtime;
  const active = runtime.active();
  const nodes = await liveNodes(pool);
  const sends = await routeStates(pool);
  return {
    ...(await sharedCauses(runtime)),
    ...troubledNodes(nodes),
    disks: await fullDisks(runtime),
    broken: distinct([...active.broken, ...nodes.flatMap(({ broken }) => broken)]),
    alertRoutes: sends.filter(({ route, failing }) => failing > 0 && alertRoutes(runtime).has(route)),
  } satisfies Partial<Facts>;
}

/** The disk of the node that watches: without DATABASE_URL, the database is there too. */
async function fullDisks({ node, workspaceDir }: Runtime): Promise<Facts['disks']> {
  const { state, message } = await examineDisk(workspaceDir);
  return state === 'problem' ? [{ node, message }] : [];
}

/** Nodes with the same files report the same. */
const distinct = (broken: Facts['broken']): Facts['broken'] => [
  ...new Map(broken.map((one) => [one.document, one])).values(),
];

async function facts(runtime: Runtime): Promise<Facts> {
  const { pool } = runtime;
  const active = runtime.active();
  const all = [...active.integrations.values()];
  const streamed = streamedBrands(runtime);
  const pushing = all
    .filter((one) => one.body.push.enabled || streamed.includes(one))
    .map(({ integration: name }) => name);
  const pulling = all.filter(({ body }) => body.pull && !body.paused).map(({ integration: name }) => name);
  // One after another: together they took ten connections, which PostgreSQL opened and closed again every 30 seconds.
  const feeds = await quietFeeds(pool, pushing, pulling, rules.push.leastMs);
  const unlisted = await recentlyUnlisted(pool);
  const cancelled = await manyCancelled(pool);
  await reprocessHolds(runtime);
  await endHolds(pool);
  const told = await toldLately(pool);
  const skews = await clockSkews(pool);
  const links = await openLinks(pool);
  const nodes = await liveNodes(pool);
  const working = await readLanesWithWork(pool);
  const keys = working.filter(({ integration, destination }) =>
    active.documents.get(integration)?.body.deliver.includes(destination),
  );
  const known = await factsOf(runtime, { names: undefined, polling: undefined, keys });
  const refusing = known.refusing.map(({ name }) => name);
  const dead = await deadLetterGrowth(pool, refusing);
  const shared = await sharedAlerts(pool);
  const now = systemClock.now();
  const judged = feeds.map(({ integration, feed, last_at, hours }) => ({
    integration,
    feed,
    judgement: judgeSilence(
      { lastAt: last_at.getTime(), hours, timezone: active.documents.get(integration)?.body.timezone ?? 'UTC' },
      now,
      rules[feed],
    ),
  }));
  const silent = judged.filter(({ judgement }) => judgement.silent);
  const quiet = silent.map(({ integration }) => integration);
  const season = await seasons(runtime, quiet);
  return {
    ...noFacts,
    ...known,
    feeds: silent.filter(
      ({ integration, feed, judgement }) =>
        (judgement.expected ?? 0) * Math.min(1, season.get(integration) ?? 1) >= rules[feed].missed,
    ),
    streams: [...(await streamsNow(runtime)), ...(await streamStates(pool, await feedbackStreams(runtime)))],
    deadLetters: dead,
    unlisted,
    cancelled,
    unusual: told.map(({ integration, sign, ...counts }) => ({
      integration,
      sign,
      message: describeSign(sign, counts),
    })),
    skews,
    ...troubledNodes(nodes),
    partners: waitingPartners(links.filter(({ integration }) => active.documents.has(integration))),
    shared,
  };
}

/** Partners who wait for an operator: they are ready, or their last comments have no answer. */
const waitingPartners = (links: readonly OnboardingLink[]): Facts['partners'] =>
  links
    .map(({ integration, link_id, partner, ready_at, live_at, comments }) => {
      const answered = comments.findLastIndex(({ side }) => side === 'operator');
      const asked = comments.slice(answered + 1).filter(({ text }) => text !== '').length;
      return { integration, link_id, partner, is_ready: ready_at !== null && live_at === null, comments: asked };
    })
    .filter(({ is_ready, comments }) => is_ready || comments > 0);
