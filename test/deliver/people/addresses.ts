import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Guest } from '../../../src/core/canonical/reservation.ts';
import { presets } from '../../../src/core/deliver/destinations/http/preset.ts';
import { reservation } from '../support.ts';
import type { Account } from '../vendors/account.ts';
import { ana, setUpPeople } from './set-up.ts';

/** Who is who: one person per guest, found again by address or number, and moved when an address changes. */
export function peopleAndAddresses(make: () => Account): void {
  const { preset, takesPhones, keepsOldValues, onConflict, seed } = make();
  const setUp = setUpPeople(make);
  const isBatched = (presets.get(preset)?.batch ?? 1) > 1;
  /** How many requests look for the person and the new address before an address is changed. */
  const questions = ['salesforce', 'dynamics', 'mailchimp'].includes(preset) ? 1 : 2;

  test(`${preset}: a changed address moves the person, and what the person decided`, async (t) => {
    const { account, deliver } = await setUp(t);
    await deliver(
      reservation('r', { guests: [ana] }),
      reservation('r', { guests: [{ ...ana, marketing_consent: false }] }),
    );
    const [before] = account.people();
    assert.equal(before?.subscribed, false);
    await deliver(reservation('r', { guests: [{ ...ana, email: 'new@guests.example', marketing_consent: false }] }));
    const people = account.people();
    assert.deepEqual(
      people.map(({ id, email }) => [id, email]),
      [[before?.id, 'new@guests.example']],
    );
    assert.equal(people[0]?.subscribed, false);
  });

  test(`${preset}: an address that somebody else on the booking still has is not moved`, async (t) => {
    const { account, deliver } = await setUp(t);
    const child: Guest = { first_name: 'Zé', last_name: 'Exemplo', email: 'ana@guests.example' };
    const { guest_id: _, ...booker } = ana;
    await deliver(reservation('r', { guests: [booker, child] }));
    const [before] = account.people();
    await deliver(reservation('r', { guests: [{ ...booker, email: 'new@guests.example' }, child] }));
    const emails = Object.fromEntries(account.people().map(({ id, email }) => [email, id]));
    assert.deepEqual(Object.keys(emails).sort(), ['ana@guests.example', 'new@guests.example']);
    assert.equal(emails['ana@guests.example'], before?.id);
  });

  for (const first of ['bookings', 'profiles'] as const) {
    test(`${preset}: an address that booker and child share has the booker's name, ${first} first`, async (t) => {
      const { account, receive, drainAll, assemble, pool } = await setUp(t);
      const { guest_id: _, ...booker } = ana;
      const child: Guest = { first_name: 'Zé', last_name: 'Exemplo', email: 'ana@guests.example' };
      const bookings = [reservation('r', { guests: [booker, child] }), reservation('s', { guests: [booker] })];
      for (const booking of bookings) await receive(booking);
      const later = first === 'bookings' ? 'guest' : 'reservation';
      await assemble(...bookings);
      await pool.query(`update outbox set due_at = 'infinity' where type = $1`, [later]);
      await drainAll(['reservation', 'guest'].filter((type) => type !== later));
      await drainAll();
      assert.deepEqual(
        account.people().map(({ email, first: name }) => [email, name]),
        [['ana@guests.example', 'Ana']],
      );
    });
  }

  test(`${preset}: a profile that says what its booking has said costs no request, and its withdrawal is sent`, async (t) => {
    const { account, receive, drainAll, assemble, pool, server, name } = await setUp(t);
    const hold = (type: string) =>
      pool.query(`update outbox set due_at = 'infinity' where destination = $1 and type = $2`, [name, type]);
    const first = reservation('r', { guests: [ana] });
    await receive(first);
    await assemble(first);
    await hold('guest');
    await drainAll(['reservation']);
    const before = server.received.length;
    await drainAll();
    assert.equal(server.received.length, before);
    const second = reservation('s', { guests: [{ ...ana, marketing_consent: false }] });
    await receive(second);
    await assemble(second);
    await hold('reservation');
    await drainAll(['guest']);
    assert.deepEqual(
      account.people().map(({ subscribed }) => subscribed),
      [false],
    );
  });

  test(`${preset}: an agency's address has nobody's name`, async (t) => {
    const { account, receive, drainAll, assemble } = await setUp(t);
    const at = { email: 'desk@agency.example' };
    const bookings = [
      reservation('r', { guests: [{ first_name: 'Ana', last_name: 'Exemplo', ...at }] }),
      reservation('s', { guests: [{ first_name: 'Rui', last_name: 'Modelo', ...at }] }),
    ];
    for (const booking of bookings) await receive(booking);
    await assemble(...bookings);
    await drainAll();
    assert.deepEqual(
      account.people().map(({ email, first: name }) => [email, name ?? '']),
      [['desk@agency.example', '']],
    );
  });

  if (seed) {
    test(`${preset}: a changed address that the vendor knows already`, async (t) => {
      const { account, deliver, receive, drainAll } = await setUp(t);
      await deliver(reservation('r', { guests: [ana] }), reservation('s', { guests: [ana] }));
      account.seed?.('new@guests.example');
      // Both bookings of the person in one batch.
      for (const id of ['r', 's'])
        await receive(reservation(id, { guests: [{ ...ana, email: 'new@guests.example' }] }));
      await drainAll();
      const emails = account
        .people()
        .map(({ email }) => email)
        .sort();
      const both = ['ana@guests.example', 'new@guests.example'];
      assert.deepEqual(emails, onConflict === 'both' ? both : ['new@guests.example']);
    });

    test(`${preset}: a person whom the vendor knows already is not doubled`, async (t) => {
      const { account, deliver } = await setUp(t);
      account.seed?.('ana@guests.example');
      const [known] = account.people();
      await deliver(reservation('r', { guests: [ana] }));
      assert.deepEqual(
        account.people().map(({ id, last }) => [id, last]),
        [[known?.id, 'Exemplo']],
      );
    });
  }

  test(`${preset}: a guest who loses the address leaves it, and takes none from a guest with the same number`, async (t) => {
    const { account, receive, drainAll } = await setUp(t);
    const eva: Guest = { ...ana, guest_id: '8', first_name: 'Eva', email: 'eva@guests.example' };
    const { email: _, ...withoutAddress } = ana;
    const shared = [
      reservation('s', { guests: [eva] }),
      reservation('q', { guests: [{ first_name: 'Lia', phone: String(ana.phone) }] }),
      reservation('r', { guests: [ana] }),
      reservation('r', { guests: [withoutAddress] }),
    ];
    const own = { ...ana, guest_id: '9', email: 'own@guests.example', phone: '+351917777777' };
    const { email: _own, ...withoutOwn } = own;
    for (const record of [...shared, reservation('u', { guests: [own] }), reservation('u', { guests: [withoutOwn] })]) {
      await receive(record, 'pull');
      await drainAll();
    }
    const emails = account.people().map(({ email }) => email);
    assert.ok(emails.includes(eva.email));
    if (takesPhones && !keepsOldValues) assert.ok(!emails.includes(own.email), 'the address is not theirs any more');
  });

  if (seed) {
    test(`${preset}: an address that the vendor gets while the person is moved makes no dead letter`, async (t) => {
      const { account, deliver, receive, drain, drainAll, loseOnce, refusals } = await setUp(t);
      await deliver(reservation('r', { guests: [ana] }));
      await receive(reservation('r', { guests: [{ ...ana, email: 'new@guests.example' }] }));
      // The requests before it asked for the new address.
      let asked = 0;
      loseOnce(({ method, path }) => {
        if (method !== 'GET' && !path.includes('export')) return false;
        if (++asked === questions) account.seed?.('new@guests.example');
        return false;
      });
      const { dead } = await drain();
      assert.deepEqual([dead, asked >= questions, refusals], [0, true, []]);
      await drainAll();
      assert.ok(account.people().some(({ email }) => email === 'new@guests.example'));
    });
  }

  if (isBatched) {
    test(`${preset}: an older booking in the same batch does not bring back the address that a person left`, async (t) => {
      const { account, deliver, receive, drainAll } = await setUp(t);
      await deliver(reservation('r', { guests: [ana] }));
      // Another booking under the old address, then the changed address; both wait for one batch.
      await receive(reservation('s', { guests: [ana] }));
      await receive(reservation('r', { guests: [{ ...ana, email: 'new@guests.example' }] }));
      await drainAll();
      assert.deepEqual(
        account.people().map(({ email }) => email),
        ['new@guests.example'],
      );
    });
  }

  test(`${preset}: two people with one phone number in two bookings stay two people`, async (t) => {
    const { account, deliver } = await setUp(t);
    const filipe: Guest = { ...ana, guest_id: '8', first_name: 'Filipe', email: 'filipe@guests.example' };
    await deliver(reservation('r', { guests: [ana] }), reservation('s', { guests: [filipe] }));
    assert.deepEqual(
      account.people().map(({ first, email }) => [first, email]),
      [
        ['Ana', 'ana@guests.example'],
        ['Filipe', 'filipe@guests.example'],
      ],
    );
  });

  test(`${preset}: one guest id with two addresses in two bookings makes no dead letter`, async (t) => {
    const { account, deliver } = await setUp(t);
    const work = { ...ana, email: 'work@guests.example', phone: '+351913333333' };
    await deliver(reservation('r', { guests: [ana] }), reservation('s', { guests: [work] }));
    const emails = account.people().map(({ email }) => email);
    assert.deepEqual(emails, ['ana@guests.example', 'work@guests.example']);
  });

  test(`${preset}: an address that ends like a file name is moved and erased like any other`, async (t) => {
    const { account, deliver, erase } = await setUp(t);
    const at = (email: string) => reservation('r', { guests: [{ ...ana, email }] });
    await deliver(at('ana@company.inc'), at('ana@other.inc'));
    assert.deepEqual(
      account.people().map(({ email }) => email),
      ['ana@other.inc'],
    );
    await erase('ana@other.inc');
    assert.deepEqual(account.people(), []);
  });

  test(`${preset}: a child with the booker's address does not take over the booker's name`, async (t) => {
    const { account, deliver } = await setUp(t);
    const child: Guest = { first_name: 'Zé', last_name: 'Exemplo', email: 'ana@guests.example' };
    for (const [i, guests] of [
      [ana, child],
      [child, ana],
      [child, ana],
    ].entries()) {
      await deliver(reservation('r', { guests, total_amount: String(i) }));
      const names = account.people().map(({ first }) => first);
      assert.deepEqual(names, ['Ana'], `version ${i + 1}`);
    }
  });

  test(`${preset}: guests of a booking who have one phone number are all there`, async (t) => {
    const { account, deliver } = await setUp(t);
    const rui: Guest = { ...ana, guest_id: '8', first_name: 'Rui', email: 'rui@guests.example' };
    await deliver(reservation('r', { guests: [ana, rui] }), reservation('s', { guests: [rui, ana] }));
    const seen = account.people().map(({ first, email }) => [first, email]);
    assert.deepEqual(seen, [
      ['Ana', 'ana@guests.example'],
      ['Rui', 'rui@guests.example'],
    ]);
  });

  test(`${preset}: guests without an e-mail address`, async (t) => {
    const { account, deliver } = await setUp(t);
    const phone: Guest = { first_name: 'Eva', last_name: 'Exemplo', phone: '+351919999999' };
    const alias: Guest = { first_name: 'Gil', last_name: 'Exemplo', email: 'x1@alias.example', email_proxy: true };
    await deliver(reservation('r', { guests: [phone] }), reservation('s', { guests: [alias] }));
    const seen = account.people().map(({ first, phone: number, email }) => [first, number, email]);
    assert.deepEqual(seen, takesPhones ? [['Eva', '+351919999999', undefined]] : []);
    if (takesPhones)
      assert.deepEqual(
        account.moments().map(({ guest }) => guest),
        [account.people()[0]?.id],
      );
    // Later the address is known, also in another booking.
    const known = { ...phone, email: 'eva@guests.example' };
    await deliver(
      reservation('u', { guests: [phone] }),
      reservation('r', { guests: [known] }),
      reservation('u', { guests: [known] }),
    );
    assert.deepEqual(
      account.people().map(({ email }) => email),
      ['eva@guests.example'],
    );
  });
}
