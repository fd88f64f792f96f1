import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Guest } from '../../../src/core/canonical/reservation.ts';
import type { Selection } from '../../../src/core/deliver/ports.ts';
import { forgetDeliveredErasures } from '../../../src/core/store/erasure/erased.ts';
import { resendStep } from '../../../src/core/store/outbox/resend.ts';
import { reservation } from '../support.ts';
import type { Account } from '../vendors/account.ts';
import { ana, kinds, setUpPeople } from './set-up.ts';

/** Consent, its withdrawal, and erasure. */
export function consentAndErasure(make: () => Account): void {
  const { preset, keepsStays, keepsOldValues, forget } = make();
  const setUp = setUpPeople(make);

  test(`${preset}: an erasure reaches every address that the person had`, async (t) => {
    const { account, deliver, erase } = await setUp(t);
    const rui: Guest = { first_name: 'Rui', last_name: 'Outro', email: 'rui@guests.example' };
    await deliver(reservation('r', { guests: [ana, rui] }));
    account.seed?.('new@guests.example');
    await deliver(reservation('r', { guests: [{ ...ana, email: 'new@guests.example' }, rui] }));
    await erase('new@guests.example');
    assert.deepEqual(
      account.people().map(({ email }) => email),
      ['rui@guests.example'],
    );
    const guests = account.stays().map(({ guest }) => guest);
    if (keepsStays) assert.deepEqual(guests, [account.people()[0]?.id], 'the stay belongs to the guest who is left');
  });

  if (forget) {
    test(`${preset}: an erasure sends the guest who is left again, if the contact is gone`, async (t) => {
      const { account, deliver, erase } = await setUp(t);
      const rui: Guest = { first_name: 'Rui', last_name: 'Outro', email: 'rui@guests.example' };
      await deliver(reservation('r', { guests: [ana, rui] }));
      account.forget?.();
      await erase('ana@guests.example');
      const people = account.people().map(({ id, email }) => [id, email]);
      assert.deepEqual(people, [[account.stays()[0]?.guest, rui.email]]);
    });
  }

  test(`${preset}: an erasure that is sent again when its addresses are forgotten deletes nobody else`, async (t) => {
    const { account, deliver, erase, drainAll, pool, name } = await setUp(t);
    const rui: Guest = { first_name: 'Rui', last_name: 'Outro', email: 'rui@guests.example' };
    await deliver(reservation('r', { guests: [ana, rui] }));
    await erase('ana@guests.example');
    await forgetDeliveredErasures(pool);
    const emails = () => account.people().map(({ email }) => email);
    assert.deepEqual(emails(), ['rui@guests.example']);
    await resendStep(pool, { integration: name, destination: name, type: 'reservation' }, '');
    await drainAll();
    assert.deepEqual(emails(), ['rui@guests.example'], 'a resend');
    // The brand did not deliver to it at the time of the erasure.
    await pool.query(
      'update outbox set next_version = 2, delivered_version = 1, due_at = now() where destination = $1',
      [name],
    );
    await drainAll();
    assert.deepEqual(emails(), ['rui@guests.example'], 'a destination that is delivered to again');
  });

  test(`${preset}: an erasure reaches a guest whom the newest version no longer names`, async (t) => {
    const { account, deliver, erase } = await setUp(t);
    const rui: Guest = { first_name: 'Rui', last_name: 'Outro', email: 'rui@guests.example' };
    await deliver(reservation('r', { guests: [ana, rui] }), reservation('r', { guests: [rui] }));
    assert.equal(account.people().length, 2);
    await erase('ana@guests.example');
    assert.deepEqual(
      account.people().map(({ email }) => email),
      ['rui@guests.example'],
    );
  });

  test(`${preset}: consent is followed, and unknown consent changes nothing`, async (t) => {
    const { account, deliver } = await setUp(t);
    const { marketing_consent: _, ...unknown } = ana;
    const after = async (guest: Guest, total: string) => {
      await deliver(reservation('r', { guests: [guest], total_amount: total }));
      return account.people()[0]?.subscribed;
    };
    assert.equal(await after(unknown, '1'), undefined);
    assert.equal(await after(ana, '2'), true);
    assert.equal(await after({ ...ana, marketing_consent: false }, '3'), false);
    assert.equal(await after({ ...unknown, nationality: 'ES' }, '4'), false);
    assert.equal(await after(ana, '5'), true);
  });

  for (const consent of [undefined, 'marketing'] as const) {
    const under = consent === undefined ? '' : ` under consent: ${consent}`;
    const no = { marketing_consent: false };

    test(`${preset}: a withdrawal reaches the contact of an earlier address${under}`, async (t) => {
      const { account, deliver } = await setUp(t, consent);
      const moved = { ...ana, email: 'new@guests.example' };
      await deliver(reservation('r', { guests: [ana] }));
      account.seed?.('new@guests.example');
      await deliver(reservation('r', { guests: [moved] }), reservation('r', { guests: [{ ...moved, ...no }] }));
      assert.ok(account.people().some(({ email }) => email === moved.email));
      assert.deepEqual(new Set(account.people().map(({ subscribed }) => subscribed)), new Set([false]));
    });

    test(`${preset}: a withdrawal reaches the address of another booking${under}`, async (t) => {
      const { account, deliver } = await setUp(t, consent);
      const work = { ...ana, email: 'work@guests.example', phone: '+351913333333' };
      const rui: Guest = {
        first_name: 'Rui',
        last_name: 'Outro',
        email: 'rui@guests.example',
        marketing_consent: true,
      };
      await deliver(
        reservation('r', { guests: [ana, rui] }),
        reservation('s', { guests: [work] }),
        reservation('s', { guests: [{ ...work, ...no }] }),
      );
      const withdrawn = account.people().flatMap(({ email, subscribed }) => (subscribed === false ? [email] : []));
      assert.deepEqual(withdrawn.sort(), ['ana@guests.example', 'work@guests.example']);
    });
  }

  test(`${preset}: a withdrawal leaves an earlier address that somebody else agrees under`, async (t) => {
    const { account, deliver } = await setUp(t, 'marketing');
    const at = (guest: Guest, email: string): Guest => ({ ...guest, email, marketing_consent: true });
    const rui: Guest = { first_name: 'Rui', last_name: 'Outro', phone: '+351917777777' };
    const { phone: _, ...booker } = ana;
    const alone = at(booker, 'work@guests.example');
    await deliver(
      reservation('r', { guests: [at(booker, 'home@guests.example')] }),
      reservation('s', { guests: [at(rui, 'home@guests.example')] }),
      reservation('u', { guests: [alone] }),
      reservation('u', { guests: [{ ...alone, marketing_consent: false }] }),
    );
    const withdrawn = account.people().flatMap(({ email, subscribed }) => (subscribed === false ? [email] : []));
    assert.deepEqual(withdrawn, ['work@guests.example']);
  });

  test(`${preset}: under consent: marketing all bookings of a guest are one withdrawal`, async (t) => {
    const { receive, drainAll, deliver, server } = await setUp(t, 'marketing');
    const ids = ['r', 's', 'u'];
    await deliver(...ids.map((id) => reservation(id, { guests: [ana] })));
    const before = server.received.length;
    for (const id of ids) await receive(reservation(id, { guests: [{ ...ana, marketing_consent: false }] }));
    await drainAll();
    const isWithdrawal = /"(?:emailBlacklisted|HasOptedOutOfEmail|donotbulkemail)":true|unsubscribed/gi;
    const told = server.received.slice(before).flatMap(({ text }) => text.match(isWithdrawal) ?? []);
    assert.deepEqual(told.length, 1, String(told));
  });

  test(`${preset}: a withdrawal is sent although the filter passes over the booking, and nothing else is`, async (t) => {
    const filter: NonNullable<Selection['filter']> = (_, data) => data.status !== 'cancelled';
    const { account, deliver } = await setUp(t, undefined, { filter });
    await deliver(reservation('r', { guests: [ana] }));
    const [before] = account.people();
    assert.notEqual(before?.subscribed, false);
    await deliver(reservation('r', { guests: [{ ...ana, marketing_consent: false }], status: 'cancelled' }));
    const [after] = account.people();
    assert.deepEqual([after?.subscribed, after?.email, after?.first], [false, before?.email, before?.first]);
    assert.ok(account.stays().every(({ status }) => status !== 'cancelled'));
  });

  test(`${preset}: under consent: marketing an erasure reaches the person`, async (t) => {
    const { account, deliver, erase } = await setUp(t, 'marketing');
    const shy: Guest = { first_name: 'Rui', last_name: 'Outro', email: 'rui@guests.example' };
    await deliver(reservation('r', { guests: [ana, shy] }));
    assert.deepEqual(
      account.people().map(({ email }) => email),
      ['ana@guests.example'],
    );
    await erase('ana@guests.example');
    assert.deepEqual(account.people(), []);
    assert.ok(account.stays().every(({ guest, text }) => guest === undefined && !text?.includes('PT')));
  });

  test(`${preset}: under consent: marketing a guest who withdrew gets no moment`, async (t) => {
    const { account, deliver } = await setUp(t, 'marketing');
    await deliver(
      reservation('r', { guests: [ana] }),
      reservation('r', { guests: [{ ...ana, marketing_consent: false }], status: 'checked_in' }),
    );
    assert.deepEqual(kinds(account), ['booked']);
    assert.equal(account.people()[0]?.subscribed, false);
  });

  test(`${preset}: under consent: marketing a stay whose only guest withdrew is closed, and comes back with consent`, async (t) => {
    const { account, deliver } = await setUp(t, 'marketing');
    const state = () => account.stays().map(({ status, guest }) => [status, guest]);
    const no = { ...ana, marketing_consent: false };
    await deliver(reservation('r', { guests: [ana] }), reservation('r', { guests: [no] }));
    assert.equal(account.people()[0]?.subscribed, false);
    if (!keepsStays) return;
    const isLeft = ([status, guest]: unknown[]) => status === 'removed' && (guest === undefined || keepsOldValues);
    assert.ok(state().every(isLeft), String(state()));
    await deliver(reservation('r', { guests: [no], status: 'cancelled' }));
    assert.doesNotMatch(String(state()), /confirmed/);
    await deliver(reservation('r', { guests: [ana] }));
    assert.deepEqual(state(), [['confirmed', account.people()[0]?.id]]);
  });
}
