import assert from 'node:assert/strict';
import { test } from 'node:test';
import { healthOf } from '../../../../src/core/deliver/batch.ts';
import { destinationType as postgres } from '../../../../src/core/deliver/destinations/postgres/destination.ts';
import { mistypedColumns } from '../../../../src/core/deliver/destinations/postgres/failure.ts';
import { plainPool } from '../../../support/database.ts';
import { noPgbouncer, startPgbouncer } from '../../../support/pgbouncer.ts';
import { delivery, reservation, services } from '../../support.ts';
import { limits, setUp } from './support.ts';

/** The tables of a warehouse that its owner changed, and the connections to it. */

test('a schema that was dropped to load it again is created again, also by a running service', async (t) => {
  const { pool, open, rows } = await setUp(t);
  const destination = open();
  await destination.deliver([delivery(reservation('a'))], limits);
  await pool.query('drop schema innbound cascade');
  const [outcome] = await destination.deliver([delivery(reservation('a'))], limits);
  assert.equal(outcome?.kind, 'retry');
  assert.equal((await destination.deliver([delivery(reservation('a'))], limits))[0]?.kind, 'delivered');
  assert.deepEqual(await rows('select id from innbound.reservations'), [{ id: 'a' }]);
});

test('a table that was dropped alone is created again, with the views that were dropped with it', async (t) => {
  const { pool, open, rows } = await setUp(t);
  const objects = () =>
    rows(`select c.relname, c.relkind, obj_description(c.oid) as comment,
                 (select json_agg(json_build_array(attname, format_type(atttypid, atttypmod), attnotnull, col_description(attrelid, attnum))
                                  order by attnum) from pg_attribute where attrelid = c.oid and attnum > 0) as columns
            from pg_class c where relnamespace = 'innbound'::regnamespace order by 1`);
  const destination = open();
  await destination.deliver([delivery(reservation('a', { rooms: [{ room_type: 'DBL' }] }))], limits);
  const before = await objects();
  for (const table of ['reservations', 'guests', 'rooms', 'charges', 'guest_profiles', 'reservation_versions']) {
    await pool.query(`drop table innbound.${table} cascade`);
    const one = delivery(reservation('a'), { version: 2 });
    const profile = { ...one, message: { ...one.message, type: 'guest' as const, data: { id: 'gst_1' } } };
    const [outcome] = await destination.deliver([one, profile], limits);
    assert.ok(outcome?.kind === 'retry' && outcome.code === 'deliver.warehouse_mismatch', JSON.stringify(outcome));
    assert.match(outcome.message, new RegExp(`42P01.*innbound\\.${table}.*innbound resend`));
    const again = delivery(reservation('a', { rooms: [{ room_type: 'SGL' }] }), { version: 2 });
    assert.equal((await destination.deliver([again], limits))[0]?.kind, 'delivered', table);
    assert.deepEqual(await objects(), before, table);
  }
  assert.deepEqual(await rows('select reservation_id, room_type from innbound.rooms'), [
    { reservation_id: 'a', room_type: 'SGL' },
  ]);
});

test('a column of another type is an outage that names it, and deliveries continue once it is corrected', async (t) => {
  const { pool, open } = await setUp(t);
  const destination = open();
  let version = 1;
  const deliver = async () => {
    const record = reservation('r', { channel: 'WEB', rooms: [{ room_type: 'DBL', adults: 2 }] });
    const [outcome] = await destination.deliver([delivery(record, { version })], limits);
    if (outcome?.kind === 'delivered') version += 1;
    return outcome;
  };
  await deliver();
  assert.deepEqual(await mistypedColumns(pool, 'innbound'), [], 'the tables as we create them');
  const changes = [
    ['reservations', 'channel', 'integer using null', 'integer', 'text'],
    ['reservations', 'check_in', 'integer using null', 'integer', 'date'],
    ['reservation_versions', 'channel', 'integer using null', 'integer', 'text'],
    ['rooms', 'adults', 'boolean using null', 'boolean', 'integer'],
    ['rooms', 'room_type', 'character varying(2) using null', 'character varying(2)', 'text'],
  ] as const;
  for (const [table, column, change, is, needed] of changes) {
    const alter = (to: string) =>
      pool
        .query(
          'drop view innbound.bookings, innbound.version_days, innbound.reservation_changes, innbound.rooms_available cascade',
        )
        .catch(() => {})
        .then(() => pool.query(`alter table innbound.${table} alter ${column} type ${to}`));
    await alter(change);
    const outcome = await deliver();
    assert.ok(outcome?.kind === 'retry' && outcome.code === 'deliver.warehouse_mismatch', JSON.stringify(outcome));
    assert.ok(outcome.message.includes(`innbound.${table}.${column} is ${is} instead of ${needed}`), outcome.message);
    assert.doesNotMatch(outcome.message, /WEB|DBL|2027/);
    const health = healthOf([{ record: 'lisbon reservation r', outcome }]);
    assert.ok(health?.kind === 'failed' && health.unreachable, 'no record is to blame, so no tries are used up');
    await alter(`${needed} using null`);
    assert.equal((await deliver())?.kind, 'delivered', `${table}.${column}`);
  }
  // Values that we send fit into these.
  await pool.query('alter table innbound.reservations alter channel type varchar(40), alter version type bigint');
  assert.equal((await deliver())?.kind, 'delivered');
});

test('a batch leaves nothing behind in its connection, so that a pooler may give the next one another connection', async (t) => {
  const { open, rows } = await setUp(t);
  const destination = open();
  for (const version of [1, 2]) {
    const [outcome] = await destination.deliver([delivery(reservation('r'), { version })], limits);
    assert.equal(outcome?.kind, 'delivered');
    assert.deepEqual(await rows(`select relname from pg_class where relpersistence = 't'`), []);
  }
});

