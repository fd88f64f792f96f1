import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Reservation } from '../src/core/canonical/reservation.ts';
import { destinationType } from '../src/core/deliver/destinations/postgres/destination.ts';
import { columns, copyText, rowsOf, stagedOnly, type Table } from '../src/core/deliver/destinations/postgres/tables.ts';
import type { Delivery } from '../src/core/deliver/message.ts';
import type { Settlement } from '../src/core/deliver/ports.ts';
import { migrate } from '../src/core/store/db/migrate.ts';
import { openPool, type Pool } from '../src/core/store/db/pool.ts';
import { outboxStore } from '../src/core/store/outbox/settle.ts';
import { systemClock } from '../src/kit/clock.ts';
import { openPrivatePostgres } from '../src/operator/embedded-postgres/open.ts';

/**
 * The postgres destination beside a bare COPY of the same rows into tables with the same keys: at most 3 times as slow. Durable, with fsync.
 * `measureClaims` is for the curve of claims and acknowledgements: each is committed, and each attempt logged.
 */
export async function run(): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-bench-'));
  const server = await openPrivatePostgres(folder, { purpose: 'command', describe: 'bench' });
  try {
    await warehouse(server.connection);
    console.log(`machine load ${os.loadavg()[0]?.toFixed(1)} on ${os.cpus().length} processors`);
  } finally {
    await server.release();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Claims with acknowledgement per second, by backlog. Small backlogs are drained several times. */
export async function measureClaims(backlogs: readonly number[]): Promise<[backlog: number, perSecond: number][]> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-bench-'));
  const server = await openPrivatePostgres(folder, { purpose: 'command', describe: 'bench' });
  const pool = openPool({ connection: server.connection, applicationName: 'bench', maxConnections: 16 });
  const points: [number, number][] = [];
  try {
    await migrate(pool);
    for (const backlog of backlogs) {
      await fill(pool, backlog);
      let [done, seconds] = [0, 0];
      while (done < 60_000) {
        if (done > 0) await refill(pool);
        const [count, took] = await drain(pool, Math.min(backlog, 60_000));
        done += count;
        seconds += took;
      }
      points.push([backlog, done / seconds]);
    }
    return points;
  } finally {
    await pool.end();
    await server.release();
    await rm(folder, { recursive: true, force: true });
  }
}

const lane = { integration: 'bench', destination: 'crm' };

async function fill(pool: Pool, records: number): Promise<void> {
  await pool.query('truncate outbox, records, attempts');
  for (let from = 0; from < records; from += 100_000) {
    const to = Math.min(from + 100_000, records);
    await pool.query(
      `insert into records (integration, type, id, version, event, effective_at, seq, data)
       select 'bench', 'reservation', 'R-' || n, 1, 'created', now(), n, $3::json
         from generate_series($1::int, $2::int - 1) n`,
      [from, to, JSON.stringify(reservation(1))],
    );
    await pool.query(
      `insert into outbox (integration, destination, type, id, next_version, last_version, due_at)
       select 'bench', 'crm', 'reservation', 'R-' || n, 1, 1, now() from generate_series($1::int, $2::int - 1) n`,
      [from, to],
    );
  }
  await pool.query('analyze');
}

async function refill(pool: Pool): Promise<void> {
  await pool.query(`update outbox set next_version = 1, due_at = now()`);
}

