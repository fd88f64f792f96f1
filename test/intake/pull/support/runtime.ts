import { pino } from 'pino';
import { compilePlan } from '../../../../src/core/brand/compile.ts';
import { Handover } from '../../../../src/core/deliver/handover.ts';
import { connectorSchema } from '../../../../src/core/documents/connector.ts';
import { integrationSchema } from '../../../../src/core/documents/integration.ts';
import { pullOf } from '../../../../src/core/documents/pull.ts';
import type { PullPlan, PullPorts, QueueRequest } from '../../../../src/core/intake/pull/ports.ts';
import { type SyncOptions, type SyncResult, syncOnce } from '../../../../src/core/intake/pull/run/sync-once.ts';
import { type Http, openHttp } from '../../../../src/core/outbound/http.ts';
import type { Guard } from '../../../../src/core/reconcile/accidents/guard.ts';
import { openPool, type Pool } from '../../../../src/core/store/db/pool.ts';
import { openPartnerStore } from '../../../../src/core/store/runs/partner-accounts.ts';
import { openTokenStore } from '../../../../src/core/store/runs/partner-tokens.ts';
import { openRunStore } from '../../../../src/core/store/runs/runs.ts';
import type { Clock, Timers } from '../../../../src/kit/clock.ts';
import { newKey } from '../../../../src/kit/crypto.ts';
import type { IntegrationName, Json } from '../../../../src/terms.ts';
import { testBrand } from '../../../support/brand.ts';
import { type TestDatabase, testDatabase } from '../../../support/database.ts';
import { jumpingClock } from './clock.ts';

/** A store, an HTTP client and everything else that pulling needs, for one test file. */
export interface PullRuntime {
  readonly pool: Pool;
  readonly connection: TestDatabase['connection'];
  readonly http: Http;
  /** Ports for one integration that pulls from the address; the documents may be overridden in part. */
  ports(documents: Documents, more?: Partial<PullPorts>): PullPorts & { readonly plan: PullPorts['plan'] };
  stored(integration: string): Promise<StoredReservation[]>;
  /** What the partner said about the error that ended the run. */
  partnerText(runId: string): Promise<string | null | undefined>;
  close(): Promise<void>;
}

export interface Documents {
  readonly integration: string;
  readonly baseUrl: string;
  readonly connector?: Record<string, unknown>;
  readonly pull?: Record<string, unknown>;
  readonly timezone?: string;
  readonly brandId?: string;
  readonly version?: number;
  /** The brand also has events. */
  readonly push?: boolean;
  /** Absent: accidents of the partner are passed on. */
  readonly guard?: Guard;
  readonly destinations?: readonly string[];
  readonly idPrefix?: string;
  readonly transforms?: readonly unknown[];
}

export interface StoredReservation {
  readonly id: string;
  readonly version: number;
  readonly data: Record<string, Json>;
}

export const keyring = [newKey()] as const;

export async function openPullRuntime(): Promise<PullRuntime> {
  const database = await testDatabase();
  const pool = openPool({ connection: database.connection, applicationName: 'pull test', maxConnections: 12 });
  const http = openHttp({ allowPrivate: true, userAgent: 'innbound test' });
  return {
    pool,
    connection: database.connection,
    http,
    ports: (documents, more = {}) => ({
      node: 'test',
      clock: jumpingClock() as Clock & Timers,
      http,
      log: pino({ level: 'silent' }),
      random: () => 0.5,
      plan: async () => ({ kind: 'ok', plan: planOf(documents) }),
      runs: openRunStore(pool, new Handover()),
      partners: openPartnerStore(pool),
      tokens: openTokenStore(pool, [...keyring]),
      ...more,
    }),
    partnerText: async (runId) => {
      const sql = 'select partner_text from runs where run_id = $1';
      const { rows } = await pool.query<{ partner_text: string | null }>(sql, [runId]);
      return rows[0]?.partner_text;
    },
    stored: async (integration) => {
      const { rows } = await pool.query<StoredReservation>(
        `select id, version, data from records where integration = $1 and type = 'reservation' and version > 0 order by id`,
        [integration],
      );
      return rows;
    },
    close: async () => {
      await http.close();
      await pool.end();
      await database.drop();
    },
  };
}

const offsetPaging = { type: 'offset', offset: 'query.offset', limit: 'query.limit', page_size: 10 };

/** The documents, parsed by their schemas as in a workspace. */
export function planOf(documents: Documents): PullPlan {
  const { pull: connectorPull, ...connectorRest } = (documents.connector ?? {}) as Record<
    string,
    Record<string, unknown>
  >;
  const connector = connectorSchema.parse({
    connector: 'scripted',
    shape: { root_path: 'reservations' },
    ...connectorRest,
    pull: {
      request: {
        path: '/api/reservations',
        query: { dateFrom: '{window.from}', dateTo: '{window.to}', status: '{sync.status}' },
      },
      pagination: offsetPaging,
      ...connectorPull,
    },
  });
  const integration = integrationSchema.parse({
    integration: documents.integration,
    connector: 'scripted',
    brand_id: documents.brandId ?? 'LIS01',
    timezone: documents.timezone ?? 'Europe/Lisbon',
    country: 'PT',
    id_prefix: documents.idPrefix,
    transforms: documents.transforms,
    push: { enabled: documents.push ?? false },
    pull: {
      base_url: documents.baseUrl,
      auth: { type: 'none' },
      syncs: { pre_stay: { every: '30m', range: ['+1d', '+7d'] } },
      // Longer than a busy machine pauses: a request that is repeated changes what the tests count.
      timeouts: { idle: '20s', total: '40s' },
      ...documents.pull,
    },
  });
  const compiled = compilePlan(connector, integration);
  if (compiled.kind === 'invalid') throw new Error(JSON.stringify(compiled.problems));
  if (connector.pull === undefined || integration.pull === undefined) throw new Error('no pull section');
  const name = documents.integration as IntegrationName;
  const version = documents.version ?? 1;
  return {
    settings: pullOf({
      integration: name,
      brandId: integration.brand_id,
      timezone: integration.timezone,
      connector: connector.pull,
      own: integration.pull,
      maxBytes: 4 << 20,
      adapter: connector.pull.adapter,
    }),
    brand: testBrand(
      name,
      { reservation: documents.destinations ?? [] },
      {
        ...compiled.plan,
        body: integration,
        connector: { name: connector.connector, version, body: connector },
        connectorVersion: version,
        integrationVersion: version,
        ...(documents.guard && { guard: documents.guard }),
        ...(documents.idPrefix && { idPrefix: documents.idPrefix }),
      },
    ),
  };
}

/** A backfill over the given days, or the given sync. */
export function sync(
  ports: PullPorts,
  integration: string,
  request: Partial<QueueRequest> = {},
  options: SyncOptions = {},
): Promise<SyncResult> {
  const kind = request.sync === undefined ? 'backfill' : 'manual';
  return syncOnce(
    ports,
    { integration: integration as IntegrationName, kind, requestedBy: 'test', ...request },
    options,
  );
}
