/** A whole web node over a real database, with two brands, for tests of the API. */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { eventWorkerPorts } from '../../src/composition/push.ts';
import type { EventType } from '../../src/core/intake/push/envelope.ts';
import { drainEvents } from '../../src/core/intake/push/worker.ts';
import { read } from '../../src/core/pipeline.ts';
import { transaction } from '../../src/core/store/db/pool.ts';
import { appendEvents } from '../../src/core/store/events/append.ts';
import { ingest } from '../../src/core/store/records/ingest.ts';
import { apiRoutes, openApi, registerApi } from '../../src/operator/api/api.ts';
import { isServedOverHttps } from '../../src/operator/api/caller.ts';
import type { Api } from '../../src/operator/api/route.ts';
import { buildServer } from '../../src/operator/api/server.ts';
import { addressFor } from '../../src/operator/operations/endpoints.ts';
import { openRuntime } from '../../src/operator/operations/open-runtime.ts';
import { createToken } from '../../src/operator/operations/tokens.ts';
import { countHotel, placeOf } from '../../src/operator/store/measures/hotel-report.ts';
import { seenNode } from '../../src/operator/store/nodes.ts';
import type { TokenRole } from '../../src/operator/store/tokens.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';
import type { EndpointId, IntegrationName, Json } from '../../src/terms.ts';
import { testDatabase } from '../support/database.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers by name
  readonly body: any;
}

export interface ApiNode {
  readonly runtime: Runtime;
  /** For commands on the same workspace. */
  readonly env: Record<string, string>;
  readonly api: Api;
  readonly url: string;
  token(role: TokenRole, integrations?: readonly string[]): Promise<string>;
  call(method: string, path: string, token?: string, body?: Json, headers?: Record<string, string>): Promise<Answer>;
  /** Stores reservations as a pulled page does. */
  take(integration: string, ...reservations: Json[]): Promise<void>;
  /** Stores an event as the brand's endpoint does, and processes it. */
  send(integration: string, event: EventType, data: Json, occurredAt?: number): Promise<void>;
  stop(): Promise<void>;
}

/** The connector of both brands, with its own mapping if a test needs one. */
export const hotelConnector = (map = '') => `connector: hotel
pull:
  request: { method: GET, path: /api/reservations, query: { dateFrom: "{window.from}", dateTo: "{window.to}" } }
  pagination: { type: none }
shape: { root_path: reservations }
${map}`;

/** The addresses of their partners do not answer. */
const partners = { grand: 'http://127.0.0.1:1', other: 'http://127.0.0.1:2' };

const brand = (name: keyof typeof partners, id: string) => `integration: ${name}
connector: hotel
brand_id: ${id}
timezone: Europe/Lisbon
country: PT
pull:
  base_url: ${partners[name]}
  auth: { type: bearer, token: letmein }
  syncs:
    pre_stay: { every: 15m, range: [+1d, +7d] }
push: { enabled: true }
deliver: [lake]
`;

