import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reservation } from '../../src/core/canonical/reservation.ts';
import { drainOnce } from '../../src/core/deliver/deliveries.ts';
import type { Outcome } from '../../src/core/deliver/destination.ts';
import { compileFields } from '../../src/core/deliver/message.ts';
import { transaction } from '../../src/core/store/db/pool.ts';
import { closeDeadLetter, passOverHeld } from '../../src/core/store/records/dead-letters.ts';
import { listDeadLetters } from '../../src/operator/store/dead-letters.ts';
import { config, lane, openStore, ports, reservation, scripted, takeIn, takeInGuest } from './support.ts';

const delivered: Outcome = { kind: 'delivered' };
const marketing = { receives: ['reservation' as const], consent: 'marketing' as const, fields: compileFields({}) };
const ana = { guest_id: 'a', email: 'ana@guests.example', marketing_consent: true };
const rui = { guest_id: 'b', email: 'rui@guests.example' };
const no = { marketing_consent: false };

test('a withdrawal is sent however many versions ago the consent was given', async (t) => {
  const store = await openStore();
  t.after(() => store.close());
  const crm = scripted(() => delivered);
  const made = ports(store.pool, [lane(config('crm', { selection: marketing }))], { crm: crm.destination });
  const take = async (amount: number, ...guests: object[]) => {
    await takeIn(store.pool, [reservation('r', { guests, total_amount: String(amount) })], ['crm']);
    await drainOnce(made);
  };
  await take(1, ana, { ...rui, marketing_consent: true });
  for (let amount = 2; amount < 14; amount++) await take(amount, ana, rui);
  await take(14, ana, { ...rui, ...no }, { guest_id: 'c', email: 'shy@guests.example', ...no });
  assert.deepEqual(crm.messages().at(-1)?.data.guests, [ana, { ...rui, ...no }]);
  await take(15, ana, { ...rui, ...no });
  assert.deepEqual(crm.messages().at(-1)?.data.guests, [ana], 'once');
});

test('a late yes in a booking does not outrank a newer no in the profile', async (t) => {
  const store = await openStore();
  t.after(() => store.close());
  const profile = async (consent: boolean | undefined) => {
    const record = { ...ana, ...(consent !== undefined && { marketing_consent: consent }) };
    await takeInGuest(store.pool, 'gst_a', record, ['crm', 'mail']);
  };
  const changes: (string | undefined)[] = [];
  const crm = scripted(({ message: { data }, consentChange }) => {
    for (const guest of data.guests ?? []) changes.push(consentChange?.(guest));
    return delivered;
  });
  const mail = scripted(() => delivered);
  // It never gets profiles, but they count for it too.
  const letter = scripted(() => delivered);
  const both = { ...marketing, receives: ['reservation' as const, 'guest' as const] };
  const { consent: _, ...all } = { ...both, comparesConsent: true };
  const lanes = [
    lane(config('crm', { selection: all })),
    lane(config('mail', { selection: both })),
    lane(config('letter', { selection: marketing })),
  ];
  const destinations = { crm: crm.destination, mail: mail.destination, letter: letter.destination };
  const made = ports(store.pool, lanes, destinations);
  const take = async (id: string, lateByMs: number, ...guests: object[]) => {
    await takeIn(store.pool, [reservation(id, { guests })], ['crm', 'mail', 'letter'], { lateByMs });
    await drainOnce(made);
  };
  await profile(true);
  await take('r', 0, ana);
  await profile(false);
  await take('s', 60_000, ana, { ...rui, marketing_consent: true });
  assert.deepEqual(changes, ['first', undefined, 'first']);
  for (const { messages } of [mail, letter]) {
    const bookings = messages().filter(({ type }) => type === 'reservation');
    assert.deepEqual(
      bookings.map(({ data }) => data.guests?.map(({ email }) => email)),
      [[ana.email], [rui.email]],
    );
  }
  // A booking's date is no date of consent: its yes makes nobody a subscriber again.
  await take('u', 0, ana);
  assert.equal(changes.at(-1), undefined);
});

test('a version that was sent and then dropped may have arrived: a withdrawal or an erasure is still sent', async (t) => {
  const store = await openStore();
  t.after(() => store.close());
  let outcome: Outcome = { kind: 'dead', code: 'deliver.timeout', message: 'No answer.', durationMs: 9 };
  const crm = scripted(() => outcome);
  const made = ports(store.pool, [lane(config('crm', { selection: marketing }))], { crm: crm.destination });
  const take = async (...records: Reservation[]) => {
    await takeIn(store.pool, records, ['crm']);
    await drainOnce(made);
  };
  const both = (guest: object, total_amount: string) =>
    ['withdrawn', 'erased'].map((id) => reservation(id, { guests: [guest], total_amount }));
  await take(...both(ana, '1'));
  await transaction(store.pool, async (tx) => {
    for (const { id } of await listDeadLetters(tx)) {
      await passOverHeld(tx, id, 'test');
      await closeDeadLetter(tx, id, 'dropped', { by: 'test' });
    }
  });
  outcome = delivered;
  const { marketing_consent: _, ...unknown } = ana;
  await take(...both(unknown, '2'));
  const left = crm.messages().slice(2);
  assert.deepEqual(
    left.map(({ event, data }) => [event, data]),
    ['erased', 'withdrawn'].map((id) => ['removed', { id }]),
    'unknown consent is no withdrawal: the booking leaves',
  );
  const sent = () => crm.messages().slice(4);
  await take(reservation('withdrawn', { guests: [{ ...ana, ...no }] }));
  assert.deepEqual(
    sent().map(({ data }) => data.guests),
    [[{ ...ana, ...no }]],
  );
  await takeIn(store.pool, [reservation('erased', { guests: [{}] })], ['crm']);
  await store.pool.query(`update records set event = 'erased' where id = 'erased' and version = 3`);
  await drainOnce(made);
  assert.equal(sent().at(-1)?.event, 'erased');
  await take(reservation('withdrawn', { guests: [{ ...ana, ...no }], total_amount: '3' }));
  assert.equal(sent().length, 2, 'the withdrawal is sent once');
});
