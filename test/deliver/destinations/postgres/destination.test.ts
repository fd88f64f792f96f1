import assert from 'node:assert/strict';
import { test } from 'node:test';
import { delivery, reservation } from '../../support.ts';
import { limits, setUp } from './support.ts';

test('rows are replaced by newer versions only, child rows included', async (t) => {
  const { open, rows } = await setUp(t);
  const destination = open();
  const many = reservation('r', {
    guests: ['a', 'b', 'c'].map((name) => ({ first_name: name })),
    charges: [
      { code: 'A', amount: '0.1' },
      { code: 'B', amount: '99999999999999999999.99' },
    ],
    extra: { loyalty: 'gold', tab: 'a\tb\\c\nd' },
  });
  await destination.deliver([delivery(many, { version: 2 })], limits);
  await destination.deliver([delivery(reservation('r', { status: 'cancelled' }), { version: 1 })], limits);
  assert.deepEqual(await rows('select version, status, extra from innbound.reservations'), [
    { version: 2, status: 'confirmed', extra: { loyalty: 'gold', tab: 'a\tb\\c\nd' } },
  ]);
  assert.deepEqual(await rows('select first_name from innbound.guests order by position'), [
    { first_name: 'a' },
    { first_name: 'b' },
    { first_name: 'c' },
  ]);
  assert.deepEqual(await rows('select sum(amount)::text as sum from innbound.charges'), [
    { sum: '100000000000000000000.09' },
  ]);
  const fewer = reservation('r', { guests: [{ first_name: 'z' }], rooms: [], charges: [] });
  await destination.deliver([delivery(fewer, { version: 3, event: 'updated' })], limits);
  const counts = await rows(
    `select (select json_agg(first_name) from innbound.guests) as guests, (select count(*)::int from innbound.rooms) as rooms,
            (select count(*)::int from innbound.charges) as charges, version from innbound.reservations`,
  );
  assert.deepEqual(counts, [{ guests: ['z'], rooms: 0, charges: 0, version: 3 }]);
});

test('an erasure removes texts that name the guest from the versions before it', async (t) => {
  const { open, rows } = await setUp(t);
  const destination = open();
  const guest = { first_name: 'Ana', last_name: 'Exemplo', email: 'ana@guests.example' };
  const before = reservation('r', { guests: [guest], channel: 'WEB', source: 'friend of Ana Exemplo' });
  await destination.deliver([delivery(before)], limits);
  const after = reservation('r', { guests: [{}], channel: 'WEB' });
  const erasure = { ...delivery(after, { version: 2, event: 'erased' }), erased: [guest] };
  const [outcome] = await destination.deliver([erasure], limits);
  assert.equal(outcome?.kind, 'delivered');
  assert.deepEqual(await rows('select version, channel, source from innbound.reservation_versions order by version'), [
    { version: 1, channel: 'WEB', source: null },
    { version: 2, channel: 'WEB', source: null },
  ]);
});

test('leftover child rows of a deleted reservation do not fail the merge and are removed', async (t) => {
  const { open, rows, pool } = await setUp(t);
  const destination = open();
  const guests = (...names: string[]) => ({ guests: names.map((name) => ({ first_name: name })) });
  await destination.deliver([delivery(reservation('r', guests('a', 'b', 'c')))], limits);
  await pool.query('delete from innbound.reservations');
  const batch = [delivery(reservation('r', guests('z')), { version: 2 }), delivery(reservation('s', guests('y')))];
  assert.deepEqual(
    (await destination.deliver(batch, limits)).map(({ kind }) => kind),
    ['delivered', 'delivered'],
  );
  assert.deepEqual(await rows('select reservation_id, first_name from innbound.guests order by 1, position'), [
    { reservation_id: 'r', first_name: 'z' },
    { reservation_id: 's', first_name: 'y' },
  ]);
});

test('a resend restores lost child rows and fills in fields that the destination did not get before', async (t) => {
  const { open, rows, pool } = await setUp(t);
  const destination = open();
  const ana = { first_name: 'Ana', last_name: 'Exemplo' };
  const profile = (data: object) => {
    const one = delivery(reservation('x'), { version: 2 });
    return { ...one, message: { ...one.message, type: 'guest' as const, data: { id: 'gst_1', ...data } } };
  };
  await destination.deliver([delivery(reservation('r', { guests: [ana] }), { version: 2 }), profile(ana)], limits);
  await pool.query('truncate innbound.rooms');
  const full = { ...ana, email: 'ana@guests.example' };
  await destination.deliver([delivery(reservation('r', { guests: [full] }), { version: 2 }), profile(full)], limits);
  assert.deepEqual(
    await rows(`select r.version, g.email, p.email as profile, (select count(*)::int from innbound.rooms) as rooms
                  from innbound.reservations r, innbound.guests g, innbound.guest_profiles p`),
    [{ version: 2, email: 'ana@guests.example', profile: 'ana@guests.example', rooms: 1 }],
  );
  assert.deepEqual(await rows('select version from innbound.reservation_versions'), [{ version: 2 }]);
});

