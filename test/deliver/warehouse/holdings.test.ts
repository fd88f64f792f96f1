import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { differingPaths } from '../../../src/core/deliver/compare.ts';
import type { DestinationType, HeldFiles } from '../../../src/core/deliver/destination.ts';
import { destinationType as bigquery } from '../../../src/core/deliver/destinations/bigquery/destination.ts';
import { destinationType as databricks } from '../../../src/core/deliver/destinations/databricks/destination.ts';
import { destinationType as motherduck } from '../../../src/core/deliver/destinations/motherduck/destination.ts';
import { destinationType as mysql } from '../../../src/core/deliver/destinations/mysql/destination.ts';
import { destinationType as redshift } from '../../../src/core/deliver/destinations/redshift/destination.ts';
import { destinationType as snowflake } from '../../../src/core/deliver/destinations/snowflake/destination.ts';
import { destinationType as sqlserver } from '../../../src/core/deliver/destinations/sqlserver/destination.ts';
import { contentOf } from '../../../src/core/deliver/expected.ts';
import { testDatabase } from '../../support/database.ts';
import { limits } from '../destinations/postgres/support.ts';
import { delivery, reservation, services } from '../support.ts';
import { noMariadb, startMariadb } from './mariadb.ts';
import { bigqueryStub, databricksStub, snowflakeStub } from './stubs.ts';
import { startSqlServer } from './tds.ts';
import { startDuckWire, startRedshift } from './wire.ts';

const of = { integration: 'lisbon', type: 'reservation' } as const;
const rich = reservation('r', {
  guests: [{ first_name: 'Ana "\\\t', email_proxy: true, marketing_consent: false }, { last_name: 'ü😀' }],
  rooms: [],
  total_amount: '1250.5',
  charges: [{ code: 'A', amount: '-99999999999999999999.99', quantity: 3 }],
  extra: { loyalty: 'gold', b: [1.5, null] },
});

/** What an engine hashes and answers of a record is what was delivered. */
async function readsBack<Settings>(
  type: DestinationType<Settings>,
  given: unknown,
  change: (sql: string) => Promise<unknown>,
) {
  const offered = services('/');
  const settings = type.settings.parse(given);
  const destination = type.open(settings, offered);
  const holdings = type.holdings?.(settings, offered, {} as HeldFiles);
  assert.ok(holdings);
  try {
    assert.deepEqual(await holdings.rows(of, ['r'], 'digests', new Map()), [], 'before the first delivery');
    const sent = delivery(rich, { version: 2 });
    const others = ['a', 'b', 'x'].map((id) => delivery(reservation(id)));
    const outcomes = await destination.deliver([sent, ...others], limits);
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['delivered', 'delivered', 'delivered', 'delivered'],
    );
    const [row, none] = await holdings.rows(of, ['r', 'unknown'], 'digests', new Map());
    // Some engines answer contents at once.
    const digest = row?.digest !== undefined && { digest: holdings.digestOf(sent) };
    const { content: _, ...held } = row ?? {};
    assert.deepEqual(held, { id: 'r', epoch: 1, version: 2, isRemoved: false, ...digest });
    assert.equal(none, undefined);
    const refused = holdings.digestOf(delivery({ ...rich, total_amount: '1.0123456789' }));
    assert.notEqual(refused, holdings.digestOf(sent), 'a value that the engine refuses is in no row');
    const [whole] = await holdings.rows(of, ['r'], 'contents', new Map());
    assert.deepEqual(differingPaths(contentOf(sent.message), whole?.content), []);
    await change(`update reservations set total_amount = total_amount + 0.01, status = 'no_show' where id = 'r'`);
    const [changed] = await holdings.rows(of, ['r'], 'digests', new Map());
    assert.notDeepEqual(changed, row);
    const [other] = await holdings.rows(of, ['r'], 'contents', new Map());
    assert.deepEqual(differingPaths(contentOf(sent.message), other?.content).sort(), ['status', 'total_amount']);
    assert.deepEqual(await holdings.ids?.(of, 'a', 2), ['b', 'r']);
    assert.deepEqual(await holdings.integrations?.(), ['lisbon']);
  } finally {
    await holdings.close();
    await destination.close();
    await offered.close();
  }
}

describe('mysql on MariaDB', { skip: noMariadb }, () => {
  let server: Awaited<ReturnType<typeof startMariadb>>;
  before(async () => {
    server = await startMariadb();
    await server.database('stays');
  });
  after(() => server.stop());
  test('is read back', () =>
    readsBack(mysql, { url: server.url('stays') }, (sql) => server.query(sql.replace('update ', 'update stays.'))));
});

const inSchema = (sql: string) => sql.replace('update ', 'update innbound.');

test('motherduck (DuckDB behind its protocol) is read back', async (t) => {
  const server = await startDuckWire('secret-token');
  t.after(() => server.stop());
  const settings = { token: 'secret-token', database: 'stays', schema: 'innbound', endpoint: server.endpoint };
  await readsBack(motherduck, settings, (sql) => server.ask(inSchema(sql)));
});

test('redshift (on PostgreSQL) is read back', async (t) => {
  const server = await startRedshift('p@ss', (await testDatabase({ empty: true })).connection);
  t.after(() => server.stop());
  const settings = { url: `redshift://u:p%40ss@127.0.0.1:${server.port}/stays` };
  await readsBack(redshift, settings, (sql) => server.query(inSchema(sql)));
});

test('sqlserver (a stub of its protocol that executes) is read back', async (t) => {
  const server = await startSqlServer('u', 'p@ss');
  t.after(() => server.stop());
  const settings = { url: `sqlserver://u:p%40ss@127.0.0.1:${server.port}/stays` };
  await readsBack(sqlserver, settings, (sql) => server.duck.ask(inSchema(sql)));
});

for (const [name, type, make] of [
  ['bigquery', bigquery, bigqueryStub],
  ['snowflake', snowflake, snowflakeStub],
  ['databricks', databricks, databricksStub],
] as [string, DestinationType, typeof bigqueryStub][]) {
  test(`${name} (a stub that executes) is read back`, async (t) => {
    const stub = await make();
    t.after(() => stub.close());
    await readsBack(type, stub.settings, (sql) => stub.duck.ask(inSchema(sql)));
  });
}
