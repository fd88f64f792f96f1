import { after, before, describe } from 'node:test';
import type { DestinationServices, DestinationType } from '../../../src/deliver/destination.ts';
import { destinationType as bigquery } from '../../../src/deliver/destinations/bigquery/destination.ts';
import { destinationType as databricks } from '../../../src/deliver/destinations/databricks/destination.ts';
import { destinationType as motherduck } from '../../../src/deliver/destinations/motherduck/destination.ts';
import { destinationType as mysql } from '../../../src/deliver/destinations/mysql/destination.ts';
import { destinationType as snowflake } from '../../../src/deliver/destinations/snowflake/destination.ts';
import { conformance, type Effect, type Subject } from '../conformance.ts';
import { services } from '../support.ts';
import { startDuckWire } from './duck-wire.ts';
import { noMariadb, startMariadb } from './mariadb.ts';
import { bigqueryStub, databricksStub, snowflakeStub } from './stubs.ts';

/** What a warehouse holds, as the conformance suite compares it. */
function effectOf(row: Record<string, unknown>): Effect {
  return {
    id: String(row.id),
    version: Number(row.version),
    key: String(row.idempotency_key),
    event: String(row.event),
    data: `${row.guests ?? ''}${row.status ?? ''} "total_amount":${String(row.total_amount).replace(/\.?0+$/, '')}`,
  };
}

function warehouse<Settings>(
  type: DestinationType<Settings>,
  settings: Record<string, unknown>,
  rest: { effects(): Promise<Record<string, unknown>[]>; refuse(id: string): Promise<void>; close(): Promise<void> },
): Subject {
  const offered = services('/');
  const opened: { close(): Promise<void> }[] = [];
  return {
    newestOnly: true,
    async open(given: DestinationServices = offered) {
      const destination = type.open(type.settings.parse(settings), given);
      opened.push(destination);
      return { deliver: (...asked) => destination.deliver(...asked), close: async () => {} };
    },
    effects: async () => (await rest.effects()).map(effectOf),
    refuse: rest.refuse,
    async close() {
      await Promise.all(opened.map((one) => one.close()));
      await offered.close();
      await rest.close();
    },
  };
}

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
          sql.startsWith('MERGE') && rows.includes(`"id":"${id}"`) ? '22P02' : undefined,
        ),
      close: () => server.stop(),
    });
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
