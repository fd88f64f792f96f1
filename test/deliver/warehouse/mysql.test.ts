import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { destinationType as mysql } from '../../../src/core/deliver/destinations/mysql/destination.ts';
import type { Delivery } from '../../../src/core/deliver/message.ts';
import { limits } from '../destinations/postgres/support.ts';
import { delivery, reservation, services } from '../support.ts';
import { noMariadb, startMariadb } from './mariadb.ts';

describe('mysql on MariaDB: what an operator meets', { skip: noMariadb }, () => {
  let server: Awaited<ReturnType<typeof startMariadb>>;
  before(async () => {
    server = await startMariadb();
  });
  after(() => server.stop());
  let count = 0;
  const offered = services('/');
  after(() => offered.close());

  async function setUp(change: { login?: string; password?: string } = {}) {
    const name = `faults${++count}`;
    await server.database(name);
    const settings = mysql.settings.parse({ url: server.url(name, change.login, change.password) });
    const destination = mysql.open(settings, offered);
    const deliver = async (...batch: readonly Delivery[]) => destination.deliver(batch, limits);
    const said = async (...batch: readonly Delivery[]) => {
      const [outcome] = await deliver(...batch);
      return `${outcome?.kind} ${outcome && 'code' in outcome ? `${outcome.code}: ${outcome.message}` : ''}`;
    };
    const rows = (sql: string) =>
      server.query(`use ${name}; ${sql}`).then((all) => all.at(-1) as unknown as Record<string, unknown>[]);
    return { name, settings, destination, deliver, said, rows };
  }

  test('prepare creates the tables, proves the rights without a row, and says the least grants', async () => {
    const { settings, rows, destination } = await setUp();
    const prepare = (dryRun: boolean) => mysql.prepare?.(settings, offered, { dryRun });
    const planned = await prepare(true);
    assert.ok(planned?.steps.some(({ what, result }) => what === 'table reservations' && result === 'would_create'));
    const made = await prepare(false);
    assert.ok(
      made?.steps.every(({ result }) => result === 'exists' || result === 'created'),
      JSON.stringify(made),
    );
    assert.match(made?.grants?.join('\n') ?? '', /GRANT SELECT, INSERT, UPDATE/);
    const again = await prepare(false);
    assert.ok(
      again?.steps.every(({ result }) => result === 'exists'),
      JSON.stringify(again),
    );
    for (const table of ['reservations', 'reservation_versions', 'brands', 'runs', 'guest_profiles']) {
      assert.equal((await rows(`select * from ${table}`)).length, 0, table);
    }
    await destination.close();
  });

  test('the views have one row per item, with its position from 0, and leave out what has left', async () => {
    const { deliver, rows, destination } = await setUp();
    const guests = [
      { first_name: 'Ana', email: 'ana@guests.example', marketing_consent: true, extra: { tier: 'gold' } },
      { first_name: 'Zoë 🎉', date_of_birth: '1988-11-30', email_proxy: true as const },
    ];
    const charges = [{ code: 'ROOM', amount: '12345678901234567.89', quantity: 2, charge_date: '2026-12-01' }];
    await deliver(
      delivery(reservation('r', { guests, charges })),
      delivery(reservation('gone'), { event: 'removed', version: 2 }),
    );
    assert.deepEqual(
      await rows(
        'select reservation_id, position, first_name, email, date_of_birth, email_proxy, marketing_consent from guests order by position',
      ),
      [
        {
          reservation_id: 'r',
          position: 0,
          first_name: 'Ana',
          email: 'ana@guests.example',
          date_of_birth: null,
          email_proxy: null,
          marketing_consent: 1,
        },
        {
          reservation_id: 'r',
          position: 1,
          first_name: 'Zoë 🎉',
          email: null,
          date_of_birth: new Date(1988, 10, 30),
          email_proxy: 1,
          marketing_consent: null,
        },
      ],
    );
    const [charge] = await rows('select position, code, cast(amount as char) as amount, quantity from charges');
    assert.deepEqual(charge, { position: 0, code: 'ROOM', amount: '12345678901234567.890000000', quantity: 2 });
    assert.deepEqual(await rows('select room_type, adults from rooms'), [{ room_type: 'DBL', adults: 2 }]);
    assert.match(String((await rows('select extra from guests where position = 0'))[0]?.extra), /"tier":\s*"gold"/);
    await destination.close();
  });

  test('an older version, and one of an older epoch, change nothing', async () => {
    const { deliver, rows, destination } = await setUp();
    for (const [epoch, version, amount] of [
      [1, 3, '3'],
      [1, 2, '2'],
      [2, 1, '21'],
      [1, 9, '9'],
    ] as const) {
      await deliver(delivery(reservation('r', { total_amount: amount }), { epoch, version }));
    }
    assert.deepEqual(await rows('select epoch, version, cast(total_amount as signed) as amount from reservations'), [
      { epoch: 2, version: 1, amount: 21 },
    ]);
    const versions = await rows('select epoch, version from reservation_versions order by epoch, version');
    assert.deepEqual(
      versions.map((row) => `${row.epoch}.${row.version}`),
      ['1.2', '1.3', '1.9', '2.1'],
    );
    await destination.close();
  });

  test('an erasure also cleans the texts of earlier versions, and does not bring back what has left', async () => {
    const { deliver, rows, destination } = await setUp();
    const named = reservation('r', { segment: 'party of Ana Exemplo', channel: 'direct' });
    await deliver(delivery(named));
    await deliver(delivery({ id: 'r' } as never, { event: 'removed', version: 2 }));
    const erased = {
      ...delivery({ ...named, segment: 'group', guests: [] }, { event: 'erased', version: 3 }),
      erased: named.guests,
    };
    await deliver(erased);
    assert.deepEqual(await rows('select version, segment, channel from reservation_versions order by version'), [
      { version: 1, segment: null, channel: 'direct' },
      { version: 2, segment: null, channel: null },
      { version: 3, segment: 'group', channel: 'direct' },
    ]);
    assert.deepEqual(await rows('select guests, removed_at is null as is_back from reservations'), [
      { guests: null, is_back: 0 },
    ]);
    await destination.close();
  });

  test('an amount that the engine would round is refused alone, before it is sent', async () => {
    const { deliver, destination } = await setUp();
    const outcomes = await deliver(
      delivery(reservation('good')),
      delivery(reservation('bad', { total_amount: '1.0123456789' })),
    );
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['delivered', 'dead'],
    );
    assert.match(JSON.stringify(outcomes[1]), /total_amount has more than 29 digits before the point or 9 after it/);
    await destination.close();
  });

  test('a wrong password, a missing right, a dropped table and a changed column are said in a sentence', async () => {
    const wrong = await setUp({ password: 'nope' });
    assert.match(
      await wrong.said(delivery(reservation('r'))),
      /^retry deliver\.auth_failed: The warehouse refuses the login or a right: ER_ACCESS_DENIED_ERROR \(1045\)/,
    );
    await wrong.destination.close();

    const { name, settings, said, rows, destination } = await setUp();
    assert.match(await said(delivery(reservation('r'))), /^delivered/);
    await rows('drop table reservations');
    assert.match(await said(delivery(reservation('r2'))), /^delivered/, 'a dropped table is created again');
    await rows('alter table reservations drop column channel');
    assert.match(await said(delivery(reservation('r3', { channel: 'direct' }))), /^delivered/, 'a dropped column, too');
    assert.equal((await rows('select channel from reservations where id = "r3"'))[0]?.channel, 'direct');
    await rows('alter table reservations modify check_in int');
    assert.match(
      await said(delivery(reservation('r4'))),
      /^retry deliver\.warehouse_mismatch: reservations\.check_in is int instead of DATE; change it back/,
    );
    await rows(
      `alter table reservations modify check_in date; revoke insert on ${name}.* from 'innbound'@'%'; flush privileges`,
    );
    // The server reads the rights of a database when a session begins.
    const later = mysql.open(settings, offered);
    const [denied] = await later.deliver([delivery(reservation('r5'))], limits);
    assert.match(
      JSON.stringify(denied),
      /"deliver.auth_failed","message":"The warehouse refuses the login or a right: ER_TABLEACCESS_DENIED_ERROR/,
    );
    await later.close();
    await destination.close();
  });

  test('a server that was killed takes the work again, each version once', async () => {
    const { deliver, rows, destination } = await setUp();
    const batch = Array.from({ length: 60 }, (_, i) => delivery(reservation(`r${i}`)));
    await deliver(...batch);
    await server.kill();
    const [away] = await deliver(...batch);
    assert.match(JSON.stringify(away), /"kind":"retry","code":"deliver.unreachable"/);
    await server.start();
    assert.ok((await deliver(...batch)).every(({ kind }) => kind === 'delivered'));
    assert.equal((await rows('select 1 from reservations')).length, 60);
    assert.equal((await rows('select 1 from reservation_versions')).length, 60);
    await destination.close();
  });

  test('parts by bytes: more than one statement takes is several, and one record that no statement takes is refused', async () => {
    const { deliver, rows, destination } = await setUp();
    const large = (id: string, bytes: number) => delivery(reservation(id, { extra: { text: 'x'.repeat(bytes) } }));
    const outcomes = await deliver(large('a', 5_000_000), large('b', 5_000_000), large('c', 9_000_000));
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['delivered', 'delivered', 'dead'],
    );
    assert.match(JSON.stringify(outcomes[2]), /a statement of this engine takes 8000000/);
    assert.equal((await rows('select 1 from reservations')).length, 2);
    await destination.close();
  });

  test('brands and runs are rows like any other, and are replaced by key', async () => {
    const { settings, rows, destination } = await setUp();
    const brand = {
      integration: 'lisbon',
      brand_id: 'LIS01',
      timezone: 'Europe/Lisbon',
      last_run_at: '2026-11-15T12:00:00.000Z',
      complete_until: '2026-12-31',
    };
    const run = {
      integration: 'lisbon',
      run_id: 'run_1',
      kind: 'scheduled',
      state: 'complete',
      fetched: '12',
      dead_letters: '{"record.no_id":2}',
    };
    for (const last of ['2026-11-15T12:00:00.000Z', '2026-11-15T13:00:00.000Z']) {
      const outcome = await mysql.writeState?.(settings, offered, {
        brands: [{ ...brand, last_event_at: last }],
        runs: [run],
      });
      assert.equal(outcome?.kind, 'delivered', JSON.stringify(outcome));
    }
    assert.deepEqual(
      await rows(
        'select timezone, cast(last_event_at as char) as at, cast(complete_until as char) as until from brands',
      ),
      [{ timezone: 'Europe/Lisbon', at: '2026-11-15 13:00:00.000', until: '2026-12-31' }],
    );
    assert.deepEqual(await rows('select run_id, fetched, dead_letters from runs'), [
      { run_id: 'run_1', fetched: 12, dead_letters: '{"record.no_id":2}' },
    ]);
    await destination.close();
  });
});
