import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { deliverPorts } from '../../src/composition/deliver.ts';
import { pullPorts } from '../../src/composition/pull.ts';
import { addDays } from '../../src/core/canonical/values.ts';
import { startDeliveries } from '../../src/core/deliver/deliveries.ts';
import { type SyncResult, syncOnce } from '../../src/core/intake/pull/run/sync-once.ts';
import { nextWindow } from '../../src/core/intake/pull/window/windows.ts';
import { parseJson } from '../../src/kit/json.ts';
import type { IntegrationName, Json } from '../../src/terms.ts';
import { pageSize } from './documents.ts';
import type { BenchWorkspace, Days } from './workspace.ts';

const integration = 'bench' as IntegrationName;

/** Fetches and parses every page of the same windows, and returns the rows as text for the copy. */
export async function fetchAlone({ runtime, partnerUrl }: BenchWorkspace, { from, to }: Days) {
  const startedAt = performance.now();
  const rows: Json[] = [];
  for (let window = nextWindow(from, to, 7); window; window = nextWindow(addDays(window.to, 1), to, 7)) {
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const url = `${partnerUrl}/?dateFrom=${window.from}&dateTo=${window.to}&limit=${pageSize}${cursor && `&cursor=${cursor}`}`;
      const answer = await runtime.http.request({
        method: 'GET',
        url,
        headers: {},
        deadlineMs: 60_000,
        idleMs: 60_000,
        expects: { bytes: 64 << 20 },
      });
      if (answer.kind !== 'answer') throw new Error(answer.message);
      const body = parseJson(Buffer.from(answer.bytes).toString()) as { reservations: Json[]; next_cursor?: string };
      for (const row of body.reservations) rows.push(row);
      cursor = body.next_cursor;
    }
  }
  return { seconds: (performance.now() - startedAt) / 1000, rows };
}

/**
 * The same reservations with COPY into tables with the warehouse's keys: the minimum that the database needs. The caller owns the
 * connection, because the processor time of a closed one is not reported at once.
 */
export async function copyAlone(client: pg.Client, rows: readonly Json[]): Promise<void> {
  await client.query(`create schema if not exists copied`);
  await client.query(`create table copied.reservations (integration text, id text, check_in date, check_out date, status text,
    total_amount numeric, currency text, data jsonb, primary key (integration, id))`);
  for (const table of ['guests', 'rooms', 'charges']) {
    await client.query(
      `create table copied.${table} (integration text, reservation_id text, no int, data jsonb, primary key (integration, reservation_id, no))`,
    );
  }
  const list = rows as unknown as Record<string, never>[];
  await copy(
    client,
    'reservations',
    list.map((r) => ['bench', r.id, r.check_in, r.check_out, r.status, r.total_amount, r.currency, JSON.stringify(r)]),
  );
  for (const table of ['guests', 'rooms', 'charges'] as const) {
    await copy(
      client,
      table,
      list.flatMap((r) => ((r[table] ?? []) as Json[]).map((one, i) => ['bench', r.id, i, JSON.stringify(one)])),
    );
  }
}

async function copy(client: pg.Client, table: string, rows: readonly unknown[][]): Promise<void> {
  const lines = function* () {
    for (const row of rows)
      yield `${row.map((cell) => String(cell).replace(/[\\\t\n\r]/g, (c) => `\\${c}`)).join('\t')}\n`;
  };
  await pipeline(Readable.from(lines()), client.query(copyFrom(`copy copied.${table} from stdin`)));
}

export interface Backfill {
  readonly result: SyncResult;
  /** Until the run ended. */
  readonly runSeconds: number;
  /** Until the warehouse had everything. */
  readonly seconds: number;
}

/** A backfill as the service runs it, with concurrent deliveries. */
export async function backfill({ runtime }: BenchWorkspace, { from, to }: Days): Promise<Backfill> {
  const deliveries = startDeliveries(await deliverPorts(runtime));
  const startedAt = performance.now();
  try {
    const request = {
      integration,
      kind: 'backfill',
      from,
      to,
      requestedBy: 'bench',
    } as const;
    const result = await syncOnce(pullPorts(runtime), request);
    const runSeconds = (performance.now() - startedAt) / 1000;
    for (;;) {
      const { rows } = await runtime.pool.query('select from outbox where due_at is not null limit 1');
      if (rows.length === 0) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return { result, runSeconds, seconds: (performance.now() - startedAt) / 1000 };
  } finally {
    await deliveries.stop();
  }
}
