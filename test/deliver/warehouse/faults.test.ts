import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { DestinationType } from '../../../src/deliver/destination.ts';
import { destinationType as bigquery } from '../../../src/deliver/destinations/bigquery/destination.ts';
import { destinationType as databricks } from '../../../src/deliver/destinations/databricks/destination.ts';
import { destinationType as motherduck } from '../../../src/deliver/destinations/motherduck/destination.ts';
import { destinationType as redshift } from '../../../src/deliver/destinations/redshift/destination.ts';
import { destinationType as snowflake } from '../../../src/deliver/destinations/snowflake/destination.ts';
import { destinationType as sqlserver } from '../../../src/deliver/destinations/sqlserver/destination.ts';
import type { Delivery } from '../../../src/deliver/message.ts';
import { testDatabase } from '../../support/database.ts';
import { limits } from '../destinations/postgres/support.ts';
import { delivery, reservation, services } from '../support.ts';
import type { Duck } from './duck.ts';
import { bigqueryStub, databricksStub, type Fault, snowflakeStub } from './stubs.ts';
import { startSqlServer } from './tds.ts';
import { startDuckWire, startRedshift } from './wire.ts';

/** What an engine answers, and what that means for the batch; what it holds afterwards. */

const meanings: Readonly<Record<Fault, RegExp>> = {
  '429': /^retry deliver\.rate_limited free/,
  '503': /^retry deliver\.unreachable/,
  lost: /^retry deliver\.unreachable/,
  unauthorized: /^(?:delivered|retry deliver\.auth_failed)/,
  forbidden: /^retry deliver\.auth_failed/,
  quota: /^retry deliver\.rate_limited free|^delivered/,
  conflict: /^retry deliver\.rate_limited free/,
};

interface Engine {
  readonly settings: Record<string, unknown>;
  readonly duck: Pick<Duck, 'ask'>;
  /** Absent where the engine has no answers over HTTP. */
  readonly faults?: Fault[];
  close(): Promise<void>;
}

async function motherduckEngine(): Promise<Engine> {
  const server = await startDuckWire('token');
  return {
    settings: { token: 'token', database: 'hotels', endpoint: server.endpoint },
    duck: server,
    close: () => server.stop(),
  };
}

async function redshiftEngine(): Promise<Engine> {
  const { connection } = await testDatabase({ empty: true });
  const server = await startRedshift('p@ss', connection);
  const ask: Duck['ask'] = async (sql) =>
    (await server.query(sql)).map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          value == null ? null : typeof value === 'object' ? JSON.stringify(value) : String(value),
        ]),
      ),
    );
  return {
    settings: { url: `redshift://u:p%40ss@127.0.0.1:${server.port}/hotels` },
    duck: { ask },
    close: () => server.stop(),
  };
}

async function sqlserverEngine(): Promise<Engine> {
  const server = await startSqlServer('u', 'p@ss');
  return {
    settings: { url: `sqlserver://u:p%40ss@127.0.0.1:${server.port}/hotels` },
    duck: server.duck,
    close: () => server.stop(),
  };
}

