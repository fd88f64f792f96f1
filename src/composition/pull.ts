import type { Brand } from '../core/brand/brand.ts';
import { listRequestsOf, pullOf } from '../core/documents/pull.ts';
import { durationMs, sizeBytes } from '../core/documents/units.ts';
import type { PullPlan, PullPorts, Queued, QueueRequest } from '../core/intake/pull/ports.ts';
import { listRequestOf, noList } from '../core/intake/pull/request/list-request.ts';
import type { RunnerPorts } from '../core/intake/pull/run/runner.ts';
import type { SchedulerPorts } from '../core/intake/pull/run/schedule.ts';
import { pathReader } from '../core/json-path/read.ts';
import type { Planned } from '../core/outbound/ask/ports.ts';
import { openPartnerStore } from '../core/store/runs/partner-accounts.ts';
import { openTokenStore } from '../core/store/runs/partner-tokens.ts';
import { openRunStore, queueRun } from '../core/store/runs/runs.ts';
import { alignSchedules, msToNextStart, type Schedule, startDue } from '../core/store/runs/schedules.ts';
import { systemRandom } from '../kit/ids.ts';
import { httpWithoutCards } from '../operator/privacy/http-without-cards.ts';
import { adapterFile } from '../runtime/adapter-file.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { type IntegrationName, type Json, syncTypes } from '../terms.ts';

export function pullPorts(runtime: Runtime): RunnerPorts {
  return {
    node: runtime.node,
    // The request time of a page orders its records against events, which the database stamps.
    clock: runtime.clock,
    heartbeats: runtime.heartbeats,
    http: httpWithoutCards(runtime.http),
    log: runtime.log,
    tracer: runtime.tracer,
    random: systemRandom,
    plan: (integration) => planOf(runtime, integration),
    runs: openRunStore(runtime.pool, runtime.handover),
    partners: openPartnerStore(runtime.pool),
    tokens: openTokenStore(runtime.pool, runtime.keyring, runtime.spool),
    wait: (topic, maxMs, signal) => runtime.wake.wait(topic, maxMs, signal),
  } satisfies PullPorts & RunnerPorts;
}

export function schedulerPorts(runtime: Runtime): SchedulerPorts {
  return {
    log: runtime.log,
    heartbeats: runtime.heartbeats,
    wait: (maxMs, signal) => runtime.wake.wait('schedules', maxMs, signal),
    documents: runtime.active,
    align: openAligner(runtime),
    startDue: (most) => startDue(runtime.pool, most),
    msToNextStart: () => msToNextStart(runtime.pool),
    queued: () => runtime.wake.signal('runs'),
  };
}

/** The first call aligns the whole table; later ones send what changed in the documents since. */
function openAligner(runtime: Runtime): () => Promise<void> {
  type Body = Brand['body'];
  const aligned = new Map<string, Body>();
  let isFirst = true;
  return async () => {
    const { integrations } = runtime.active();
    const differing = [...integrations.values().filter(({ integration, body }) => aligned.get(integration) !== body)];
    const gone = [...aligned.keys().filter((name) => !integrations.has(name))];
    const wanted = differing.flatMap(({ integration, body }) => schedulesOf(integration, body));
    const isWanted = new Set(wanted.map(keyOf));
    const before = [...differing.map(({ integration }) => integration), ...gone].flatMap((name) => {
      const body = aligned.get(name);
      return body ? schedulesOf(name as IntegrationName, body) : [];
    });
    const ended = before.filter((one) => !isWanted.has(keyOf(one)));
    if (isFirst || wanted.length + ended.length > 0)
      await alignSchedules(runtime.pool, wanted, isFirst ? undefined : ended);
    isFirst = false;
    for (const { integration, body } of differing) aligned.set(integration, body);
    for (const name of gone) aligned.delete(name);
  };
}

const keyOf = ({ integration, sync }: Schedule): string => `${integration} ${sync}`;

function schedulesOf(integration: IntegrationName, { paused, pull }: Brand['body']): Schedule[] {
  if (paused || pull === undefined) return [];
  return syncTypes.flatMap((sync) => {
    const every = pull.syncs[sync]?.every;
    return every === undefined ? [] : [{ integration, sync, everyMs: durationMs(every) }];
  });
}

/** Queues a run for any node, unless its connector describes no list. */
export async function startRun(
  runtime: Runtime,
  integration: string,
  request: Omit<QueueRequest, 'integration'>,
): Promise<Queued | typeof noList> {
  const pull = runtime.active().integrations.get(integration)?.connector.body.pull;
  if (pull !== undefined && listRequestOf(listRequestsOf(pull), request) === undefined) return noList;
  const queued = await queueRun(runtime.pool, { ...request, integration: integration as IntegrationName });
  runtime.wake.signal('runs');
  return queued;
}

async function planOf(runtime: Runtime, integration: IntegrationName): Promise<Planned<PullPlan>> {
  const { integrations } = runtime.active();
  const served = integrations.get(integration);
  const connectorPull = served?.connector.body.pull;
  const pull = served?.body.pull ?? integrations.get(served?.body.pulled_by ?? '')?.body.pull;
  if (served === undefined || pull === undefined || connectorPull === undefined) {
    const message = served
      ? `${integration} is not pulled: it or its connector has no pull section`
      : `no integration ${integration} is in force`;
    return { kind: 'unavailable', code: served ? 'pull.no_such_sync' : 'documents.unknown_name', message };
  }
  const resolved = await runtime.resolve({
    brand_id: served.body.brand_id,
    pull,
    connector: { pull: connectorPull },
  });
  if (resolved.kind !== 'ok') {
    const places = resolved.missing.map(({ path: at, reference }) => `${reference} (${at})`).join(', ');
    return { kind: 'unavailable', code: 'documents.secret_missing', message: `${integration} needs ${places}` };
  }
  const settings = pullOf({
    integration,
    account: served.body.pulled_by as IntegrationName | undefined,
    brandId: resolved.body.brand_id,
    timezone: served.body.timezone,
    connector: resolved.body.connector.pull,
    own: resolved.body.pull,
    maxBytes: sizeBytes(runtime.active().settings.limits.response_body),
    adapter: adapterFile(runtime.workspaceDir, served.connector.body),
  });
  const { property } = connectorPull;
  const routing =
    property === undefined ? {} : { routing: { propertyOf: propertyAt(property), brands: brandsOf(runtime, served) } };
  const others = () => othersOf(runtime, served);
  return { kind: 'ok', plan: { brand: served, settings, ...routing, others } };
}

async function othersOf(runtime: Runtime, { integration, body: { connector } }: Brand): Promise<string[]> {
  const [apis, { documents }] = [await runtime.partnerApis(), runtime.active()];
  const api = apis.get(integration);
  return [...apis.keys()].filter(
    (one) => one !== integration && apis.get(one) === api && documents.get(one)?.body.connector === connector,
  );
}

/** The brands that this one's polls also serve. A list of changes shows each change once, so a paused brand would miss it for good. */
function brandsOf(runtime: Runtime, { integration, connector }: Brand): Brand[] {
  const { request, requests, acknowledge } = connector.body.pull ?? {};
  const listsChanges = acknowledge !== undefined || JSON.stringify([request, requests]).includes('{since');
  const all = [...runtime.active().integrations.values()];
  return all.filter(({ body }) => body.pulled_by === integration && (listsChanges || !body.paused));
}

function propertyAt(at: string): (row: Json) => string | undefined {
  const read = pathReader(at);
  return (row) => {
    const value = read(row);
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
  };
}
