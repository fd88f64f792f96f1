import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';
import type { DeliverLimits } from '../../../../src/core/deliver/destination.ts';
import { destinationType as files } from '../../../../src/core/deliver/destinations/files/destination.ts';
import { services, temporaryFolder } from '../../support.ts';

export const limits: DeliverLimits = {
  batch: 1_000,
  deadlineMs: 30_000,
  leaseLeftMs: () => 60_000,
  extend: async () => true,
  signal: new AbortController().signal,
};

export async function setUp(t: TestContext, settings: object = {}) {
  const { folder, remove } = await temporaryFolder();
  const offered = services(folder);
  t.after(async () => {
    await offered.close();
    await remove();
  });
  const open = (change: object = {}) =>
    files.open(files.settings.parse({ path: 'out', ...settings, ...change }), offered);
  const list = async () => (await readdir(path.join(folder, 'out'), { recursive: true })).sort();
  const lines = async (file = '') =>
    (await readFile(path.join(folder, 'out', file), 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { data: { id: string } });
  return { root: path.join(folder, 'out'), open, list, lines };
}

export async function query(sql: string): Promise<Record<string, unknown>[]> {
  const duck = await DuckDBInstance.create(':memory:');
  const connection = await duck.connect();
  const rows = (await connection.runAndReadAll(sql)).getRowObjectsJson();
  connection.closeSync();
  duck.closeSync();
  return rows;
}
