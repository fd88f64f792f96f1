import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Brand } from './brand.ts';

/** One person under two names, two persons under one, and companies: what profiles and destinations get of them. */

let brand: Brand;
before(async () => {
  brand = await Brand.start();
});
after(() => brand.node.stop());

const ambiguous = async () => {
  const { rows } = await brand.node.runtime.pool.query(
    `select count(*)::int as count from dead_letters where code = 'push.guest_ambiguous'`,
  );
  return rows[0].count as number;
};

test('a company and its traveller with one address have nothing in common', async () => {
  const email = 'office@krone.example';
  const krone = {
    last_name: 'Krone GmbH',
    email,
    document_type: 'VAT',
    document_number: 'DE1234',
    marketing_consent: true,
  };
  const rui = { first_name: 'Rui', last_name: 'Pinto', email };
  await brand.pull('krone-1', [krone]);
  await brand.pull('krone-2', [rui]);
  await brand.push('krone-1', [{ ...rui, phone: '+351912000001' }]);
  await brand.pull('krone-3', [krone]);
  await brand.pull('krone-4', [{ ...rui, nationality: 'PT', marketing_consent: false }]);
  const profiles = await brand.profilesWith('email', email);
  assert.deepEqual(
    profiles.toSorted((a, b) => Object.keys(a).length - Object.keys(b).length),
    [krone, { ...rui, phone: '+351912000001', nationality: 'PT', marketing_consent: false }],
  );
  assert.deepEqual(await brand.newest('krone-1'), [{ ...rui, phone: '+351912000001' }]);
});

test('a name in another order and spelling is the same person, whose opt-out counts', async () => {
  const email = 'mueller@home.example';
  await brand.pull('order-1', [{ first_name: 'Juergen', last_name: 'Mueller', email, marketing_consent: true }]);
  await brand.pull('order-2', [{ first_name: 'Müller', last_name: 'Jürgen', email }]);
  const before = await ambiguous();
  await brand.update({ email, marketing_consent: false });
  assert.equal(await ambiguous(), before);
  assert.equal((await brand.profilesWith('email', email)).length, 1);
  assert.equal((await brand.subscriptions(email)).at(-1), false);
});

test('a booker who is repeated for every room is one person, whose opt-out counts', async () => {
  const eva = { first_name: 'Eva', last_name: 'Roth', email: 'roth@home.example', marketing_consent: true };
  await brand.pull('rooms-1', [eva, { ...eva, phone: '+351912000002' }, eva]);
  const before = await ambiguous();
  await brand.update({ email: eva.email, marketing_consent: false });
  assert.equal(await ambiguous(), before);
  const whole = { ...eva, phone: '+351912000002', marketing_consent: false };
  assert.deepEqual(await brand.profilesWith('email', eva.email), [whole]);
  assert.deepEqual(await brand.newest('rooms-1'), [whole]);
  await brand.pull('rooms-1', [eva, eva, eva], { total_amount: 400 });
  assert.equal((await brand.subscriptions(eva.email)).at(-1), false);
  assert.equal((await brand.profilesWith('email', eva.email)).length, 1);
});

test('Herr and Frau at one address are two persons', async () => {
  const email = 'weber@home.example';
  const passport = { document_type: 'PP', document_number: 'C01X', marketing_consent: true };
  await brand.pull('weber-1', [{ first_name: 'Herr', last_name: 'Weber', email, ...passport }]);
  await brand.pull('weber-2', [{ last_name: 'Frau Weber', email }]);
  assert.deepEqual(await brand.profilesWith('email', email), [
    { title: 'Herr', last_name: 'Weber', email, ...passport },
    { title: 'Frau', last_name: 'Weber', email },
  ]);
  await brand.push('weber-1', [{ first_name: 'Frau', last_name: 'Weber', email }]);
  assert.equal((await brand.newest('weber-1'))?.[0]?.document_number, undefined);
});

test('an equal full name and birth date are one person, in another order and spelling', async () => {
  const date_of_birth = '1980-02-03';
  const born = (first_name: string, last_name: string, phone: string) => ({
    first_name,
    last_name,
    phone,
    date_of_birth,
  });
  await brand.pull('born-1', [{ ...born('Juergen', 'Schroeder', '+351912000011'), document_number: 'B1' }]);
  await brand.pull('born-2', [born('Schröder', 'Jürgen', '+351912000012')]);
  await brand.pull('born-3', [born('Jürgen', 'Schröder', '+351912000013')]);
  await brand.pull('born-4', [born('Schroeder', 'Juergen', '+351912000014')]);
  const { rows } = await brand.node.runtime.pool.query(
    `select data from records where type = 'guest' and data ->> 'date_of_birth' = $1`,
    [date_of_birth],
  );
  assert.deepEqual(
    rows.map(({ data }) => [data.document_number, data.phone]),
    [['B1', '+351912000014']],
  );
});

test('a booking that is older than the guest’s own event and arrives later shows what the event says', async () => {
  const now = Date.now();
  const lia = { guest_id: 'LIA', first_name: 'Lia', last_name: 'Serra', email: 'lia@old.example' };
  await brand.push('late-1', [lia], now - 50_000);
  await brand.update({ guest_id: 'LIA', email: 'lia@new.example' }, now - 10_000);
  await brand.push('late-2', [{ ...lia, phone: '+351912000003' }], now - 20_000);
  assert.deepEqual(await brand.newest('late-2'), [{ ...lia, phone: '+351912000003', email: 'lia@new.example' }]);
  await brand.push('late-3', [{ ...lia, email: 'lia@third.example' }], now - 5_000);
  assert.equal((await brand.newest('late-3'))?.[0]?.email, 'lia@third.example', 'a newer booking has its own');
  await brand.push('late-4', [lia], now - 30_000);
  assert.equal((await brand.newest('late-4'))?.[0]?.email, 'lia@new.example', 'not the address of another booking');
});

test('so does a booking of a guest of whom nothing but the event was known', async () => {
  const now = Date.now();
  const gil = { guest_id: 'GIL', first_name: 'Gil', last_name: 'Vaz' };
  await brand.update({ ...gil, email: 'gil@new.example' }, now - 10_000);
  await brand.push('late-5', [{ ...gil, email: 'gil@old.example' }], now - 20_000);
  assert.equal((await brand.newest('late-5'))?.[0]?.email, 'gil@new.example');
});