for (const mode of ['session', 'transaction'] as const) {
  test(`a warehouse behind pgbouncer in ${mode} mode`, { skip: noPgbouncer }, async (t) => {
    const { open, rows, db } = await setUp(t);
    const bouncer = await startPgbouncer(db, mode, mode === 'session' ? 40 : 2);
    t.after(() => bouncer.stop());
    const nodes = [open({ url: bouncer.url }), open({ url: bouncer.url })];
    for (const version of [1, 2, 3]) {
      const calls = Array.from({ length: 8 }, (_, i) =>
        nodes[i % 2]?.deliver([delivery(reservation(`r${i}`), { version })], limits),
      );
      const outcomes = (await Promise.all(calls)).flat();
      assert.ok(
        outcomes.every((outcome) => outcome?.kind === 'delivered'),
        JSON.stringify(outcomes),
      );
    }
    const counts = await rows('select version, count(*)::int as n from innbound.reservations group by 1');
    assert.deepEqual(counts, [{ version: 3, n: 8 }]);
  });
}

test('a changed structure is an outage with its reason, and deliveries continue once it is restored', async (t) => {
  const { pool, open } = await setUp(t);
  const destination = open();
  let version = 1;
  const deliver = async () => {
    const record = reservation('r', { channel: 'WEB', rooms: [{ room_type: 'DBL' }] });
    const [outcome] = await destination.deliver([delivery(record, { version })], limits);
    if (outcome?.kind === 'delivered') version += 1;
    return outcome;
  };
  await deliver();
  const changes: readonly (readonly [string, string, RegExp])[] = [
    [
      'alter table innbound.reservations rename column channel to sold_by',
      'alter table innbound.reservations rename column sold_by to channel',
      /42703.*"channel"/,
    ],
    ['alter table innbound.rooms rename to stays', 'alter table innbound.stays rename to rooms', /42P01.*rooms/],
    [
      'alter table innbound.reservations drop constraint reservations_pkey',
      'alter table innbound.reservations add primary key (integration, id)',
      /42P10/,
    ],
    [
      'alter table innbound.rooms add column floor int default 0; alter table innbound.rooms alter floor set not null, alter floor drop default',
      'alter table innbound.rooms alter floor set default 0',
      /23502.*"floor".*"rooms"/,
    ],
  ];
  for (const [change, restore, reason] of changes) {
    await pool.query(change);
    const outcome = await deliver();
    assert.ok(outcome?.kind === 'retry' && outcome.code === 'deliver.warehouse_mismatch', JSON.stringify(outcome));
    assert.match(outcome.message, reason);
    const health = healthOf([{ record: 'lisbon reservation r', outcome }]);
    assert.ok(health?.kind === 'failed' && health.unreachable, 'no record is to blame, so no tries are used up');
    assert.equal((await deliver())?.kind, 'retry', change);
    await pool.query(restore);
    assert.equal((await deliver())?.kind, 'delivered', change);
  }
  // What a function of the customer raises may be about one row, and may quote it.
  await pool.query(`create function innbound.check_room() returns trigger language plpgsql as
    $$ begin execute format('select %I', new.room_type); return new; end $$`);
  await pool.query(
    'create trigger t before insert or update on innbound.rooms for each row execute function innbound.check_room()',
  );
  const outcome = await deliver();
  assert.ok(outcome?.kind === 'retry' && outcome.code === 'deliver.server_error', JSON.stringify(outcome));
  assert.doesNotMatch(outcome.message, /DBL/);
});

test('the login needs no right to create schemas, and none to create tables once they exist', async (t) => {
  const { open, db } = await setUp(t);
  const owner = plainPool(db.asSuperuser);
  await owner.query(`create role loader login; create schema innbound authorization loader`);
  const url = db.url.replace(/\/\/\w+@/, '//loader@');
  let version = 0;
  const deliver = async () =>
    (await open({ url }).deliver([delivery(reservation('r'), { version: ++version })], limits))[0];
  assert.equal((await deliver())?.kind, 'delivered');
  await owner.query('alter schema innbound owner to current_user; grant usage on schema innbound to loader');
  assert.equal((await deliver())?.kind, 'delivered');
  await owner.query('revoke insert on innbound.reservations from loader');
  const refused = await deliver();
  assert.ok(refused?.kind === 'retry' && refused.code === 'deliver.warehouse_mismatch', JSON.stringify(refused));
  assert.match(refused.message, /42501.*reservations/);
  await owner.query('drop owned by loader; drop role loader');
  await owner.end();
});

test('prepare creates the tables and proves login, rights and columns without a row', async (t) => {
  const { pool, rows, db } = await setUp(t);
  const offered = services('/');
  t.after(() => offered.close());
  const settings = postgres.settings.parse({ url: db.url });
  const results = async (dryRun = false, given = settings) => {
    const { steps = [], grants = [] } = (await postgres.prepare?.(given, offered, { dryRun })) ?? {};
    assert.ok(grants.length > 0);
    return steps.map(({ result }) => result);
  };
  assert.deepEqual(await results(true), ['exists', 'would_create']);
  assert.deepEqual(await results(), ['exists', 'created', 'exists']);
  assert.deepEqual(await results(), ['exists', 'exists', 'exists']);
  assert.deepEqual(await rows('select from innbound.reservations'), []);
  await pool.query('alter table innbound.reservations drop column channel cascade');
  assert.deepEqual(await results(true), ['exists', 'exists', 'failed']);
  const wrong = postgres.settings.parse({ url: db.url.replace(/\/[^/?]*(\?|$)/, '/no_such_database$1') });
  assert.deepEqual(await results(false, wrong), ['failed']);
});
