import type { Active } from '../core/brand/active.ts';
import type { Versioned } from '../core/brand/brand.ts';
import type { Guest, Reservation } from '../core/canonical/reservation.ts';
import type {
  DestinationServices,
  DestinationType,
  Destination as OpenDestination,
} from '../core/deliver/destination.ts';
import { loadDestinationTypes } from '../core/deliver/destinations.ts';
import { compileFields } from '../core/deliver/message.ts';
import type { DeliverPorts, DestinationConfig, Lane, Lanes, Selection } from '../core/deliver/ports.ts';
import { profilesConfig, profilesDestination } from '../core/deliver/profiles.ts';
import { renewingDestination, type SettingsRead } from '../core/deliver/renewing.ts';
import type { AuthDocument } from '../core/documents/auth.ts';
import { ownSettings } from '../core/documents/destination.ts';
import { strayPath } from '../core/documents/host-references.ts';
import { roomsByNight } from '../core/documents/measures.ts';
import { type Path, pathText } from '../core/documents/path.ts';
import { rateOf } from '../core/documents/scalars.ts';
import { hasReference } from '../core/documents/secret-reference.ts';
import { durationMs } from '../core/documents/units.ts';
import { outgoingCredentials } from '../core/outbound/auth/outgoing.ts';
import { brandIdsOf, formerBrands } from '../core/store/documents/list.ts';
import { outboxStore } from '../core/store/outbox/settle.ts';
import { takeRequest } from '../core/store/remotes.ts';
import { openTokenStore } from '../core/store/runs/partner-tokens.ts';
import { compileCondition } from '../core/transform/condition.ts';
import { InnboundError } from '../errors.ts';
import { systemClock } from '../kit/clock.ts';
import { systemRandom } from '../kit/ids.ts';
import { errorFacts } from '../kit/log.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { DestinationName, EntityType, IntegrationName, Json, JsonObject } from '../terms.ts';
import { openProfiles } from './profiles.ts';

export async function deliverPorts(runtime: Runtime): Promise<DeliverPorts> {
  const types = await loadDestinationTypes();
  let former = await formerBrands(runtime.pool);
  const configs = new Map<string, DestinationConfig>();
  const configOf = (destination: Versioned<'destination'>): DestinationConfig => {
    const known = configs.get(destination.name);
    if (known?.revision === String(destination.version)) return known;
    const { body, name, version } = destination;
    const type = types.get(body.type);
    if (!type)
      throw new InnboundError('documents.invalid', `The destination ${name} has the unknown type ${body.type}.`);
    const own = configured(destination);
    const checked = type.settings.parse(own.settings);
    const batch = type.batch(checked);
    const config: DestinationConfig = {
      ...own,
      revision: String(version),
      selection: { ...selectionOf(body), ...(type.comparesConsent?.(checked) && { comparesConsent: true }) },
      scheduleMs: body.retry.map(durationMs),
      batchWaitMs: waitMsOf(body.batch, batch.waitMs),
      batch: Math.min(body.batch?.size ?? batch.standard, batch.most),
      concurrency: body.concurrency,
      timeoutMs: type.timeoutMs(checked),
      paused: body.paused,
    };
    configs.set(name, config);
    return config;
  };

  const open = async (config: DestinationConfig): Promise<OpenDestination> => {
    const { type, settings, services } = await readyDestination(runtime, types, config);
    const openWith = (some: unknown) => type.open(some, services);
    if (!hasReference(JSON.stringify(config.settings))) return openWith(settings);
    return renewingDestination(
      { read: () => readSettings(runtime, type, config), open: openWith, clock: services.clock },
      settings,
    );
  };

  let made: { readonly active: Active; readonly lanes: Lanes } | undefined;
  const lanes = (): Lanes => {
    const active = runtime.active();
    if (made?.active === active) return made.lanes;
    const cached = { active, lanes: lanesOf(active, configOf, former) };
    made = cached;
    void formerBrands(runtime.pool).then(
      (brands) => {
        former = brands;
        if (made === cached) made = { active, lanes: lanesOf(active, configOf, former) };
      },
      // Their records wait for the next change of documents, or for the next start.
      (error: unknown) => runtime.log.warn({ error: errorFacts(error) }, 'deliver: former brands could not be read'),
    );
    return cached.lanes;
  };

  return {
    store: outboxStore(runtime.pool, runtime.keyring),
    lanes,
    open: (config) => (config.name === profilesDestination ? Promise.resolve(openProfiles(runtime)) : open(config)),
    // A lease also checks the machine's wall clock, which keeps running while the machine is suspended.
    clock: systemClock,
    heartbeats: runtime.heartbeats,
    tracer: runtime.tracer,
    wake: runtime.wake,
    handover: runtime.handover,
    log: runtime.log,
    chance: systemRandom,
    epoch: runtime.restoreCheck.epoch,
    settled: (settlements) => runtime.tally.add(settlements, runtime.clock.now()),
    node: runtime.node,
  };
}

/** As the document says it; else as the type does, or a second if the document asks for batches. */
const waitMsOf = (asked: Versioned<'destination'>['body']['batch'], standardMs = asked ? 1_000 : 0): number =>
  asked?.wait === undefined ? standardMs : durationMs(asked.wait);

/** What a destination needs to be made ready, by its document. */
export const configured = ({ name, body }: Pick<Versioned<'destination'>, 'name' | 'body'>) => ({
  name: name as DestinationName,
  type: body.type,
  settings: ownSettings(body) as JsonObject,
  ...(body.rate && { rate: rateOf(body.rate) }),
});

