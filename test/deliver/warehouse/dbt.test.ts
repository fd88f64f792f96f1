import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { destinationType as motherduck } from '../../../src/core/deliver/destinations/motherduck/destination.ts';
import { type TableName, tables } from '../../../src/core/deliver/warehouse/tables.ts';
import { services } from '../support.ts';
import { startDuckWire } from './wire.ts';

const read = (file: string) => readFileSync(path.join(import.meta.dirname, '../../../ops/dbt', file), 'utf8');

test('the sources of dbt are tables and columns of a warehouse', () => {
  const [source] = parse(read('models/staging/warehouse.yml')).sources;
  for (const { name, loaded_at_field: field } of source.tables) {
    if (name === 'rooms' || name === 'charges') continue;
    const { columns } = tables[name as TableName];
    assert.ok(field === undefined || columns.some((column) => column.name === field), `${name}.${field}`);
  }
});

test('the test of dbt finds the brand with a gap in the last seven nights', async (t) => {
  const server = await startDuckWire('token');
  const offered = services('/');
  t.after(async () => {
    await offered.close();
    await server.stop();
  });
  const settings = motherduck.settings.parse({ token: 'token', database: 'hotels', endpoint: server.endpoint });
  const brand = (integration: string, complete_from: string, complete_until: string) => ({
    integration,
    brand_id: integration,
    timezone: 'Europe/Lisbon',
    complete_from,
    complete_until,
  });
  const brands = [
    brand('whole', '2026-10-01', '2027-01-31'),
    brand('young', '2026-11-28', '2027-01-31'),
    brand('ended', '2026-10-01', '2026-11-20'),
    { integration: 'pushed', brand_id: 'p', timezone: 'Europe/Lisbon' },
  ];
  const outcome = await motherduck.writeState?.(settings, offered, { brands });
  assert.equal(outcome?.kind, 'delivered', JSON.stringify(outcome));
  const sql = read('tests/no_gap_in_the_last_seven_days.sql')
    .replaceAll(`{{ source('innbound_warehouse', 'brands') }}`, 'innbound.brands')
    .replace(/\{\{ dbt\.dateadd\('day', (-\d+), var\('as_of'\)\) \}\}/g, `(date '2026-11-30' + interval ($1) day)`);
  assert.doesNotMatch(sql, /\{\{/);
  const found = await server.ask(`${sql} order by integration`);
  assert.deepEqual(
    found.map(({ integration }) => integration),
    ['ended', 'young'],
  );
});
