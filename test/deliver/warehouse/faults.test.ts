import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { drainOnce } from '../../../src/core/deliver/deliveries.ts';
import type { DestinationType, Outcome } from '../../../src/core/deliver/destination.ts';
import { destinationType as bigquery } from '../../../src/core/deliver/destinations/bigquery/destination.ts';
import { destinationType as databricks } from '../../../src/core/deliver/destinations/databricks/destination.ts';
import { destinationType as motherduck } from '../../../src/core/deliver/destinations/motherduck/destination.ts';
import { destinationType as redshift } from '../../../src/core/deliver/destinations/redshift/destination.ts';
import { destinationType as snowflake } from '../../../src/core/deliver/destinations/snowflake/destination.ts';
import { destinationType as sqlserver } from '../../../src/core/deliver/destinations/sqlserver/destination.ts';
import type { Delivery } from '../../../src/core/deliver/message.ts';
import type { DeliverPorts } from '../../../src/core/deliver/ports.ts';
import { testDatabase } from '../../support/database.ts';
import { until } from '../../support/process.ts';
import { erase } from '../conformance.ts';
import { limits } from '../destinations/postgres/support.ts';
import { config, delivery, lane, openStore, ports, reservation, services, takeIn } from '../support.ts';
import type { Duck } from './duck.ts';
import { bigqueryStub, databricksStub, type Fault, snowflakeStub } from './stubs.ts';
import { startSqlServer } from './tds.ts';
import { startDuckWire, startRedshift } from './wire.ts';

/** What an engine answers, and what that means for the batch; what it holds afterwards. */

interface Engine {
  readonly settings: Record<string, unknown>;
  /** In place of the right login. */
  readonly wrongLogin: Record<string, unknown>;
  readonly duck: Pick<Duck, 'ask'>;
  /** Makes the next statement fail so, where the engine has such a failure. */
  readonly fail: Partial<Record<Fault, () => void>>;
  /** What somebody does to the tables by hand. */
  readonly byHand: { readonly dropColumn: string; readonly changeType: string };
  close(): Promise<void>;
}

const inDuck = {
  dropColumn: 'create or replace table innbound.reservations as select * exclude (channel) from innbound.reservations',
  changeType: `create or replace table innbound.reservations as select * replace (cast(null as integer) as check_in) from innbound.reservations`,
};

const failing = <Code>(faults: Code[], codes: Partial<Record<Fault, Code>>): Engine['fail'] =>
  Object.fromEntries(Object.entries(codes).map(([fault, code]) => [fault, () => void faults.push(code as Code)]));

/** In its own words, as the stub gives them. */
const inWords = (faults: Fault[], ...known: Fault[]): Engine['fail'] =>
  failing(faults, Object.fromEntries(known.map((fault) => [fault, fault])));

async function bigqueryEngine(): Promise<Engine> {
  const stub = await bigqueryStub();
  const fail = inWords(stub.faults, '429', '503', 'forbidden', 'quota', 'conflict', 'lost', 'unauthorized');
  const wrongLogin = { credentials: String(stub.settings.credentials).replace('loader@', 'other@') };
  return { ...stub, wrongLogin, fail, byHand: inDuck, duck: stub.duck };
}

async function snowflakeEngine(): Promise<Engine> {
  const stub = await snowflakeStub();
  const fail = inWords(stub.faults, '429', '503', 'forbidden', 'conflict', 'lost');
  return { ...stub, wrongLogin: { user: 'other' }, fail, byHand: inDuck, duck: stub.duck };
}

async function databricksEngine(): Promise<Engine> {
  const stub = await databricksStub();
  const fail = inWords(stub.faults, '429', '503', 'forbidden', 'conflict', 'lost');
  return { ...stub, wrongLogin: { token: 'other' }, fail, byHand: inDuck, duck: stub.duck };
}

