import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';
import type { Reservation } from '../../src/core/canonical/reservation.ts';
import type { BrandFacts, Destination } from '../../src/core/deliver/destination.ts';
import { destinationType as files } from '../../src/core/deliver/destinations/files/destination.ts';
import type { Delivery } from '../../src/core/deliver/message.ts';
import { plainPool } from '../support/database.ts';
import { limits, setUp } from './destinations/postgres/support.ts';
import { delivery, reservation, services, temporaryFolder } from './support.ts';

/** The same books in a warehouse and in Parquet files. */

const root = path.join(import.meta.dirname, '..', '..');
const views = path.join(root, 'src/core/deliver/destinations/postgres/migrations/0002-views.sql');

export type Row = Record<string, unknown>;

/** A version of a reservation, taken in at noon of a day. */
export const on = (day: string, id: string, change: Partial<Reservation> = {}, version = 1): Delivery => ({
  ...delivery(reservation(id, { guests: [], charges: [], total_amount: '300', ...change }), { version }),
  changedAt: Date.parse(`${day}T12:00:00Z`),
});

export async function openBooks(t: TestContext, brand: BrandFacts) {
  const { open, db } = await setUp(t);
  const { folder, remove } = await temporaryFolder();
  const offered = services(folder);
  t.after(async () => {
    await offered.close();
    await remove();
  });
  const warehouse = open({}, true, brand);
  const lake = files.open(files.settings.parse({ path: 'lake', format: 'parquet' }), {
    ...offered,
    brandOf: async () => brand,
  });
  const to = async (destination: Destination, batch: readonly Delivery[]) => {
    for (const outcome of await destination.deliver(batch, limits))
      if (outcome.kind !== 'delivered') throw new Error(JSON.stringify(outcome));
  };
  /** One version of each reservation at a time. */
  const deliver = async (deliveries: readonly Delivery[]) => {
    for (const [, batch] of Map.groupBy(deliveries, ({ message }) => message.version)) {
      await to(warehouse, batch);
      await to(lake, batch);
    }
  };
  /** Reads the files into DuckDB, with the views of the warehouse. */
  const duck = async () => {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    t.after(() => {
      connection.closeSync();
      instance.closeSync();
    });
    await connection.run(`set variable lake = '${folder}/lake'`);
    await connection.run(await readFile(path.join(root, 'ops/duckdb/lake.sql'), 'utf8'));
    await connection.run(await readFile(views, 'utf8'));
    return async (sql: string): Promise<Row[]> => (await connection.runAndReadAll(sql)).getRowObjectsJson();
  };
  await warehouse.deliver([], limits);
  const pool = plainPool({ ...db.connection, options: '-c search_path=innbound' });
  t.after(() => pool.end());
  const ask = async (sql: string): Promise<Row[]> => (await pool.query(sql)).rows;
  return { deliver, ask, duck };
}