/** Like the delivery engine without sending: claims a batch and acknowledges it, four at a time. */
async function drain(pool: Pool, atMost: number): Promise<[number, number]> {
  const store = outboxStore(pool);
  const startedAt = performance.now();
  let done = 0;
  const worker = async (): Promise<void> => {
    while (done < atMost) {
      const claims = await store.claim(lane.destination, [lane.integration], 1_000, 60_000);
      if (claims.length === 0) return;
      done += claims.length;
      const settlements = claims.map(
        ({ type, id, version, fence }): Settlement => ({
          ...lane,
          type,
          id,
          version,
          fence,
          attempt: 1,
          result: { kind: 'delivered' },
          status: 200,
          durationMs: 20,
        }),
      );
      await store.settle(settlements, 'bench');
    }
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
  return [done, (performance.now() - startedAt) / 1_000];
}

async function warehouse(connection: pg.PoolConfig): Promise<void> {
  const batches = Array.from({ length: 20 }, (_, b) =>
    Array.from({ length: 5_000 }, (_, i) => deliveryOf(b * 5_000 + i)),
  );
  const user = encodeURIComponent(String(connection.user));
  const url = `postgres://${user}@/${connection.database}?host=${encodeURIComponent(String(connection.host))}&port=${connection.port}`;
  const open = () =>
    destinationType.open(destinationType.settings.parse({ url, schema: 'warehouse' }), {
      name: 'bench',
      workspaceDir: '/',
      allowPrivate: true,
      node: 'bench',
      clock: systemClock,
      http: { request: async () => Promise.reject(new Error('unused')), close: async () => {} },
      brandIdsOf: async () => [],
      brandOf: async () => undefined,
      takeRequest: async () => ({ granted: 1, waitMs: 0 }),
      authorizer: () => {
        throw new Error('unused');
      },
    });
  const destination = open();
  const limits = {
    deadlineMs: 60_000,
    batch: 5_000,
    leaseLeftMs: () => 60_000,
    extend: async () => true,
    signal: new AbortController().signal,
  };
  await destination.deliver([deliveryOf(-1)], limits);
  const client = new pg.Client(connection);
  await client.connect();
  await client.query(`create schema bare`);
  for (const table of ['reservations', 'guests', 'rooms', 'charges']) {
    await client.query(`create table bare.${table} (like warehouse.${table} including all)`);
  }
  let rows = 0;
  let bareMs = 0;
  let ownMs = 0;
  // Alternating, so that other load on the machine affects both.
  for (const batch of batches) {
    const startedAt = performance.now();
    const staged = rowsOf(batch);
    await client.query('begin');
    for (const table of ['reservations', 'guests', 'rooms', 'charges'] as Table[]) {
      const kept = columns[table].map((name, i) => [name, i] as const).filter(([name]) => !stagedOnly.has(name));
      const cut = staged[table].map((row) => kept.map(([, i]) => row[i]));
      const sql = `copy bare.${table} (${kept.map(([name]) => name).join(', ')}) from stdin`;
      await pipeline([copyText(cut)], client.query(copyFrom(sql)));
      rows += staged[table].length;
    }
    await client.query('commit');
    const between = performance.now();
    const outcomes = await destination.deliver(batch, limits);
    if (outcomes.some(({ kind }) => kind !== 'delivered')) throw new Error(JSON.stringify(outcomes[0]));
    bareMs += between - startedAt;
    ownMs += performance.now() - between;
  }
  const again = performance.now();
  const updated = batches.slice(0, 4).map((batch) => batch.map(newer));
  for (const batch of updated) await destination.deliver(batch, limits);
  const updateMs = performance.now() - again;
  console.log(`bare COPY          ${Math.round(rows / (bareMs / 1_000))} rows/s`);
  console.log(
    `postgres, new      ${Math.round(rows / (ownMs / 1_000))} rows/s, ${(ownMs / bareMs).toFixed(2)} times the COPY`,
  );
  console.log(
    `postgres, changed  ${Math.round(rows / 5 / (updateMs / 1_000))} rows/s, ${(updateMs / (bareMs / 5)).toFixed(2)} times the COPY of new rows`,
  );
  await client.end();
  await destination.close();
}

function deliveryOf(n: number): Delivery {
  return {
    message: {
      type: 'reservation',
      integration: 'bench',
      brand_id: 'LIS01',
      event: 'created',
      version: 1,
      idempotency_key: `ib_${n}`,
      data: reservation(n),
    },
    changedAt: Date.UTC(2026, 10, 15),
    mayHaveArrived: false,
    byConsent: false,
  };
}

const newer = (delivery: Delivery): Delivery => ({ ...delivery, message: { ...delivery.message, version: 2 } });

function reservation(n: number): Reservation {
  return {
    id: `R-${n}`,
    confirmation_number: `CN${n}`,
    check_in: '2026-12-01',
    check_out: '2026-12-04',
    booking_date: '2026-10-01',
    status: 'confirmed',
    channel: 'web',
    source: 'direct',
    total_amount: '1250.5',
    currency: 'EUR',
    guests: [1, 2].map((i) => ({
      first_name: `Ana ${i}`,
      last_name: 'Exemplo',
      email: `g${n}.${i}@guests.example`,
      phone: '+351912345678',
      nationality: 'PT',
      marketing_consent: true,
    })),
    rooms: [{ room_type: 'DBL', board: 'half_board', start_date: '2026-12-01', end_date: '2026-12-04', adults: 2 }],
    charges: [1, 2, 3].map((i) => ({ code: `C${i}`, description: 'Room and board', amount: '416.83', quantity: i })),
  };
}
