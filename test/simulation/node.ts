import { startDeliveries } from '../../src/core/deliver/deliveries.ts';
import type { Destination } from '../../src/core/deliver/destination.ts';
import { Handover } from '../../src/core/deliver/handover.ts';
import { compileFields } from '../../src/core/deliver/message.ts';
import type { DestinationConfig } from '../../src/core/deliver/ports.ts';
import { startRunner } from '../../src/core/intake/pull/run/runner.ts';
import { type IntakePorts, openPushIntake, type PushIntake } from '../../src/core/intake/push/intake.ts';
import { pushSettingsOf } from '../../src/core/intake/push/settings.ts';
import { openSession, startEventWorker } from '../../src/core/intake/push/worker.ts';
import type { Http } from '../../src/core/outbound/http.ts';
import { followClock } from '../../src/core/store/db/database-clock.ts';
import { Wake } from '../../src/kit/loop.ts';
import type { DestinationName, EndpointId, IntegrationName } from '../../src/terms.ts';
import { listedLanes } from '../deliver/lanes.ts';
import { allBrands, brand, pullPlan } from './brands.ts';
import type { Host } from './host.ts';
import type { Endpoint } from './partner.ts';
import type { StorePorts } from './store-ports.ts';

export interface NodeSurroundings {
  readonly host: Host;
  readonly store: StorePorts;
  readonly chance: () => number;
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly http: Http;
  readonly destinations: ReadonlyMap<string, Destination>;
  /** Carries a signal to the other nodes. */
  readonly relay: (topic: string) => void;
}

export interface SimulatedNode {
  readonly host: Host;
  readonly intake: PushIntake;
  readonly wake: Wake;
  /** The estimate of the database's clock. */
  readonly now: () => number;
}

/** Everything is short, so that leases end and retries happen within a simulated minute. */
const deadlineMs = 1_000;
const leaseMarginMs = 1_500;
const circuit = { failuresToOpen: 5, firstMs: 1_000, mostMs: 8_000 };
const pullLimits = { leaseMs: 3_000, parkMs: 1_500, cooldownMs: 2_000 };
const scheduleMs = [300, 1_000, 3_000, 5_000];

const log = { info() {}, warn() {}, error() {}, debug() {}, trace() {}, fatal() {} };

/** The rooms of one node, connected to the store's ports as `ports/` connects them. */
export async function startNode(given: NodeSurroundings): Promise<SimulatedNode> {
  const { host, store, chance, endpoints } = given;
  const wake = new Wake(host.clock);
  wake.relayTo(given.relay);
  const handover = new Handover(() => wake.signalOthers('outbox'));
  const databaseClock = await followClock(store.clock, host.clock, () => {});
  const events = { brandOf: brand, othersAt: () => [], handover };
  const applying = {
    store: events,
    session: () => openSession({ clock: host.clock, wake, tracer: undefined }),
  };
  const intake = openPushIntake({
    clock: databaseClock,
    loadEndpoints: async (ids) => loadedEndpoints(endpoints, ids),
    settings: (integration) => pushSettingsOf(brand(integration)),
    insert: (events, written) => store.insert(events, written, applying),
    writeRejections: async () => {},
    stored: () => wake.signal('events'),
    soon: (run) => void host.clock.schedule(0, run),
  });
  startEventWorker({
    clock: host.clock,
    wake,
    putBack: store.putBack,
    batch: (batching, work) => store.batch(events, batching, work),
    setAside: (integration, error) => store.setAside(brand(integration), error),
  });
  startRunner({
    node: host.name,
    clock: databaseClock,
    http: given.http,
    log: log as never,
    random: chance,
    plan: async (integration) => ({ kind: 'ok', plan: pullPlan(integration) }),
    runs: store.runs(handover),
    partners: store.partners,
    tokens: undefined as never,
    limits: pullLimits,
    wait: (topic, maxMs, signal) => wake.wait(topic, maxMs, signal),
  });
  startDeliveries({
    store: store.outbox,
    lanes: () => lanesInForce,
    open: async ({ name }) => given.destinations.get(name) as Destination,
    clock: host.clock,
    wake,
    handover,
    log,
    chance,
    epoch: () => 1,
    leaseMarginMs,
    circuit,
    node: host.name,
  });
  return { host, intake, wake, now: databaseClock.now };
}

type Loaded = Awaited<ReturnType<IntakePorts['loadEndpoints']>>;

function loadedEndpoints(endpoints: ReadonlyMap<string, Endpoint>, ids: readonly string[]): Loaded {
  return [...endpoints].flatMap(([integration, { endpointId, secret }]) =>
    ids.includes(endpointId)
      ? [
          {
            endpointId: endpointId as EndpointId,
            integration: integration as IntegrationName,
            sandbox: false,
            retired: false,
            secrets: [{ secretNo: 1, secret }],
          },
        ]
      : [],
  );
}

/** One takes a record per call, the other several, gathered for a while. */
const destinationConfigs: readonly Partial<DestinationConfig>[] = [
  { name: 'crm' as DestinationName, batch: 1, batchWaitMs: 0, concurrency: 3 },
  { name: 'lake' as DestinationName, batch: 4, batchWaitMs: 200, concurrency: 1 },
];

const lanesInForce = listedLanes(
  allBrands.flatMap((name) =>
    destinationConfigs.map((config) => ({
      integration: name as IntegrationName,
      brandId: brand(name).body.brand_id,
      destination: {
        type: 'simulated',
        revision: '1',
        settings: {},
        selection: { receives: ['reservation'], fields: compileFields({ drop: [] }) },
        scheduleMs,
        timeoutMs: deadlineMs,
        paused: false,
        ...config,
      } as DestinationConfig,
    })),
  ),
);