test('guest records go to guest_profiles', async (t) => {
  const { open, rows } = await setUp(t);
  const data = { id: 'gst_1', last_name: 'Exemplo', email: 'ana@guests.example', marketing_consent: true };
  const one = delivery(reservation('x'));
  const guest = { ...one, message: { ...one.message, type: 'guest' as const, data } };
  const [outcome] = await open().deliver([guest, one], limits);
  assert.equal(outcome?.kind, 'delivered');
  assert.deepEqual(await rows('select id, email, version, marketing_consent from innbound.guest_profiles'), [
    { id: 'gst_1', email: 'ana@guests.example', version: 1, marketing_consent: true },
  ]);
});

test('further fields of a guest are in the column extra', async (t) => {
  const { open, rows } = await setUp(t);
  const extra = { loyalty_number: 'L-77120', tier: 'gold\t"1"' };
  const one = delivery(reservation('r', { guests: [{ last_name: 'Exemplo', extra }, { last_name: 'Sem' }] }));
  const profile = { ...one.message, type: 'guest' as const, data: { id: 'gst_1', last_name: 'Exemplo', extra } };
  const outcomes = await open().deliver([one, { ...one, message: profile }], limits);
  assert.ok(
    outcomes.every(({ kind }) => kind === 'delivered'),
    JSON.stringify(outcomes),
  );
  assert.deepEqual(await rows('select last_name, extra from innbound.guests order by reservation_id, position'), [
    { last_name: 'Exemplo', extra },
    { last_name: 'Sem', extra: null },
  ]);
  assert.deepEqual(await rows('select extra from innbound.guest_profiles'), [{ extra }]);
  await open().deliver([delivery(reservation('r', { guests: [{ last_name: 'Exemplo' }] }), { version: 2 })], limits);
  assert.deepEqual(await rows(`select extra from innbound.guests where reservation_id = 'r'`), [{ extra: null }]);
});

test('two nodes create an empty warehouse once; every table, view and guarded column has a comment', async (t) => {
  const { open, rows } = await setUp(t, 'user');
  const outcomes = await Promise.all([1, 2, 3, 4].map((i) => open().deliver([delivery(reservation(`r${i}`))], limits)));
  assert.ok(outcomes.flat().every(({ kind }) => kind === 'delivered'));
  assert.deepEqual(await rows('select count(*)::int as n from "user".reservations'), [{ n: 4 }]);
  const silent = await rows(
    `select relname from pg_class c where relnamespace = '"user"'::regnamespace and relkind in ('r', 'v')
        and obj_description(oid) is null and relname <> 'innbound_migrations'`,
  );
  assert.deepEqual(silent, []);
});

test('an unreachable warehouse is a retry; a private address is refused unless allowed', async (t) => {
  const { open, db } = await setUp(t);
  const outcome = async (settings: object, allowPrivate = true) => {
    const [one] = await open(settings, allowPrivate).deliver([delivery(reservation('r'))], limits);
    return [one?.kind, one && 'code' in one ? one.code : undefined];
  };
  assert.deepEqual(await outcome({ url: 'postgres://u@127.0.0.1:9/x' }), ['retry', 'deliver.unreachable']);
  assert.deepEqual(await outcome({ url: 'postgres://u@no-such-host.invalid/x' }), ['retry', 'deliver.unreachable']);
  assert.deepEqual(await outcome({ url: db.url.replace(/test_\d+/, 'no_such_database') }), [
    'retry',
    'deliver.warehouse_mismatch',
  ]);
  assert.deepEqual(await outcome({ url: 'postgres://u@127.0.0.1:9/x' }, false), ['dead', 'deliver.blocked_address']);
  assert.deepEqual(await outcome({ url: 'postgres://u@localhost:9/x' }, false), ['dead', 'deliver.blocked_address']);
  assert.deepEqual(await outcome({}, false), ['dead', 'deliver.blocked_address']);
});

test('a batch with a refused row fails as a whole and changes nothing', async (t) => {
  const { open, rows, pool } = await setUp(t);
  const destination = open();
  await destination.deliver([delivery(reservation('first'))], limits);
  await pool.query(`alter table innbound.guests add constraint named check (first_name <> 'Refused')`);
  const outcomes = await destination.deliver(
    [delivery(reservation('a')), delivery(reservation('b', { guests: [{ first_name: 'Refused' }] }))],
    limits,
  );
  assert.ok(outcomes.every((one) => one.kind === 'dead' && one.whole === true && !one.message.includes('Refused')));
  assert.deepEqual(await rows('select id from innbound.reservations'), [{ id: 'first' }]);
  const [after] = await destination.deliver([delivery(reservation('a'))], limits);
  assert.equal(after?.kind, 'delivered');
});
