import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {
  type Simulator,
  type SimulatorOptions,
  shippedProperties,
  startSimulator,
} from '../../../packages/partner-kit/src/simulate/index.ts';
import { streamPorts } from '../../../src/composition/stream.ts';
import { startStreamReaders } from '../../../src/core/intake/stream/readers.ts';
import type { Loop } from '../../../src/kit/loop.ts';
import { openRuntime } from '../../../src/operator/operations/open-runtime.ts';
import { applyWorkspace } from '../../../src/runtime/in-force.ts';
import type { Runtime } from '../../../src/runtime/runtime.ts';
import { readSoundDocuments } from '../../../src/runtime/workspace-documents.ts';
import { testDatabase } from '../../support/database.ts';

export const connector = `connector: hotel
pull:
  request: { path: /api/reservations, query: { dateFrom: "{window.from}", dateTo: "{window.to}" } }
  single: { path: "/api/reservations/{id}" }
  property: property_id
  pagination: { type: none }
shape: { root_path: reservations }
push:
  event_id: metadata.uniqueEventId
  envelope:
    event: eventName
    names:
      reservation.created: NEW RESERVATION
      reservation.updated: UPDATE RESERVATION
      reservation.cancelled: CANCEL
    others: ignore
    brand: hotelId
    data: { id: primaryKey }
  thin: { id: id }
stream:
  path: /subscriptions
  query: { key: "{key.sha256}" }
  init: { Authorization: "{authorization}" }
  subscription: "subscription { newEvent(input: {input}) { metadata { offset uniqueEventId } eventName primaryKey } }"
  variables: { input: { chainCode: "{chain}", offset: "{offset}" } }
  event: newEvent
  offset: metadata.offset
  ping: 1s
  pause: 1s
  replay: { kept: 7d, inclusive: true }
`;

export const key = 'app-key-1';

export async function startPartner(options: SimulatorOptions = {}): Promise<Simulator> {
  return startSimulator({
    seed: 9,
    reservations: 40,
    untidy: 0,
    properties: [shippedProperties[0], shippedProperties[1] as (typeof shippedProperties)[0]],
    auth: { type: 'oauth2', clientId: 'sim-client', clientSecret: 'sim-secret' },
    ...options,
    stream: { key, chain: 'SIM', pauseMs: 500, ...options.stream },
  });
}

export interface StreamBench {
  readonly runtime: Runtime;
  /** For the command. */
  readonly env: Record<string, string>;
  /** A node that reads streams. */
  read(): Loop;
  /** The ids of the stored events of a brand, in the order of their receipt. */
  eventIds(integration: string): Promise<string[]>;
  state(): Promise<{ failures: number; failure: string | null; resume_from: string | null; gap: boolean }>;
  /** Changes the connector of the documents in force. */
  describe(connector: string): Promise<void>;
  close(): Promise<void>;
}

/** A workspace with one account for two hotels, of which the second shares the account's stream. */
export async function openStreamBench(partner: Simulator, described = connector, usedKey = key): Promise<StreamBench> {
  const database = await testDatabase();
  const dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-stream-'));
  const write = async (file: string, text: string) => {
    await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
    await writeFile(path.join(dir, file), text);
  };
  const brand = (name: string, id: string, more: string) =>
    write(
      `integrations/${name}.yaml`,
      `integration: ${name}\nconnector: hotel\nbrand_id: ${id}\ntimezone: Europe/Lisbon\n${more}`,
    );
  await write('connectors/hotel.yaml', described);
  await brand(
    'lisbon',
    'LIS01',
    `pull:
  base_url: ${partner.baseUrl}
  auth:
    type: oauth2
    grant: client_credentials
    token_url: ${partner.baseUrl}/oauth/token
    client_id: sim-client
    client_secret: sim-secret
stream: { key: ${usedKey}, chain: SIM }
`,
  );
  await brand('london', 'LDN02', 'pulled_by: lisbon\n');
  const env = { DATABASE_URL: database.url, INNBOUND_ALLOW_PRIVATE_NETWORK: '1', INNBOUND_LOG_LEVEL: 'silent' };
  const runtime = await openRuntime({ env, workspaceDir: dir, purpose: 'service', describe: 'test', apply: 'always' });
  const readers: Loop[] = [];
  return {
    runtime,
    env,
    read: () => {
      const reader = startStreamReaders(streamPorts(runtime));
      readers.push(reader);
      return reader;
    },
    eventIds: async (integration) => {
      const sql = 'select event_id from events where integration = $1 order by seq';
      const { rows } = await runtime.pool.query<{ event_id: string }>(sql, [integration]);
      return rows.map(({ event_id }) => event_id);
    },
    state: async () => {
      const sql = 'select failures, failure, resume_from, gap_at is not null as gap from streams';
      const { rows } = await runtime.pool.query(sql);
      return rows[0];
    },
    describe: async (text) => {
      await write('connectors/hotel.yaml', text);
      await applyWorkspace(runtime, () => readSoundDocuments(dir), 'test');
      await runtime.refresh();
    },
    close: async () => {
      // Also after a failed test, which would otherwise keep its process alive.
      await Promise.all(readers.map((reader) => reader.stop()));
      await runtime.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
