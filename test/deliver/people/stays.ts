import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Guest, Reservation } from '../../../src/core/canonical/reservation.ts';
import type { Selection } from '../../../src/core/deliver/ports.ts';
import { reservation } from '../support.ts';
import type { Account } from '../vendors/account.ts';
import { ana, kinds, setUpPeople } from './set-up.ts';

/** How a stay and its moments arrive: booked, changed, checked in, checked out, cancelled. */
export function staysAndMoments(make: () => Account): void {
  const { preset, keepsStays, keepsOldValues, keepsBirthDates, forget } = make();
  const setUp = setUpPeople(make);

  test(`${preset}: a stay creates its guest, itself and each of its moments`, async (t) => {
    const { account, deliver, name } = await setUp(t);
    const stay = reservation('r', { guests: [ana], channel: 'BDC' });
    await deliver(
      stay,
      { ...stay, check_out: '2026-12-06' },
      { ...stay, check_out: '2026-12-06', status: 'checked_in' },
      { ...stay, check_out: '2026-12-06', status: 'checked_out', total_amount: '1400.25' },
    );
    const [person, ...others] = account.people();
    assert.deepEqual(others, []);
    assert.deepEqual([person?.email, person?.first, person?.last], ['ana@guests.example', 'Ana', 'Exemplo']);
    if (person?.guestId !== undefined) assert.equal(person.guestId, `${name}:7`);
    assert.doesNotMatch(person?.text ?? '', /C-r/, 'a stay is not part of the person');
    assert.deepEqual(kinds(account), ['booked', 'changed', 'checked_in', 'checked_out']);
    assert.ok(account.moments().every(({ guest }) => guest === person?.id));
    if (!keepsStays) return;
    const expected = {
      key: `${name}:r`,
      status: 'checked_out',
      checkIn: '2026-12-01',
      nights: 5,
      channel: 'BDC',
      brand: 'LIS01',
    };
    const seen = account.stays().map(({ text: _, ...one }) => ({ ...one, amount: String(Number(one.amount)) }));
    assert.deepEqual(seen, [{ ...expected, amount: '1400.25', guest: person?.id }]);
  });

  test(`${preset}: cancellations and no-shows are moments, older stays that are imported are not`, async (t) => {
    const { account, deliver } = await setUp(t);
    await deliver(
      reservation('a', { guests: [ana] }),
      reservation('a', { guests: [ana], status: 'cancelled' }),
      reservation('b', { guests: [ana], status: 'checked_out' }),
      reservation('c', { guests: [ana], booking_date: '2020-01-01' }),
      reservation('c', { guests: [ana], booking_date: '2020-01-01', status: 'no_show' }),
    );
    assert.deepEqual(kinds(account).sort(), ['booked', 'cancelled', 'no_show']);
  });

  test(`${preset}: a change of an old stay does not change the next stay`, async (t) => {
    const { account, deliver, name } = await setUp(t);
    const old = reservation('old', {
      guests: [ana],
      check_in: '2024-05-01',
      check_out: '2024-05-03',
      status: 'checked_out',
    });
    const next = reservation('next', { guests: [ana] });
    await deliver(old, next);
    await deliver({ ...old, total_amount: '1' });
    assert.equal(account.people().length, 1);
    assert.match(account.people()[0]?.text ?? '', /2026-12-01/, 'the next check-in');
    if (!keepsStays) return;
    const stays = Object.fromEntries(account.stays().map((one) => [one.key, [one.checkIn, Number(one.amount)]]));
    assert.deepEqual(stays, { [`${name}:old`]: ['2024-05-01', 1], [`${name}:next`]: ['2026-12-01', 1250.5] });
  });

  test(`${preset}: equal reservation ids of two integrations with one brand_id are two stays`, async (t) => {
    const { account, receive, drainAll, name, twin } = await setUp(t);
    await receive(reservation('r', { guests: [ana] }));
    await receive(reservation('r', { guests: [{ ...ana, email: 'eva@guests.example' }] }), 'push', twin);
    await drainAll();
    await receive(reservation('r', { guests: [ana], status: 'cancelled' }));
    await drainAll();
    if (!keepsStays) return;
    const stays = Object.fromEntries(account.stays().map(({ key, status }) => [key, status]));
    assert.deepEqual(stays, { [`${name}:r`]: 'cancelled', [`${twin}:r`]: 'confirmed' });
  });

  test(`${preset}: a stay that the filter no longer lets pass is deleted or closed, its guest stays, and it can come back`, async (t) => {
    const filter: NonNullable<Selection['filter']> = (_type, { channel }) => channel !== 'VIP';
    const { account, deliver, name } = await setUp(t, undefined, { filter });
    const status = () => account.stays().find(({ key }) => key === `${name}:r`)?.status as string | undefined;
    await deliver(reservation('r', { guests: [ana] }), reservation('never', { guests: [ana], channel: 'VIP' }));
    const [people, moments] = [account.people().length, kinds(account)];
    await deliver(
      reservation('r', { guests: [{ ...ana, first_name: 'Secret' }], channel: 'VIP', total_amount: '7' }),
      reservation('r', { guests: [ana], channel: 'VIP', total_amount: '8' }),
    );
    assert.deepEqual([account.people().length, kinds(account)], [people, moments]);
    assert.doesNotMatch(JSON.stringify(account.people()), /Secret/);
    if (!keepsStays) return;
    assert.ok([undefined, 'removed'].includes(status()), String(status()));
    assert.doesNotMatch(JSON.stringify(account.stays()), /VIP|never/);
    await deliver(reservation('r', { guests: [ana], total_amount: '9' }));
    assert.equal(status(), 'confirmed');
  });

  test(`${preset}: a value that the record loses is emptied, and a value of others stays`, async (t) => {
    const { account, receive, drainAll, name } = await setUp(t);
    const { phone, nationality: _, ...less } = ana;
    const stay = reservation('r', { guests: [{ ...ana, date_of_birth: '1980-02-03' }], channel: 'BDC' });
    const { channel: _channel, total_amount: _amount, ...rest } = stay;
    const other = { ...ana, guest_id: '8', first_name: 'Eva', email: 'eva@guests.example', phone: '+351918888888' };
    for (const record of [stay, reservation('s', { guests: [other] }), { ...rest, guests: [less] }]) {
      await receive(record, 'pull');
      await drainAll();
    }
    // Another booking that never had the number does not say that there is none.
    const { phone: _phone, ...withoutPhone } = other;
    await receive(reservation('t', { guests: [withoutPhone] }), 'pull');
    await drainAll();
    const people = Object.fromEntries(account.people().map((one) => [one.email, JSON.stringify(one)]));
    assert.doesNotMatch(people[String(ana.email)] ?? '', new RegExp(`PT|\\${phone}${keepsBirthDates ? '' : '|1980'}`));
    assert.ok(people[other.email]?.includes(other.phone));
    const kept = account.stays().find(({ key }) => key === `${name}:r`);
    if (!keepsStays) return;
    assert.equal(kept?.status, 'confirmed');
    if (!keepsOldValues) assert.deepEqual([kept.channel ?? '', kept.amount ?? ''], ['', '']);
  });

  test(`${preset}: a moment is recorded once, even if answers are lost and a node dies`, async (t) => {
    const { account, receive, drain, deliver, refusals, loseOnce } = await setUp(t);
    await deliver(reservation('r', { guests: [ana] }));
    // The answer to the request with the moment is lost.
    await receive(reservation('r', { guests: [ana], status: 'checked_in' }));
    loseOnce(() => kinds(account).includes('checked_in'));
    assert.equal((await drain()).retry, 1);
    await drain();
    // The node dies before it writes the result.
    await receive(reservation('r', { guests: [ana], status: 'checked_out' }));
    await drain({ settle: async () => [] });
    assert.ok(kinds(account).includes('checked_out'));
    assert.equal((await drain()).delivered, 1);
    assert.deepEqual(kinds(account), ['booked', 'checked_in', 'checked_out']);
    assert.deepEqual(refusals, []);
  });

  test(`${preset}: whatever is lost and whenever, each transition is one moment`, async (t) => {
    const { account, receive, drain, refusals, loseOnce } = await setUp(t);
    const chance = seeded(20_261_115);
    const statuses = ['confirmed', 'checked_in', 'checked_out', 'cancelled', 'no_show'] as const;
    const expected: string[] = [];
    let before: Reservation | undefined;
    for (let step = 0; step < 10; step++) {
      const status = before === undefined ? 'confirmed' : (statuses[chance(5)] ?? 'confirmed');
      const now = reservation('r', { guests: [ana], status, total_amount: String(chance(2)) });
      await receive(now);
      if (before === undefined) expected.push('booked');
      else if (status !== before.status) expected.push(status === 'confirmed' ? 'changed' : status);
      else if (now.total_amount !== before.total_amount) expected.push('changed');
      before = now;
      // One of the next requests takes effect without an answer, and sometimes the node dies as well.
      let left = chance(5);
      loseOnce(() => left-- === 0);
      if (chance(3) === 0) await drain({ settle: async () => [] });
      for (let i = 0; i < 4; i++) await drain();
    }
    assert.deepEqual(kinds(account), expected);
    assert.equal(new Set(account.moments().map(({ id }) => id)).size, expected.length);
    assert.deepEqual(refusals, []);
  });

  if (keepsStays) {
    test(`${preset}: a stay that gets another guest leaves the one that it had`, async (t) => {
      const { account, deliver } = await setUp(t);
      const rui: Guest = { first_name: 'Rui', last_name: 'Outro', email: 'rui@guests.example' };
      const owner = () => {
        const emails = Object.fromEntries(account.people().map(({ id, email }) => [id, email]));
        return account.stays().map(({ guest }) => emails[guest ?? ''] ?? guest);
      };
      await deliver(reservation('r', { guests: [ana] }), reservation('r', { guests: [rui] }));
      assert.deepEqual(owner(), [rui.email]);
      await deliver(reservation('r', { guests: [{ ...rui, email: 'new@guests.example' }] }));
      assert.deepEqual(owner(), ['new@guests.example']);
      assert.equal(account.people().length, 2);
    });
  }

  if (forget) {
    test(`${preset}: a contact that goes away before its stay is sent makes no dead letter`, async (t) => {
      const { account, receive, drain, drainAll, loseOnce, refusals } = await setUp(t);
      await receive(reservation('r', { guests: [ana] }));
      let hasGone = false;
      loseOnce(() => {
        if (!hasGone && account.people().length > 0) {
          account.forget?.();
          hasGone = true;
        }
        return false;
      });
      const { dead } = await drain();
      assert.deepEqual([dead, hasGone, refusals], [0, true, []]);
      await drainAll();
      const guests = account.stays().map(({ guest }) => guest);
      assert.deepEqual(guests, [account.people()[0]?.id]);
    });
  }
}

/** Numbers below a limit, the same at every run. */
function seeded(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}