for (const [name, type, make] of [
  ['bigquery', bigquery, bigqueryStub],
  ['snowflake', snowflake, snowflakeStub],
  ['databricks', databricks, databricksStub],
  ['motherduck', motherduck, motherduckEngine],
  ['redshift', redshift, redshiftEngine],
  ['sqlserver', sqlserver, sqlserverEngine],
] as [string, DestinationType, () => Promise<Engine>][]) {
  describe(name, () => {
    async function open(t: TestContext) {
      const stub = await make();
      const offered = services('/');
      const settings = type.settings.parse(stub.settings);
      const destination = type.open(settings, offered);
      t.after(async () => {
        await destination.close();
        await offered.close();
        await stub.close();
      });
      const deliver = (...batch: readonly Delivery[]) => destination.deliver(batch, limits);
      const said = async (...batch: readonly Delivery[]) => {
        const [outcome] = await deliver(...batch);
        if (outcome?.kind !== 'retry' && outcome?.kind !== 'dead') return String(outcome?.kind);
        const free = outcome.kind === 'retry' && outcome.free ? ' free' : '';
        return `${outcome.kind} ${outcome.code}${free}: ${outcome.message}`;
      };
      return { stub, settings, offered, deliver, said };
    }

    test('each answer has one meaning, costs no try where nobody is to blame, and the work arrives afterwards, once', async (t) => {
      const { stub, said } = await open(t);
      const { faults } = stub;
      if (faults === undefined) return t.skip('not over HTTP');
      assert.equal(await said(delivery(reservation('first'))), 'delivered');
      for (const [fault, expected] of Object.entries(meanings) as [Fault, RegExp][]) {
        faults.push(fault);
        const one = delivery(reservation(`r-${fault}`));
        assert.match(await said(one), expected, fault);
        faults.length = 0;
        assert.equal(await said(one), 'delivered', `${fault}, again`);
      }
      const rows = await stub.duck.ask('select id, count(*) as n from innbound.reservations group by id');
      assert.equal(rows.length, 1 + Object.keys(meanings).length);
      assert.ok(rows.every(({ n }) => n === '1'));
      const versions = await stub.duck.ask('select id from innbound.reservation_versions');
      assert.equal(versions.length, rows.length);
    });

    test('prepare proves login, rights and columns without a row, and names the least grants', async (t) => {
      const { stub, settings, offered } = await open(t);
      for (const dryRun of [true, false, false]) {
        const prepared = await type.prepare?.(settings, offered, { dryRun });
        assert.ok(
          prepared?.steps.every(({ result }) => result !== 'failed'),
          JSON.stringify(prepared),
        );
        assert.ok((prepared?.grants?.length ?? 0) >= 2);
      }
      assert.deepEqual(await stub.duck.ask('select * from innbound.reservations'), []);
      if (stub.faults === undefined) return;
      stub.faults.push('forbidden');
      const refused = await type.prepare?.(settings, offered, { dryRun: false });
      assert.equal(refused?.steps.at(-1)?.result, 'failed');
      assert.match(refused?.steps.at(-1)?.message ?? '', /right|login/);
    });

    test('views, older versions, erasures of texts, and every character', async (t) => {
      const { stub, deliver } = await open(t);
      const guests = [
        { first_name: `O'Neil "Zoë" \\ 🎉\nline`, email: 'a@guests.example', extra: { tier: 'gold' } },
        { last_name: 'B' },
      ];
      const named = reservation('r', {
        guests,
        segment: 'party of a@guests.example',
        channel: "d'Or",
        total_amount: '99999999999999999999.123456789',
      });
      await deliver(delivery(named, { version: 2 }));
      await deliver(delivery(reservation('r', { total_amount: '1' })));
      const [row] = await stub.duck.ask('select version, total_amount, channel from innbound.reservations');
      assert.deepEqual(row, { version: '2', total_amount: '99999999999999999999.123456789', channel: "d'Or" });
      const seen = await stub.duck.ask(
        'select reservation_id, position, first_name, last_name from innbound.guests order by position',
      );
      assert.deepEqual(seen, [
        { reservation_id: 'r', position: '0', first_name: guests[0]?.first_name ?? '', last_name: null },
        { reservation_id: 'r', position: '1', first_name: null, last_name: 'B' },
      ]);
      assert.equal((await stub.duck.ask('select amount from innbound.charges'))[0]?.amount, '1250.500000000');
      const erasure = delivery({ ...named, guests: [], segment: 'x' }, { version: 3, event: 'erased' });
      const [outcome] = await deliver({ ...erasure, erased: guests });
      assert.equal(outcome?.kind, 'delivered', JSON.stringify(outcome));
      const left = JSON.stringify([
        await stub.duck.ask('select * from innbound.reservations'),
        await stub.duck.ask('select * from innbound.reservation_versions'),
      ]);
      assert.doesNotMatch(left, /guests\.example|Zoë/);
      assert.match(left, /d'Or/);
    });

    test('a batch is cut to what a statement takes', async (t) => {
      const { stub, deliver } = await open(t);
      const batch = Array.from({ length: 40 }, (_, i) =>
        delivery(reservation(`r${i}`, { extra: { text: 'x'.repeat(60_000) } })),
      );
      const outcomes = await deliver(...batch);
      assert.ok(
        outcomes.every(({ kind }) => kind === 'delivered'),
        JSON.stringify(outcomes[0]),
      );
      assert.equal((await stub.duck.ask('select 1 from innbound.reservations')).length, 40);
    });
  });
}

for (const [name, type, make] of [
  ['bigquery', bigquery, bigqueryStub],
  ['snowflake', snowflake, snowflakeStub],
] as [string, DestinationType, typeof bigqueryStub][]) {
  test(`${name}: a clock that is wrong by minutes is said`, async (t) => {
    const stub = await make();
    stub.skewMs = -7 * 60_000;
    const offered = services('/');
    const destination = type.open(type.settings.parse(stub.settings), offered);
    t.after(async () => {
      await destination.close();
      await offered.close();
      await stub.close();
    });
    const [outcome] = await destination.deliver([delivery(reservation('r'))], limits);
    assert.match(
      JSON.stringify(outcome),
      /"deliver\.auth_failed".*our clock is 7 min ahead of theirs: correct the clock/,
    );
  });
}
