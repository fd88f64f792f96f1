import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Guest, Reservation } from '../../src/core/canonical/reservation.ts';
import { startDeliveries } from '../../src/core/deliver/deliveries.ts';
import type { Destination, DestinationServices, Outcome } from '../../src/core/deliver/destination.ts';
import type { Outgoing } from '../../src/core/deliver/handover.ts';
import { compileFields, type Delivery, type Message } from '../../src/core/deliver/message.ts';
import type { DeliverPorts, DestinationConfig, Lane } from '../../src/core/deliver/ports.ts';
import { openHttp } from '../../src/core/outbound/http.ts';
import type { Statement } from '../../src/core/reconcile/forms.ts';
import { aboutProfile } from '../../src/core/reconcile/profile.ts';
import { openPool, type Pool, transaction } from '../../src/core/store/db/pool.ts';
import { outboxStore } from '../../src/core/store/outbox/settle.ts';
import { ingest } from '../../src/core/store/records/ingest.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { type Keyring, newKey } from '../../src/kit/crypto.ts';
import { type Loop, Wake } from '../../src/kit/loop.ts';
import type { DestinationName, IntegrationName } from '../../src/terms.ts';
import { said, testBrand } from '../support/brand.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { listedLanes } from './lanes.ts';

/** A separate, migrated store. */
export async function openStore(): Promise<{ pool: Pool; db: TestDatabase; close(): Promise<void> }> {
  const db = await testDatabase();
  const pool = openPool({ connection: db.connection, applicationName: 'test' });
  const close = async () => {
    await Promise.all([...nodes].map((node) => node.stop()));
    nodes.clear();
    await pool.end();
  };
  return { pool, db, close };
}

const nodes = new Set<Loop>();

/** Deliveries that stop before the store closes: hooks run in their order, and with a closed store stopping takes 10 seconds. */
export function startNode(made: DeliverPorts): Loop {
  const node = startDeliveries(made);
  nodes.add(node);
  return node;
}

export async function temporaryFolder(): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-deliver-'));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

export function reservation(id: string, change: Partial<Reservation> = {}): Reservation {
  return {
    id,
    confirmation_number: `C-${id}`,
    check_in: '2026-12-01',
    check_out: '2026-12-04',
    status: 'confirmed',
    total_amount: '1250.5',
    currency: 'EUR',
    guests: [
      {
        first_name: 'Ana',
        last_name: 'Exemplo',
        email: `${id}@guests.example`,
        phone: '+351912345678',
        marketing_consent: true,
      },
    ],
    rooms: [{ room_type: 'DBL', board: 'half_board', adults: 2, children: 0 }],
    charges: [{ code: 'ROOM', description: 'Room', amount: '1250.5', quantity: 1 }],
    ...change,
  };
}

let effective = Date.UTC(2026, 10, 1);

interface TakeInOptions {
  readonly integration?: string;
  readonly mode?: 'pull' | 'push';
  readonly lateByMs?: number;
  /** What the transaction queues; the caller sends it. */
  readonly outgoing?: Outgoing;
}

/** Stores records as a push would, each call later than the one before; or late, with an older state. */
export async function takeIn(
  pool: Pool,
  records: readonly Reservation[],
  destinations: readonly string[],
  { integration = 'lisbon', mode = 'push', lateByMs = 0, outgoing }: TakeInOptions = {},
): Promise<void> {
  effective += 1_000;
  const arrival = { mode, effectiveAt: effective - lateByMs, cause: 'event', causeId: '1' } as const;
  const statements = records.map((record): Statement => {
    const value = { total_amount: record.total_amount ?? null };
    return { ...said(record, arrival), scope: { fields: 'full', lists: 'full' }, raw: { key: record.id, value } };
  });
  const brand = testBrand(integration, { reservation: destinations });
  await transaction(pool, (tx) => ingest(tx, brand, statements, undefined, outgoing));
}

/** Stores a guest profile, later than everything before. */
export async function takeInGuest(
  pool: Pool,
  id: string,
  record: Guest,
  destinations: readonly string[],
): Promise<void> {
  effective += 1_000;
  const arrival = { mode: 'pull', effectiveAt: effective, cause: 'guest', causeId: '1' } as const;
  const brand = testBrand('lisbon', { guest: destinations });
  await transaction(pool, (tx) => ingest(tx, brand, [aboutProfile(id, arrival, { record })]));
}

export function config(name: string, change: Partial<DestinationConfig> = {}): DestinationConfig {
  return {
    name: name as DestinationName,
    type: 'test',
    revision: '1',
    settings: {},
    selection: { receives: ['reservation', 'guest'], fields: compileFields({}) },
    scheduleMs: [5, 10, 20, 40],
    batch: 10,
    batchWaitMs: 0,
    concurrency: 4,
    timeoutMs: 20_000,
    paused: false,
    ...change,
  };
}

export const lane = (destination: DestinationConfig, integration = 'lisbon'): Lane => ({
  integration: integration as IntegrationName,
  brandId: 'LIS01',
  destination,
});

const silentLog = { info() {}, warn() {}, error() {} };

/** A destination whose answers the test decides, and which records what it received. */
export function scripted(answer: (delivery: Delivery, batch: readonly Delivery[]) => Outcome | Promise<Outcome>) {
  const calls: Message[][] = [];
  const destination: Destination = {
    async deliver(batch) {
      calls.push(batch.map(({ message }) => message));
      return Promise.all(batch.map((delivery) => answer(delivery, batch)));
    },
    async close() {},
  };
  return { destination, calls, messages: () => calls.flat() };
}

export function ports(
  pool: Pool,
  lanes: readonly Lane[],
  destinations: Readonly<Record<string, Destination>>,
  change: Partial<DeliverPorts> = {},
): DeliverPorts & { readonly wake: Wake } {
  const wake = new Wake();
  const inForce = listedLanes(lanes);
  return {
    store: outboxStore(pool, keyring),
    lanes: () => inForce,
    open: async ({ name }) => {
      const destination = destinations[name];
      if (!destination) throw new Error(`no destination ${name}`);
      return destination;
    },
    clock: systemClock,
    wake,
    log: silentLog,
    chance: () => 0,
    epoch: () => 1,
    node: 'test',
    ...change,
  } as DeliverPorts & { readonly wake: Wake };
}

/** Seals what erased guests were known by. */
export const keyring: Keyring = [newKey()];

export function services(workspaceDir: string, allowPrivate = true): DestinationServices & { close(): Promise<void> } {
  const http = openHttp({ allowPrivate, userAgent: 'test' });
  return {
    name: 'test',
    workspaceDir,
    allowPrivate,
    node: 'test',
    clock: systemClock,
    http,
    brandIdsOf: async () => [],
    brandOf: async () => undefined,
    takeRequest: async () => ({ granted: 1, waitMs: 0 }),
    authorizer: () => ({
      authorize: async (request) => ({ kind: 'ok', request }),
      refused: async () => false,
    }),
    close: () => http.close(),
  };
}

export function delivery(record: Reservation, change: Partial<Message> = {}, mayHaveArrived = false): Delivery {
  const version = change.version ?? 1;
  return {
    message: {
      type: 'reservation',
      integration: 'lisbon',
      brand_id: 'LIS01',
      event: version === 1 ? 'created' : 'updated',
      version,
      idempotency_key: `ib_${record.id}_${version}`.padEnd(24, 'x'),
      data: record,
      ...change,
    },
    changedAt: Date.UTC(2026, 10, 15, 12),
    mayHaveArrived,
    byConsent: false,
  };
}
