import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Guest } from '../../src/core/canonical/reservation.ts';
import { chooseProfile, mergeProfile } from '../../src/core/reconcile/profile.ts';
import { assembleProfiles } from '../../src/core/store/persons/profiles.ts';
import { testBrand } from '../support/brand.ts';
import { storedVersions } from '../support/versions.ts';
import { openStore, reservation, takeIn } from './support.ts';

const ana: Guest = { first_name: 'Ana', last_name: 'Exemplo', email: 'ana@guests.example', phone: '+351912345678' };
const rui: Guest = { first_name: 'Rui', last_name: 'Modelo', email: 'rui@guests.example' };

async function setUp(t: TestContext) {
  const { pool, close } = await openStore();
  t.after(close);
  const target = testBrand('lisbon', { guest: ['crm'] });
  const assemble = async (...versions: [id: string, version: number][]) => {
    const rows = await storedVersions(pool, `c.type = 'reservation'`);
    const wanted = rows.filter((row) => versions.some(([id, version]) => row.id === id && row.version === version));
    await assembleProfiles(
      pool,
      target,
      wanted.map(({ id, version, data }) => ({ id, version, guests: (data as { guests: Guest[] }).guests })),
    );
  };
  const profiles = async () => {
    const { rows } = await pool.query<{ version: number; data: Guest }>(
      `select version, data from records where type = 'guest' order by data ->> 'email', version`,
    );
    return rows.map(({ version, data }) => ({ version, ...data }));
  };
  return { pool, assemble, profiles };
}

test('two reservations of one guest make one profile', async (t) => {
  const { pool, assemble, profiles } = await setUp(t);
  const { phone: _, ...withoutPhone } = ana;
  await takeIn(pool, [reservation('a', { guests: [withoutPhone] })], []);
  await takeIn(pool, [reservation('b', { guests: [{ ...ana, nationality: 'PT' }] })], []);
  await assemble(['a', 1]);
  await assemble(['b', 1]);
  assert.deepEqual(await profiles(), [{ version: 2, ...ana, nationality: 'PT' }]);
  const { rows } = await pool.query(`select destination, last_version from outbox where type = 'guest'`);
  assert.deepEqual(rows, [{ destination: 'crm', last_version: 2 }]);
});

test('a repeated batch makes the same profiles once', async (t) => {
  const { pool, assemble, profiles } = await setUp(t);
  await takeIn(pool, [reservation('a', { guests: [ana] }), reservation('b', { guests: [rui, ana] })], []);
  await assemble(['a', 1], ['b', 1]);
  await assemble(['a', 1], ['b', 1]);
  assert.deepEqual(await profiles(), [
    { version: 1, ...ana },
    { version: 1, ...rui },
  ]);
  const { rows } = await pool.query(`select count(*)::int as n from history where type = 'guest'`);
  assert.deepEqual(rows, [{ n: 2 }]);
});

test('an older reservation never overwrites a newer profile', async (t) => {
  const { pool, assemble, profiles } = await setUp(t);
  await takeIn(pool, [reservation('old', { guests: [{ ...ana, marketing_consent: true }] })], []);
  await takeIn(pool, [reservation('new', { guests: [{ ...ana, marketing_consent: false }] })], []);
  await assemble(['new', 1]);
  await assemble(['old', 1]);
  assert.deepEqual(
    (await profiles()).map(({ marketing_consent }) => marketing_consent),
    [false],
  );
});

test('a late withdrawal reaches a profile that a newer reservation has changed since', async (t) => {
  const { pool, assemble, profiles } = await setUp(t);
  const { phone, ...withoutPhone } = ana;
  const guest = (more: Guest) => ({ guests: [{ ...withoutPhone, ...more }] });
  await takeIn(pool, [reservation('a', guest({ marketing_consent: true }))], []);
  await takeIn(pool, [reservation('b', guest({ phone: phone ?? '' }))], []);
  await takeIn(pool, [reservation('c', guest({ phone: '+351910000000', marketing_consent: false }))], [], {
    lateByMs: 1_500,
  });
  for (const id of ['a', 'b', 'c']) await assemble([id, 1]);
  assert.deepEqual(await profiles(), [{ version: 3, ...ana, marketing_consent: false }]);
});