async function motherduckEngine(): Promise<Engine> {
  const server = await startDuckWire('token');
  return {
    settings: { token: 'token', database: 'hotels', endpoint: server.endpoint },
    wrongLogin: { token: 'other' },
    duck: server,
    fail: failing(server.faults, { '503': '57P03', forbidden: '42501', conflict: '40001' }),
    byHand: inDuck,
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
    wrongLogin: { url: `redshift://u:other@127.0.0.1:${server.port}/hotels` },
    duck: { ask },
    fail: failing(server.faults, { '503': '57P03', forbidden: '42501', conflict: '40001' }),
    byHand: {
      dropColumn: 'alter table innbound.reservations drop column channel cascade',
      changeType: 'alter table innbound.reservations alter column check_in type integer using null',
    },
    close: () => server.stop(),
  };
}

async function sqlserverEngine(): Promise<Engine> {
  const server = await startSqlServer('u', 'p@ss');
  return {
    settings: { url: `sqlserver://u:p%40ss@127.0.0.1:${server.port}/hotels` },
    wrongLogin: { url: `sqlserver://u:other@127.0.0.1:${server.port}/hotels` },
    duck: server.duck,
    fail: failing(server.faults, { quota: 40501, forbidden: 229, conflict: 1205 }),
    byHand: inDuck,
    close: () => server.stop(),
  };
}

/** What each failure means for the batch, with the next step in the sentence. */
const denied =
  /^retry deliver\.auth_failed: The warehouse refuses the login or a right: .*; check the credentials and the grants/;
const wait = /^retry deliver\.rate_limited free: The warehouse is busy: .*; (?:the rows wait|wait for the quota)/;
const away = /^retry deliver\.unreachable: The warehouse cannot be reached: .*; deliveries wait until it answers\.$/;
const meanings: Readonly<Record<Fault, RegExp>> = {
  '429': wait,
  '503': away,
  lost: away,
  forbidden: denied,
  quota: wait,
  conflict: wait,
  // Another token is asked for.
  unauthorized: /^delivered$/,
};