/** A destination's type, its settings with secrets resolved, and the services that it gets. */
export async function readyDestination(
  runtime: Runtime,
  types: ReadonlyMap<string, DestinationType>,
  { name, type: typeName, settings, rate }: Pick<DestinationConfig, 'name' | 'type' | 'settings' | 'rate'>,
): Promise<{ type: DestinationType; settings: unknown; services: DestinationServices }> {
  const type = types.get(typeName);
  if (!type) throw new InnboundError('documents.invalid', `The destination ${name} has the unknown type ${typeName}.`);
  const read = await readSettings(runtime, type, { name, settings });
  if (read.kind === 'missing') throw new InnboundError('documents.secret_missing', read.message);
  return {
    type,
    settings: read.settings,
    services: {
      name,
      workspaceDir: runtime.workspaceDir,
      allowPrivate: runtime.allowPrivate,
      node: runtime.node,
      // It dates signatures, which receivers refuse when they are minutes old.
      clock: runtime.clock,
      http: runtime.http,
      authorizer: (auth) => authorizer(runtime, `destination ${name}`, auth),
      ...(rate && { rate }),
      takeRequest: (from) => takeRequest(runtime.pool, name, from),
      brandIdsOf: (integration) => brandIdsOf(runtime.pool, integration),
      brandOf: async (integration) => {
        const body = runtime.active().documents.get(integration)?.body;
        if (body === undefined) return undefined;
        const { brand_id: brandId, timezone, country } = body;
        return { brandId, timezone, country, roomsAvailable: roomsByNight(body.rooms_available) };
      },
    },
  };
}

async function readSettings(
  runtime: Runtime,
  type: DestinationType,
  { name, settings }: Pick<DestinationConfig, 'name' | 'settings'>,
): Promise<SettingsRead<unknown>> {
  const unusable = (why: string) => ({ kind: 'missing', message: `The destination ${name} ${why}.` }) as const;
  const resolved = await runtime.resolve(settings);
  if (resolved.kind === 'missing')
    return unusable(`needs ${resolved.missing.map(({ reference }) => reference).join(', ')}`);
  const stray = strayPath({ ...settings, destination: name, type: type.type }, resolved.body);
  if (stray !== undefined) return unusable(`cannot use the secret in ${stray}: it names a path outside the workspace`);
  const read = type.settings.safeParse(resolved.body);
  if (read.success) return { kind: 'ok', settings: read.data };
  const places = read.error.issues.map(({ path }) => pathText(path as Path));
  return unusable(`cannot use the secret in ${places.join(', ')}: its value does not fit there`);
}

/** `former`: the brand ids of integrations that are no longer in force. A brand leaves every destination that it does not deliver to. */
function lanesOf(
  active: Active,
  configOf: (destination: Versioned<'destination'>) => DestinationConfig,
  former: ReadonlyMap<string, string>,
): Lanes {
  const { integrations, documents, destinations } = active;
  const leaving = (integration: string, brandId: string, to: readonly string[]): Lane[] =>
    [...destinations.values()]
      .filter(({ name }) => !to.includes(name))
      .map((one) => ({
        integration: integration as IntegrationName,
        brandId,
        destination: configOf(one),
        isLeaving: true,
      }));
  const receivers = (body: Versioned<'integration'>['body']) =>
    body.deliver.map((to) => destinations.get(to)).filter((one) => one !== undefined);
  return {
    brands: former.size === 0 ? integrations : new Set([...integrations.keys(), ...former.keys()]),
    destinations: [...[...destinations.values()].map(configOf), profilesConfig],
    of: (brand) => {
      const body = integrations.has(brand) ? documents.get(brand)?.body : undefined;
      if (body === undefined) return former.has(brand) ? leaving(brand, former.get(brand) ?? '', []) : [];
      const to = receivers(body);
      const configs = to.map(configOf);
      // Guest profiles are assembled from reservations, if a destination receives guests.
      if (to.some((one) => one.body.receives.includes('guest'))) configs.push(profilesConfig);
      const integration = brand as IntegrationName;
      const inForce = configs.map((destination) => ({
        integration,
        brandId: body.brand_id,
        destination,
        inPreview: body.preview?.includes(destination.name) === true,
      }));
      return [...inForce, ...leaving(brand, body.brand_id, body.deliver)];
    },
  };
}

function selectionOf(body: Versioned<'destination'>['body']): Selection {
  const fields = compileFields({ drop: body.drop, ...(body.fields && { only: body.fields }) });
  const filter = body.filter === undefined ? undefined : filterOf(body.filter, body.receives);
  return {
    receives: body.receives,
    fields,
    ...(body.consent === 'marketing' && { consent: 'marketing' as const }),
    ...(!(body.test_data ?? body.consent !== 'marketing') && { leavesOutTests: true }),
    ...(filter && { filter }),
  };
}

/** Compiles the filter once for each record type that the destination receives, because the types have different fields. */
function filterOf(text: string, receives: readonly EntityType[]): NonNullable<Selection['filter']> {
  const byType = new Map(receives.map((type) => [type, compileCondition(text, type)]));
  return (type, data) => {
    const condition = byType.get(type);
    if (condition?.kind !== 'ok') return { message: 'The filter does not fit this type of record.' };
    const tested = condition.test(data as Reservation | Guest);
    return tested.kind === 'failed' ? tested : tested.value;
  };
}

/** `auth` has been validated by the documents' schema. */
function authorizer({ pool, keyring, spool, clock, http }: Runtime, owner: string, auth: Json) {
  const tokens = openTokenStore(pool, keyring, spool);
  return outgoingCredentials({ tokens, clock, http }, owner, auth as unknown as AuthDocument);
}