test('consent that a newer reservation repeats outranks a late statement from between', async (t) => {
  const { pool, assemble, profiles } = await setUp(t);
  const guest = (marketing_consent: boolean) => ({ guests: [{ ...ana, marketing_consent }] });
  await takeIn(pool, [reservation('a', guest(false))], []);
  await takeIn(pool, [reservation('b', guest(false))], []);
  await takeIn(pool, [reservation('c', guest(true))], [], { lateByMs: 1_500 });
  for (const id of ['a', 'b', 'c']) await assemble([id, 1]);
  assert.deepEqual(await profiles(), [{ version: 1, ...ana, marketing_consent: false }]);
});

test('one page with a refusal and an agreement of the same guest makes a refusal', async (t) => {
  const { pool, assemble, profiles } = await setUp(t);
  const guest = (marketing_consent: boolean) => ({ guests: [{ ...ana, marketing_consent }] });
  await takeIn(
    pool,
    [reservation('a', guest(true)), reservation('b', guest(false)), reservation('c', guest(true))],
    [],
  );
  await assemble(['a', 1], ['b', 1], ['c', 1]);
  assert.deepEqual(
    (await profiles()).map(({ marketing_consent }) => marketing_consent),
    [false],
  );
});

test('an alias of a booking site never joins guests', async (t) => {
  const { pool, assemble, profiles } = await setUp(t);
  const alias = { email: 'x1@guest.booking.example', email_proxy: true as const };
  const one = { first_name: 'Ana', last_name: 'Exemplo', ...alias, phone: '+351912345678' };
  const other = { first_name: 'Rui', last_name: 'Modelo', ...alias };
  await takeIn(pool, [reservation('a', { guests: [one] }), reservation('b', { guests: [other] })], []);
  await assemble(['a', 1], ['b', 1]);
  assert.deepEqual(
    (await profiles()).map(({ last_name }) => last_name),
    ['Exemplo'],
  );
});

const agent = 'agent@travel.example';
const john: Guest = { first_name: 'John', last_name: 'Smith', email: agent, document_number: 'P1' };
const mary: Guest = { first_name: 'Mary', last_name: 'Jones', email: agent, marketing_consent: true };

test('two guests under a travel agent’s address have two profiles, and neither gets anything of the other', async (t) => {
  const { pool, assemble, profiles } = await setUp(t);
  await takeIn(pool, [reservation('a', { guests: [john] })], []);
  await takeIn(pool, [reservation('b', { guests: [mary] })], []);
  await assemble(['a', 1]);
  await assemble(['b', 1]);
  await assemble(['b', 1], ['a', 1]);
  const found = (await profiles()).toSorted((a, b) => (a.last_name ?? '').localeCompare(b.last_name ?? ''));
  assert.deepEqual(found, [
    { version: 1, ...mary },
    { version: 1, ...john },
  ]);
});

test('relatives in one booking with one phone have two profiles; a booking finds them again after a change', async (t) => {
  const { pool, assemble, profiles } = await setUp(t);
  const phone = '+351912345678';
  const [one, other] = [
    { first_name: 'Ana', last_name: 'Costa', phone, marketing_consent: true },
    { first_name: 'Rui', last_name: 'Costa', phone, marketing_consent: false },
  ];
  await takeIn(pool, [reservation('a', { guests: [one, other] })], []);
  await takeIn(
    pool,
    [
      reservation('a', {
        guests: [
          { ...other, nationality: 'PT' },
          { ...one, nationality: 'PT' },
        ],
      }),
    ],
    [],
  );
  await assemble(['a', 1]);
  await assemble(['a', 2]);
  assert.deepEqual(
    (await profiles()).map((profile) => [profile.first_name, profile.nationality, profile.marketing_consent]).sort(),
    [
      ['Ana', 'PT', true],
      ['Rui', 'PT', false],
    ],
  );
});