/** Further files, or replacements of those below. */
export async function apiNode(settings = '', files: Readonly<Record<string, string>> = {}): Promise<ApiNode> {
  const database = await testDatabase();
  const dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-api-'));
  const write = async (file: string, text: string) => {
    await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
    await writeFile(path.join(dir, file), text);
  };
  await write('innbound.yaml', settings);
  await write('connectors/hotel.yaml', hotelConnector());
  await write('integrations/grand.yaml', brand('grand', 'LIS01'));
  await write('integrations/other.yaml', brand('other', 'OPO02'));
  await write('destinations/lake.yaml', 'destination: lake\ntype: files\npath: out\nreceives: [reservation, guest]\n');
  for (const [file, text] of Object.entries(files)) await write(file, text);
  const env = { DATABASE_URL: database.url, INNBOUND_ALLOW_PRIVATE_NETWORK: '1' };
  const runtime = await openRuntime({ env, workspaceDir: dir, purpose: 'service', describe: 'test', apply: 'always' });
  const { network, limits } = runtime.active().settings;
  const app = buildServer({
    log: runtime.log,
    notReady: async () => [],
    trustedProxies: network.trusted_proxies,
    connectionsPerAddress: limits.connections_per_address,
    secure: () => isServedOverHttps(runtime),
  });
  const api = openApi(runtime);
  registerApi(app, api);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const routes = apiRoutes(api).map((route) => ({
    route,
    pattern: new RegExp(`^/api/v1${route.path.replace(/\{\w+\}/g, '[^/]+')}(?:\\?|$)`),
  }));
  /** Every good answer must have the form that the OpenAPI document promises, with nothing more in it. */
  const checkForm = (method: string, at: string, status: number, body: unknown): void => {
    const { route } = routes.find((one) => one.route.method === method && one.pattern.test(at)) ?? {};
    if (route?.status !== status) return;
    const parsed = route.response.safeParse(body);
    if (!parsed.success) throw new Error(`${route.id} answered in another form: ${parsed.error.message}`);
    const lost = JSON.stringify(body).length - JSON.stringify(parsed.data).length;
    if (lost !== 0) throw new Error(`${route.id} answered more than it says: ${JSON.stringify(body)}`);
  };
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  return {
    runtime,
    env,
    api,
    url,
    token: async (role, integrations) =>
      (await createToken(runtime, { name: `the ${role}`, role, integrations: integrations ?? null, by: 'test' })).token,
    call: async (method, at, token, body, headers = {}) => {
      const address = at.startsWith('/api') ? at : `/api/v1${at}`;
      const response = await fetch(`${url}${address}`, {
        method,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.includes('json');
      const parsed = isJson ? JSON.parse(text) : text;
      if (isJson) checkForm(method, address, response.status, parsed);
      return { status: response.status, headers: response.headers, body: parsed };
    },
    take: async (name, ...reservations) => {
      const integration = runtime.active().integrations.get(name);
      if (!integration) throw new Error(name);
      const found = integration.shapers.pull.records({ reservations });
      if (found.kind === 'invalid') throw new Error(found.message);
      const arrival = { mode: 'pull', effectiveAt: Date.now(), cause: 'run', causeId: 'run_test' } as const;
      const statements = found.records.map((raw) => read(integration, raw, arrival));
      await transaction(runtime.pool, (tx) => ingest(tx, integration, statements));
    },
    send: async (name, event, data, occurredAt = Date.now()) => {
      const { endpoint_id } = await addressFor(runtime, name);
      const brandId = runtime.active().integrations.get(name)?.body.brand_id ?? '';
      const envelope = { event, timestamp: new Date(occurredAt).toISOString(), brand_id: brandId, data };
      const at = { integration: name as IntegrationName, endpointId: endpoint_id as EndpointId, secretNo: 1 };
      const rawBody = Buffer.from(JSON.stringify(envelope));
      await appendEvents(runtime.pool, [{ ...at, eventId: randomUUID(), event, occurredAt, rawBody }]);
      await drainEvents(eventWorkerPorts(runtime));
    },
    stop: async () => {
      await app.close();
      await runtime.close();
      await rm(dir, { recursive: true, force: true });
      await database.drop();
    },
  };
}

export const reservation = (id: string, more: { [key: string]: Json } = {}): Json => ({
  id,
  confirmation_number: `C-${id}`,
  check_in: '2026-12-01',
  check_out: '2026-12-04',
  status: 'confirmed',
  total_amount: 310.5,
  currency: 'EUR',
  guests: [
    { guest_id: `g-${id}`, first_name: 'Ana', last_name: 'Prado', email: `ana.${id.toLowerCase()}@mail.example` },
  ],
  rooms: [],
  charges: [],
  ...more,
});

/** A complete run that asked the partner for these days: a scheduled one, whose range is in its position, or a backfill. */
export async function asked(
  { runtime }: ApiNode,
  integration: string,
  from: string,
  to: string,
  sync: 'pre_stay' | 'backfill' = 'pre_stay',
): Promise<void> {
  const isBackfill = sync === 'backfill';
  await runtime.pool.query(
    `insert into runs (integration, run_id, sync, kind, state, from_date, to_date, position, requested_by, finished_at)
     values ($1, $2, $3, $4, 'complete', $5, $6, $7, 'test', now())`,
    [
      integration,
      randomUUID(),
      sync,
      isBackfill ? 'backfill' : 'scheduled',
      isBackfill ? from : null,
      isBackfill ? to : null,
      { from, to, today: from },
    ],
  );
}

/** Counts the page of a hotel as the service does every minute. */
export async function countPage({ runtime }: ApiNode, integration: string): Promise<void> {
  const body = runtime.active().documents.get(integration)?.body;
  if (body === undefined) throw new Error(integration);
  await countHotel(runtime.pool, placeOf(integration, body));
}

/** Lists the node as running now: links that lead back to the service contain the address of a live node. */
export async function live({ runtime, url }: ApiNode): Promise<void> {
  await seenNode(runtime.pool, {
    node: 'test',
    role: 'all',
    url,
    clockAheadMs: 0,
    stalled: [],
    keys: [],
    version: null,
    broken: [],
  });
}
