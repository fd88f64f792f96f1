import { activate } from '../../../src/core/brand/active.ts';
import type { Brand } from '../../../src/core/brand/brand.ts';
import { decodeRecord, type Guest, type Reservation } from '../../../src/core/canonical/reservation.ts';
import { Handover } from '../../../src/core/deliver/handover.ts';
import type { StoredDocument } from '../../../src/core/documents/kinds.ts';
import type { EventType } from '../../../src/core/intake/push/envelope.ts';
import type { NewEvent } from '../../../src/core/intake/push/ports.ts';
import { drainEvents, type EventWorkerPorts, openSession } from '../../../src/core/intake/push/worker.ts';
import { read } from '../../../src/core/pipeline.ts';
import type { Statement } from '../../../src/core/reconcile/forms.ts';
import { type Pool, transaction } from '../../../src/core/store/db/pool.ts';
import { appendEvents } from '../../../src/core/store/events/append.ts';
import { issueEndpoint } from '../../../src/core/store/events/endpoints.ts';
import { putEventsBack, setEventAside } from '../../../src/core/store/events/set-aside.ts';
import { type EventStore, workEvents } from '../../../src/core/store/events/work-events.ts';
import { ingest } from '../../../src/core/store/records/ingest.ts';
import { insertSighting, knownRows } from '../../../src/core/store/records/listed.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { Wake } from '../../../src/kit/loop.ts';
import { shortHash } from '../../../src/kit/short-hash.ts';
import type { EndpointId, IntegrationName, Json } from '../../../src/terms.ts';
import { brandId, integration, migratedPool, minter, openSealer, reservationData } from './support.ts';

/** An integration as the service has it in force, from documents as a person would write them. */
export function activeIntegration(
  push: Json = {},
  more: { [key: string]: Json } = {},
  connector: { [key: string]: Json } = {},
): Brand {
  const body = (kind: StoredDocument['kind'], name: string, content: Json): StoredDocument => ({
    kind,
    name,
    version: 1,
    body: content,
    hash: '',
  });
  const active = activate([
    body('connector', 'acme-pms', { connector: 'acme-pms', push, ...connector }),
    body('integration', integration, {
      integration,
      connector: 'acme-pms',
      brand_id: brandId,
      timezone: 'Europe/Lisbon',
      country: 'PT',
      push: { enabled: true },
      ...more,
    }),
  ]);
  const found = active.integrations.get(integration);
  if (!found) throw new Error(JSON.stringify(active.broken));
  // A list that lags has its own tests.
  return Object.defineProperty(found, 'lagMs', { value: 0, writable: true });
}

export interface Bench {
  readonly pool: Pool;
  readonly ports: EventWorkerPorts;
  readonly errors: unknown[];
  /** Stores an event as if it had been accepted. */
  send(
    event: EventType,
    data: Json,
    at?: {
      occurredAt?: number;
      /** Replaces the database's own stamp. */
      receivedAt?: number;
      eventId?: string;
    },
  ): Promise<void>;
  /** Stores events together and processes them. */
  arrive(...events: readonly NewEvent[]): Promise<void>;
  /** An event for `arrive`. */
  newEvent(event: EventType, data: Json, at?: { occurredAt?: number; eventId?: string }): NewEvent;
  work(): Promise<void>;
  reservation(id?: string): Promise<Reservation | undefined>;
  version(id?: string, type?: string): Promise<number>;
  profiles(): Promise<{ id: string; version: number; guest: Guest }[]>;
  end(): Promise<void>;
}

