import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Guest, Reservation } from '../../../src/core/canonical/reservation.ts';
import { reservation } from '../support.ts';
import type { Account } from '../vendors/account.ts';
import { ana, setUpPeople } from './set-up.ts';

/** What all stays of a person add up to, who else has the stay, and two brands that meet in one contact. */
export function historyOfPeople(make: () => Account): void {
  const { preset, sharesStays } = make();
  const setUp = setUpPeople(make);
  const past = (id: string, more: Partial<Reservation> = {}) =>
    reservation(id, {
      guests: [ana],
      status: 'checked_out',
      booking_date: '2024-04-01',
      check_in: '2024-05-01',
      check_out: '2024-05-03',
      channel: 'DIRECT',
      total_amount: '100.10',
      ...more,
    });
  const next = reservation('next', { guests: [ana], channel: 'BDC', booking_date: '2026-10-01' });
  /** The values of a person by the end of their names, without regard to spelling: LASTOUT, last_check_out, Last_Check_Out__c. */
  const historyIn = (account: Account, email = String(ana.email)) => {
    const seen = account.people().find((one) => one.email === email);
    const all: Record<string, unknown> = JSON.parse(seen?.text ?? '{}');
    const values = { ...all, ...(all.properties as object | undefined) };
    const named = (...names: string[]) => {
      const has = (key: string) =>
        names.some((name) => key.toLowerCase().replace(/__c$/, '').replaceAll('_', '').endsWith(name));
      const found = Object.entries(values).find(([key]) => has(key))?.[1] ?? undefined;
      return found === undefined || found === '' ? undefined : String(found);
    };
    return {
      stays: named('innboundstays', 'ibstays', 'staycount'),
      lastOut: named('lastcheckout', 'lastout'),
      nextIn: named('nextcheckin', 'nextin'),
      inHouse: named('inhouseuntil', 'inhouse'),
      value: named('lifetimevalue', 'ibvalue'),
      first: named('firstchannel', 'chfirst'),
      last: named('lastchannel', 'chlast'),
    };
  };

  test(`${preset}: a person has the sum of all stays, past ones included, and it follows them`, async (t) => {
    const { account, deliver } = await setUp(t);
    await deliver(past('a'), past('b', { check_in: '2025-05-01', check_out: '2025-05-04', total_amount: '200' }), next);
    const expected = {
      stays: '2',
      lastOut: '2025-05-04',
      nextIn: '2026-12-01',
      inHouse: undefined,
      value: '300.1',
      first: 'DIRECT',
      last: 'BDC',
    };
    assert.deepEqual(historyIn(account), expected);
    await deliver({ ...next, status: 'checked_in' });
    const arrived = { ...expected, stays: '3', nextIn: undefined, inHouse: '2026-12-04', value: '1550.6' };
    assert.deepEqual(historyIn(account), arrived);
    // A cancellation of another booking counts too, although it says nothing about the person.
    await deliver(past('c', { total_amount: '1', check_out: '2026-01-02' }), past('c', { status: 'cancelled' }), {
      ...next,
      status: 'cancelled',
    });
    assert.deepEqual(historyIn(account), { ...expected, nextIn: undefined, last: 'DIRECT' });
  });

  test(`${preset}: stays of other people do not count, whatever they share`, async (t) => {
    const { account, deliver } = await setUp(t);
    const eva: Guest = { ...ana, guest_id: '8', first_name: 'Eva', email: 'eva@guests.example' };
    await deliver(past('a'), past('b', { guests: [eva] }));
    assert.deepEqual([historyIn(account).stays, historyIn(account, eva.email).stays], ['1', '1']);
  });

  test(`${preset}: a companion who agreed has the stay and its moments too, one who did not has neither`, async (t) => {
    const { account, deliver } = await setUp(t);
    const rui: Guest = { first_name: 'Rui', last_name: 'Outro', email: 'rui@guests.example', marketing_consent: true };
    const shy: Guest = { first_name: 'Lia', last_name: 'Outra', email: 'lia@guests.example' };
    await deliver(
      reservation('r', { guests: [ana, rui, shy] }),
      reservation('r', { guests: [ana, rui, shy], status: 'checked_in' }),
    );
    const ids = Object.fromEntries(account.people().map(({ id, email }) => [id, email]));
    const moments = account.moments().map(({ kind, guest }) => `${kind} ${ids[guest ?? '']}`);
    assert.deepEqual(moments.sort(), [
      `booked ${ana.email}`,
      `booked ${rui.email}`,
      `checked_in ${ana.email}`,
      `checked_in ${rui.email}`,
    ]);
    assert.equal(historyIn(account, rui.email).stays, '1');
    if (!sharesStays) return;
    const guests = account
      .stays()
      .flatMap(({ guest }) => String(guest).split(','))
      .map((id) => ids[id]);
    assert.deepEqual(guests.sort(), [ana.email, rui.email]);
  });

  test(`${preset}: a yes that the vendor has by another booking is not sent again`, async (t) => {
    const { account, deliver, unsubscribe } = await setUp(t);
    await deliver(reservation('r', { guests: [ana] }));
    assert.notEqual(account.people()[0]?.subscribed, false);
    unsubscribe(String(ana.email));
    await deliver(reservation('s', { guests: [ana] }), past('t'));
    assert.equal(account.people()[0]?.subscribed, false, 'the guest unsubscribed at the vendor');
  });

  test(`${preset}: two brands in one account meet in one contact, and neither overturns the other`, async (t) => {
    const { account, receive, drainAll, twin } = await setUp(t);
    const { guest_id: _, ...same } = ana;
    const send = async (record: Reservation, brand?: string) => {
      await receive(record, 'push', brand);
      await drainAll();
    };
    await send(past('a'));
    await send({ ...next, guests: [same] }, twin);
    assert.equal(account.people().length, 1);
    const both = historyIn(account);
    assert.deepEqual([both.stays, both.nextIn, both.lastOut], ['1', '2026-12-01', '2024-05-03']);
    // A cancellation at one brand leaves the stay of the other.
    await send(past('a', { status: 'cancelled' }));
    assert.deepEqual([historyIn(account).stays, historyIn(account).nextIn], ['0', '2026-12-01']);
    // A no to one brand is not overturned by a first yes to the other.
    await send(past('a', { guests: [{ ...ana, marketing_consent: false }] }));
    assert.equal(account.people()[0]?.subscribed, false);
    await send(reservation('later', { guests: [same] }), twin);
    assert.equal(account.people()[0]?.subscribed, false);
  });
}
