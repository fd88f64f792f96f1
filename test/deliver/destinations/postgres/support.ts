import type { TestContext } from 'node:test';
import type { BrandFacts, DeliverLimits } from '../../../../src/core/deliver/destination.ts';
import { destinationType as postgres } from '../../../../src/core/deliver/destinations/postgres/destination.ts';
import { plainPool, testDatabase } from '../../../support/database.ts';
import { services } from '../../support.ts';

export const limits: DeliverLimits = {
  batch: 1_000,
  deadlineMs: 10_000,
  leaseLeftMs: () => 60_000,
  extend: async () => true,
  signal: new AbortController().signal,
};

/** An empty warehouse in a new database. */
export async function setUp(t: TestContext, schema = 'innbound') {
  const db = await testDatabase({ empty: true });
  const pool = plainPool(db.connection);
  const offered = services('/');
  const open = (settings: object = {}, allowPrivate = true, brand?: BrandFacts) => {
    const destination = postgres.open(postgres.settings.parse({ url: db.url, schema, ...settings }), {
      ...offered,
      allowPrivate,
      brandOf: async () => brand,
    });
    t.after(() => destination.close());
    return destination;
  };
  t.after(async () => {
    await pool.end();
    await offered.close();
  });
  const rows = async (sql: string) => (await pool.query(sql)).rows;
  return { pool, open, rows, db };
}