test('a guest of a shared address is nobody known, and becomes a pair to decide', async (t) => {
  const { pool, assemble, profiles } = await setUp(t);
  await takeIn(pool, [reservation('a', { guests: [john] })], []);
  await takeIn(pool, [reservation('b', { guests: [mary] })], []);
  await takeIn(pool, [reservation('c', { guests: [mary] })], []);
  for (const id of ['a', 'b', 'c']) await assemble([id, 1]);
  assert.equal((await profiles()).length, 3);
  const { rows } = await pool.query('select evidence from profile_pairs');
  assert.deepEqual(rows, [{ evidence: 'shared_address' }]);
});

test('guests match where they are the same person', () => {
  const known = [{ id: 'p', guest: ana }];
  const kind = (guest: Guest, candidates = known) => chooseProfile(guest, candidates).kind;
  assert.equal(kind({ first_name: 'Anna', last_name: 'Exemplo', email: 'ana@guests.example' }), 'known');
  assert.equal(kind({ first_name: 'Rui', last_name: 'Modelo', email: 'ana@guests.example' }), 'new');
  assert.equal(kind({ first_name: 'Ana', last_name: 'Modelo', phone: '+351912345678' }), 'new');
  assert.equal(kind({ first_name: 'ana', last_name: 'EXEMPLO', phone: '+351912345678' }), 'known');
  assert.equal(kind(rui), 'new');
  assert.equal(kind({ first_name: 'Nobody' }), 'none');
  const byId = [{ id: 'p', guest: { ...ana, guest_id: 'g1' } }];
  assert.equal(kind({ ...ana, last_name: 'Modelo', guest_id: 'g1' }, byId), 'known');
  assert.equal(kind({ ...rui, guest_id: 'g1' }, byId), 'new');
  assert.equal(kind({ ...ana, guest_id: 'g2' }, byId), 'new');
});

test('merging keeps values that are not stated, and prefers an address to an alias', () => {
  assert.deepEqual(mergeProfile(ana, { last_name: 'Nova', email: 'a@guest.booking.example', email_proxy: true }), {
    ...ana,
    last_name: 'Nova',
  });
  assert.deepEqual(mergeProfile(ana, { phone_raw: 'call reception' }), ana);
  assert.deepEqual(mergeProfile({ last_name: 'X' }, { phone_raw: 'call reception' }), {
    last_name: 'X',
    phone_raw: 'call reception',
  });
});

test('a guest with the phone of one profile and the address of another makes them one, in every order', async (t) => {
  const phone = '+351919999999';
  const bookings = {
    a: { first_name: 'Ida', last_name: 'Falk', phone },
    b: { first_name: 'Ida', last_name: 'Falk', email: 'ida@guests.example', nationality: 'SE' },
    c: { first_name: 'Ida', last_name: 'Falk', phone, email: 'ida@guests.example' },
  };
  for (const order of ['abc', 'cab', 'bca']) {
    const { pool, assemble } = await setUp(t);
    for (const id of order) {
      await takeIn(pool, [reservation(id, { guests: [bookings[id as keyof typeof bookings]] })], []);
      await assemble([id, 1]);
    }
    const { rows } = await pool.query<{ data: Guest }>(
      `select data from records where type = 'guest' and data::jsonb -> 'extra' -> 'merged_into' is null`,
    );
    assert.deepEqual(
      rows.map(({ data }) => data),
      [{ first_name: 'Ida', last_name: 'Falk', email: 'ida@guests.example', phone, nationality: 'SE' }],
      order,
    );
  }
});

test('relatives in one booking are not joined by a guest whose name fits both', async (t) => {
  const { pool, assemble, profiles } = await setUp(t);
  const [paul, paula] = [
    { first_name: 'Paul', last_name: 'Rossi', phone: '+351918888888' },
    { first_name: 'Paula', last_name: 'Rossi', email: 'rossi@guests.example' },
  ];
  await takeIn(pool, [reservation('a', { guests: [paul, paula] })], []);
  const both = { first_name: 'P.', last_name: 'Rossi', phone: paul?.phone ?? '', email: paula?.email ?? '' };
  await takeIn(pool, [reservation('b', { guests: [both] })], []);
  await assemble(['a', 1]);
  await assemble(['b', 1]);
  assert.deepEqual(
    (await profiles()).map(({ extra }) => extra),
    [undefined, undefined],
  );
});