for (const [name, type, make] of [
  ['bigquery', bigquery, bigqueryEngine],
  ['snowflake', snowflake, snowflakeEngine],
  ['databricks', databricks, databricksEngine],
  ['motherduck', motherduck, motherduckEngine],
  ['redshift', redshift, redshiftEngine],
  ['sqlserver', sqlserver, sqlserverEngine],
] as [string, DestinationType, () => Promise<Engine>][]) {
  describe(name, () => {
    async function open(t: TestContext) {
      const made = await make();
      let closed: Promise<void> | undefined;
      const close = () => (closed ??= made.close());
      const stub = { ...made, close };
      const offered = services('/');
      const settings = type.settings.parse(stub.settings);
      const destination = type.open(settings, offered);
      t.after(async () => {
        await destination.close();
        await offered.close();
        await close();
      });
      const deliver = (...batch: readonly Delivery[]) => destination.deliver(batch, limits);
      /** By another opening. */
      const saidBy = async (by: Record<string, unknown>) => {
        const other = type.open(type.settings.parse(by), offered);
        const [outcome] = await other.deliver([delivery(reservation('other'))], limits);
        await other.close();
        return sentence(outcome);
      };
      const said = async (...batch: readonly Delivery[]) => sentence((await deliver(...batch))[0]);
      const sentence = (outcome: Outcome | undefined) => {
        if (outcome?.kind !== 'retry' && outcome?.kind !== 'dead') return String(outcome?.kind);
        const free = outcome.kind === 'retry' && outcome.free ? ' free' : '';
        return `${outcome.kind} ${outcome.code}${free}: ${outcome.message}`;
      };
      return { stub, settings, offered, deliver, said, saidBy };
    }

    test('each failure is one sentence with the next step, and afterwards the work arrives, once', async (t) => {
      const { stub, said, saidBy } = await open(t);
      assert.match(await saidBy({ ...stub.settings, ...stub.wrongLogin }), denied);
      assert.equal(await said(delivery(reservation('first'))), 'delivered');
      for (const [fault, fail] of Object.entries(stub.fail) as [Fault, () => void][]) {
        fail();
        const one = delivery(reservation(`r-${fault}`));
        assert.match(await said(one), meanings[fault], fault);
        assert.equal(await said(one), 'delivered', `${fault}, again`);
      }
      const rows = await stub.duck.ask('select id, count(*) as n from innbound.reservations group by id');
      assert.equal(rows.length, 1 + Object.keys(stub.fail).length);
      assert.ok(rows.every(({ n }) => n === '1'));
      const versions = await stub.duck.ask('select id from innbound.reservation_versions');
      assert.equal(versions.length, rows.length);
    });

    test('a dropped column comes back, and a changed type is named', async (t) => {
      const { stub, said, saidBy } = await open(t);
      assert.equal(await said(delivery(reservation('first'))), 'delivered');
      await stub.duck.ask(stub.byHand.dropColumn);
      assert.equal(await said(delivery(reservation('r', { channel: 'direct' }))), 'delivered');
      const [row] = await stub.duck.ask(`select channel from innbound.reservations where id = 'r'`);
      assert.equal(row?.channel, 'direct');
      await stub.duck.ask(stub.byHand.changeType);
      assert.match(
        await saidBy(stub.settings),
        /^retry deliver\.warehouse_mismatch: reservations\.check_in is integer instead of DATE; change it back/,
      );
    });

    test('an engine that has gone costs no try', async (t) => {
      const { stub, saidBy } = await open(t);
      await stub.close();
      assert.match(await saidBy(stub.settings), away);
    });

    test('sixty bookings in three versions each, a node that dies, an engine that is away, a refused value, an erasure', async (t) => {
      const { stub, settings, offered } = await open(t);
      const { pool, close } = await openStore();
      t.after(close);
      const ids = Array.from({ length: 60 }, (_, i) => `R-${i}`);
      const change = (amount: string, some = ids) =>
        takeIn(
          pool,
          some.map((id) => reservation(id, { total_amount: amount })),
          ['it'],
        );
      const drain = async (cut: Partial<DeliverPorts['store']> = {}) => {
        await pool.query(`update outbox set due_at = now() where due_at is not null`);
        await pool.query(`update remotes set probe_at = now() where state <> 'closed'`);
        const { store, ...rest } = ports(pool, [lane(config('it', { batch: 40 }))], {
          it: type.open(settings, offered),
        });
        await drainOnce({ ...rest, store: { ...store, ...cut } });
      };
      await change('1');
      await drain({ settle: async () => [] });
      await change('2');
      await change('3');
      await change('1.0123456789', ['refused']);
      stub.fail['503']?.();
      await until('everything is delivered', async () => {
        await drain();
        return (await pool.query('select from outbox where due_at is not null')).rowCount === 0;
      });
      await erase(pool, 'R-0');
      await drain();
      assert.deepEqual((await pool.query('select max(attempt) as tries from outbox')).rows, [{ tries: 0 }]);
      assert.deepEqual((await pool.query('select id, code from dead_letters')).rows, [
        { id: 'refused', code: 'deliver.refused' },
      ]);
      const rows = await stub.duck.ask('select id, version, event, guests from innbound.reservations');
      const [erased, ...others] = rows.toSorted((a, b) => (a.event === 'erased' ? -1 : b.event === 'erased' ? 1 : 0));
      assert.deepEqual([erased?.id, erased?.version, erased?.guests], ['R-0', '4', null]);
      assert.deepEqual(new Set(others.map(({ id }) => id)), new Set(ids.slice(1)));
      assert.deepEqual(new Set(others.map(({ version }) => version)), new Set(['3']));
      const versions = await stub.duck.ask('select id, version from innbound.reservation_versions');
      assert.equal(new Set(versions.map(({ id, version }) => `${id} ${version}`)).size, versions.length);
      assert.equal(versions.length, 3 * ids.length + 1);
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
      stub.fail.forbidden?.();
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