export async function openBench(active: Brand = activeIntegration()): Promise<Bench> {
  const { pool, end } = await migratedPool();
  const { endpointId } = await transaction(pool, (tx) => issueEndpoint(tx, integration, openSealer, minter));
  const errors: unknown[] = [];
  const ports = workerPorts(pool, active, errors);
  const applying = { store: storeOf(pool, active), session: () => openSession(ports) };
  let sent = 0;
  const newEvent: Bench['newEvent'] = (event, data, { occurredAt = Date.now(), eventId = `ev-${sent + 1}` } = {}) => {
    sent += 1;
    const rawBody = Buffer.from(
      JSON.stringify({ event, timestamp: new Date(occurredAt).toISOString(), brand_id: brandId, data }),
    );
    return {
      integration: integration as IntegrationName,
      endpointId: endpointId as EndpointId,
      secretNo: 1,
      eventId,
      event,
      occurredAt,
      rawBody,
    };
  };
  const arrive: Bench['arrive'] = async (...events) => {
    await appendEvents(pool, events, undefined, applying);
    await drainEvents(ports);
  };
  return {
    pool,
    ports,
    errors,
    newEvent,
    arrive,
    async send(event, data, { occurredAt = Date.now(), receivedAt, eventId = `ev-${sent + 1}` } = {}) {
      const made = newEvent(event, data, { occurredAt, eventId });
      const [stored] = await appendEvents(pool, [made]);
      if (stored?.kind !== 'stored') throw new Error(`not stored: ${JSON.stringify(stored)}`);
      if (receivedAt === undefined) return;
      await pool.query('update events set received_at = to_timestamp($2 / 1000.0) where event_id = $1', [
        eventId,
        receivedAt,
      ]);
    },
    work: () => drainEvents(ports),
    async reservation(id = 'R-1001') {
      const { rows } = await pool.query<{ data: string }>(
        `select data::text as data from records where integration = $1 and type = 'reservation' and id = $2 and version > 0`,
        [integration, id],
      );
      return rows[0] && decodeRecord('reservation', rows[0].data);
    },
    async version(id = 'R-1001', type = 'reservation') {
      const { rows } = await pool.query<{ version: number }>(
        'select version from records where integration = $1 and type = $2 and id = $3',
        [integration, type, id],
      );
      return rows[0]?.version ?? 0;
    },
    async profiles() {
      const { rows } = await pool.query<{ id: string; version: number; data: string }>(
        `select id, version, data::text as data from records where type = 'guest' and version > 0 order by created_at, id`,
      );
      return rows.map((row) => ({ id: row.id, version: row.version, guest: decodeRecord('guest', row.data) }));
    },
    end,
  };
}

/** Opens a bench for one test, and closes it also if the test fails. */
export async function withBench(work: (bench: Bench) => Promise<void>, active = activeIntegration()): Promise<void> {
  const bench = await openBench(active);
  try {
    await work(bench);
  } finally {
    await bench.end();
  }
}

/** The usual reservation of an event, with some fields changed. */
export const data = (more: { [field: string]: Json } = {}): Json => ({ ...reservationData(), ...more });

/** A page of a poll with these rows. */
export async function poll({ pool }: Pick<Bench, 'pool'>, brand: Brand, requestedAt: number, ...rows: Json[]) {
  const arrival = { mode: 'pull', effectiveAt: requestedAt, cause: 'run', causeId: 'run_1' } as const;
  const { body, connector } = brand;
  const found = brand.shapers.pull.records(rows);
  if (found.kind === 'invalid') throw new Error(found.message);
  const made = (value: Json) => shortHash(JSON.stringify([value, body, connector.body]));
  const listed = found.records.map(({ key, value }) => ({ key, listed: made(value) }));
  return transaction(pool, async (tx) => {
    const known = await knownRows(tx, brand, listed);
    const ids = known.map(({ id }) => id);
    if (ids.length > 0) await insertSighting(tx, brand.integration, requestedAt, arrival.causeId, ids);
    const statements = found.records.flatMap((raw, i): Statement[] => {
      const one = read(brand, raw, arrival);
      if (known.some(({ key }) => key === raw.key)) return [];
      return [one.record ? { ...one, listed: listed[i]?.listed } : one];
    });
    const tally = await ingest(tx, brand, statements);
    return { ...tally, unchanged: tally.unchanged + ids.length };
  });
}

const storeOf = (pool: Pool, active: Brand): EventStore => ({
  pool,
  brandOf: (name) => (name === integration ? active : undefined),
  othersAt: () => [],
  handover: new Handover(),
});

function workerPorts(pool: Pool, active: Brand, errors: unknown[]): EventWorkerPorts {
  const store = storeOf(pool, active);
  return {
    clock: systemClock,
    wake: new Wake(),
    putBack: () => putEventsBack(pool),
    batch: (batching, work) => workEvents(store, batching, work),
    setAside: (_integration, error) => setEventAside(pool, active, error),
    onError: (_integration, error) => errors.push(error),
  };
}

export { reservationData };
