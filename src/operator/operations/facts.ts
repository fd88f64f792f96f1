import { streamsOf } from '../../composition/stream.ts';
import type { LaneKey } from '../../core/deliver/ports.ts';
import type { Stream } from '../../core/intake/stream/ports.ts';
import { describeSign } from '../../core/reconcile/accidents/signs.ts';
import type { Pool } from '../../core/store/db/pool.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { listComparisons } from '../store/comparisons.ts';
import {
  authFailures,
  failedLastRuns,
  pendingEvents,
  refusingDestinations,
  retryingLanes,
  usualLatencies,
} from '../store/conditions.ts';
import { openCircuits, refusedBrands, streamStates } from '../store/feeds.ts';
import { listHolds } from '../store/holds.ts';
import { unmannedRoles } from '../store/nodes.ts';
import { type LaneNow, lanesNow } from '../store/overview.ts';
import { leastLateMs } from '../watch/conditions/judged.ts';
import { isDestinationFailing } from '../watch/conditions.ts';
import type { Facts, LaneFacts } from '../watch/facts.ts';

/** Of which brands facts are wanted, with those that poll for them (undefined: all), and of which lanes. */
interface Wanted {
  readonly names: readonly string[] | undefined;
  readonly polling: readonly string[] | undefined;
  readonly keys: readonly LaneKey[];
}

/** The facts by which both the health of brands and their alerts are judged, read one after another on one connection. */
export async function factsOf(runtime: Runtime, { names, polling, keys }: Wanted) {
  const { pool } = runtime;
  const { documents, integrations } = runtime.active();
  const causes = await sharedCauses(runtime);
  const runs = await failedLastRuns(pool, polling);
  const refusals = await refusedBrands(pool, names);
  return {
    ...causes,
    runs: runs.filter(({ integration }) => documents.has(integration)),
    authFailures: await authFailures(pool, polling ?? [...integrations.keys()]),
    refusals: refusals.filter(({ integration }) => documents.get(integration)?.body.push.enabled),
    pending: await pendingEvents(pool, names),
    holds: await openHolds(pool, names),
    comparisons: (await listComparisons(pool, { within: names })).filter(({ integration, destination }) =>
      documents.get(integration)?.body.deliver.includes(destination),
    ),
    lanes: await lanesOf(runtime, keys, [...causes.circuits, ...causes.refusing]),
  } satisfies Partial<Facts>;
}

/** Facts of which one may concern many brands. */
export async function sharedCauses(runtime: Runtime) {
  const circuits = await openCircuits(runtime.pool, 'destination');
  const { destinations } = runtime.active();
  return {
    missingRoles: await missingRolesOf(runtime),
    partnerCircuits: await openCircuitsOf(runtime),
    circuits: circuits.filter(({ name }) => destinations.has(name)),
    refusing: await refusingDestinations(runtime.pool, [...destinations.keys()]),
  } satisfies Partial<Facts>;
}

/** The partner APIs whose circuit is open, each with the brands that pull from it. One that no brand uses any more stays open and harms nobody. */
async function openCircuitsOf(runtime: Runtime) {
  const [open, apis] = await Promise.all([openCircuits(runtime.pool, 'partner'), runtime.partnerApis()]);
  if (open.length === 0) return [];
  const byApi = Map.groupBy(apis, ([, api]) => api);
  return open.flatMap((circuit) => {
    const brands = byApi.get(circuit.name);
    return brands === undefined ? [] : [{ ...circuit, api: circuit.name, integrations: brands.map(([name]) => name) }];
  });
}

export interface LaneHealth extends LaneNow, LaneFacts {
  readonly preview: boolean;
  /** The destination accepts nothing now. */
  readonly failing: boolean;
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

/** The facts about lanes; what is usual is read for the late ones only. */
async function lanesOf(
  runtime: Runtime,
  keys: readonly LaneKey[],
  notTaking: readonly { readonly name: string; readonly last_failure: string }[],
): Promise<LaneHealth[]> {
  const { pool } = runtime;
  const { destinations, documents } = runtime.active();
  const lanes = await lanesNow(pool, keys);
  const late = lanes.filter(({ late_ms }) => (late_ms ?? 0) >= leastLateMs).map(({ integration }) => integration);
  const usual = late.length === 0 ? new Map<string, number>() : await usualLatencies(pool, [...new Set(late)]);
  const retrying = await retryingLanes(pool, keys);
  const retryingBy = new Map(retrying.map((one) => [`${one.integration} ${one.destination}`, one]));
  const away = new Map(notTaking.map((one) => [one.name, one.last_failure]));
  return lanes.map((lane) => {
    const { integration, destination } = lane;
    const failed = retryingBy.get(`${integration} ${destination}`);
    const preview = documents.get(integration)?.body.preview?.includes(destination) === true;
    const facts = {
      ...lane,
      preview,
      paused: preview || destinations.get(destination)?.body.paused === true,
      retrying: failed?.retrying ?? 0,
      last_failure: away.get(destination) ?? failed?.last_failure ?? null,
      delivered_since: failed?.delivered_since ?? false,
      usual_ms: usual.get(integration),
    };
    return { ...facts, failing: !facts.paused && (away.has(destination) || isDestinationFailing(facts)) };
  });
}

/** The roles that the documents need and that no live node has. */
export async function missingRolesOf(runtime: Runtime): Promise<('web' | 'worker')[]> {
  const missing = await unmannedRoles(runtime.pool);
  const { integrations } = runtime.active();
  if (missing.length === 0 || integrations.size === 0) return [];
  const receives = [...integrations.values()].some(({ body }) => body.push.enabled);
  return missing.filter((role) => role === 'worker' || receives);
}

/** What stops deliveries, whatever their time and the destination's answers: a release, the destination's document, a worker. */
export const stops = ['release', 'document', 'worker'] as const;

export async function waitsFor(runtime: Runtime) {
  const { documents, destinations } = runtime.active();
  const isUnmanned = (await missingRolesOf(runtime)).includes('worker');
  return (integration: string, destination: string): (typeof stops)[number] | null => {
    if (documents.get(integration)?.body.preview?.includes(destination)) return 'release';
    if (destinations.get(destination)?.body.paused) return 'document';
    return isUnmanned ? 'worker' : null;
  };
}

/** The holds that wait for a decision, with the number of bookings that they keep something back of. */
async function openHolds(pool: Pool, integrations: readonly string[] | undefined): Promise<Facts['holds']> {
  const open = await listHolds(pool, { state: 'open', integrations });
  const keeping = open.filter((hold) => hold.open > 0);
  return keeping.map((hold) => ({ ...hold, rows: hold.open, message: describeSign(hold.sign, hold) }));
}
