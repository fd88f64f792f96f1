import { after, before, describe } from 'node:test';
import type { DestinationType } from '../../../src/core/deliver/destination.ts';
import { destinationType as bigquery } from '../../../src/core/deliver/destinations/bigquery/destination.ts';
import { destinationType as databricks } from '../../../src/core/deliver/destinations/databricks/destination.ts';
import { destinationType as motherduck } from '../../../src/core/deliver/destinations/motherduck/destination.ts';
import { destinationType as mysql } from '../../../src/core/deliver/destinations/mysql/destination.ts';
import { destinationType as redshift } from '../../../src/core/deliver/destinations/redshift/destination.ts';
import { destinationType as snowflake } from '../../../src/core/deliver/destinations/snowflake/destination.ts';
import { destinationType as sqlserver } from '../../../src/core/deliver/destinations/sqlserver/destination.ts';
import { testDatabase } from '../../support/database.ts';
import { conformance } from '../conformance.ts';
import { noMariadb, startMariadb } from './mariadb.ts';
import { bigqueryStub, databricksStub, snowflakeStub } from './stubs.ts';
import { warehouse } from './subject.ts';
import { startSqlServer } from './tds.ts';
import { startDuckWire, startRedshift } from './wire.ts';

describe('mysql on MariaDB', { skip: noMariadb }, () => {
  let server: Awaited<ReturnType<typeof startMariadb>>;
  let count = 0;
  before(async () => {
    server = await startMariadb();
  });
  after(() => server.stop());
  conformance(
    'mysql',
    async () => {
      const name = `stays${++count}`;
      await server.database(name);
      return warehouse(
        mysql,
        { url: server.url(name) },
        {
          effects: () => server.query(`select * from ${name}.reservations order by loaded_at`),
          refuse: async (id) =>
            void (await server.query(`alter table ${name}.reservations add constraint refused check (id <> '${id}')`)),
          close: async () => {},
        },
      );
    },
    { batch: 100 },
  );
});

conformance(
  'motherduck (DuckDB behind its protocol)',
  async () => {
    const server = await startDuckWire('secret-token');
    const settings = { token: 'secret-token', database: 'stays', schema: 'innbound', endpoint: server.endpoint };
    return warehouse(motherduck, settings, {
      effects: () => server.ask('select * from innbound.reservations order by loaded_at'),
      refuse: async (id) =>
        server.refuseWith((sql, [rows = '']) =>
          sql.startsWith('MERGE') && rows?.includes(`"id":"${id}"`) ? '22P02' : undefined,
        ),
      close: () => server.stop(),
    });
  },
  { batch: 100 },
);

conformance(
  'redshift (on PostgreSQL)',
  async () => {
    const { connection } = await testDatabase({ empty: true });
    const server = await startRedshift('p@ss', connection);
    const settings = { url: `redshift://innbound:p%40ss@127.0.0.1:${server.port}/stays`, schema: 'stays' };
    return warehouse(redshift, settings, {
      effects: () => server.query('select * from stays.reservations order by loaded_at'),
      refuse: async (id) =>
        void (await server.query(
          `alter table stays.reservations add constraint refused check (id <> '${id}') not valid`,
        )),
      close: () => server.stop(),
    });
  },
  { batch: 100 },
);

conformance(
  'sqlserver (a stub of its protocol that executes)',
  async () => {
    const server = await startSqlServer('innbound', 'p@ss');
    return warehouse(
      sqlserver,
      { url: `sqlserver://innbound:p%40ss@127.0.0.1:${server.port}/stays` },
      {
        effects: () => server.duck.ask('select * from innbound.reservations order by loaded_at'),
        refuse: async (id) => {
          server.refused = id;
        },
        close: () => server.stop(),
      },
    );
  },
  { batch: 100 },
);

for (const [name, type, make] of [
  ['bigquery', bigquery, bigqueryStub],
  ['snowflake', snowflake, snowflakeStub],
  ['databricks', databricks, databricksStub],
] as [string, DestinationType, typeof bigqueryStub][]) {
  conformance(
    `${name} (a stub that executes)`,
    async () => {
      const stub = await make();
      return warehouse(type, stub.settings, {
        effects: () => stub.duck.ask('select * from innbound.reservations order by loaded_at'),
        refuse: async (id) => {
          stub.refused = id;
        },
        close: () => stub.close(),
      });
    },
    { batch: 100 },
  );
}
