import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import type { Guest, Reservation } from '../../src/canonical/reservation.ts';
import { drainOnce } from '../../src/deliver/deliveries.ts';
import { destinationType as http } from '../../src/deliver/destinations/http/destination.ts';
import { compileFields } from '../../src/deliver/fields.ts';
import { Person } from '../../src/privacy/person.ts';
import { mayHoldGuestData, withoutGuests } from '../../src/privacy/strip.ts';
import { transaction } from '../../src/store/db/pool.ts';
import { eraseFromRecords } from '../../src/store/erasure/erase.ts';
import { beginErasure } from '../../src/store/erasure/erasures.ts';
import type { IntegrationName } from '../../src/terms.ts';
import { listen, type Received } from './http-server.ts';
import { config, lane, openStore, ports, reservation, services, takeIn } from './support.ts';
import { type Account, Refusal } from './vendors/account.ts';

let store: ReturnType<typeof openStore> | undefined;
let serial = 0;
after(async () => (await store)?.close());

/**
 * The part of the conformance suite for destinations that keep people: run against an account that behaves as the vendor documents,
 * through the real outbox. It checks what the account holds afterwards, and that the vendor would have refused no request.
 */
export function peopleConformance(make: () => Account): void {
  const { preset, takesPhones, keepsStays, keepsOldValues, onConflict, seed, forget } = make();

  async function setUp(t: TestContext, consent?: 'marketing') {
    store ??= openStore();
    const { pool } = await store;
    // Tests share a store; each has its own brand and destination.
    const name = `${preset}${++serial}`;
    const account = make();
    const refusals: string[] = [];
    let lose: ((request: Received) => boolean) | undefined;
    const server = await listen((request) => {
      try {
        const reply = account.answer(request);
        // The request took effect and the answer is lost.
        return lose?.(request) ? 'cut' : reply;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        refusals.push(`${request.method} ${request.path}: ${error.message}`);
        return { status: 400, body: { message: error.message } };
      }
    });
    const offered = services('/');
    t.after(async () => {
      await server.close();
      await offered.close();
    });
    const parse = (variables: Record<string, string>) => http.settings.parse({ preset, with: variables });
    const basic = account.variables(server.url);
    const prepared = await http.prepare?.(parse(basic), offered, { dryRun: false });
    assert.deepEqual(
      prepared?.steps.filter(({ result }) => !['exists', 'created'].includes(result)),
      [],
    );
    const settings = parse({ ...basic, ...prepared?.settings });
    const selection = {
      receives: ['reservation' as const, 'guest' as const],
      fields: compileFields({}),
      comparesConsent: true,
      ...(consent && { consent }),
    };
    const one = lane(
      config(name, { batch: http.batch(settings).standard, selection, scheduleMs: [1, 1, 1, 1, 1] }),
      name,
    );
    const drain = async (change = {}) => {
      await pool.query('update outbox set due_at = now() where due_at is not null');
      await pool.query('update destination_circuits set probe_at = now() where opened_at is not null');
      const all = ports(pool, [one], { [name]: http.open(settings, offered) });
      return drainOnce({ ...all, store: { ...all.store, ...change } });
    };
    const receive = (record: Reservation, mode: 'pull' | 'push' = 'push') =>
      takeIn(pool, [record], [name], { integration: name, mode });
    const drainAll = async () => {
      const { dead, retry } = await drain();
      assert.deepEqual([dead, retry, refusals], [0, 0, []]);
    };
    const deliver = async (...records: Reservation[]) => {
      for (const record of records) {
        await receive(record);
        await drainAll();
      }
    };
    const erase = async (email: string) => {
      const target = { integration: name as IntegrationName, connectorVersion: 1, integrationVersion: 1 };
      await beginErasure(pool, name, 'test', '');
      await transaction(pool, (tx) =>
        eraseFromRecords(
          tx,
          {
            erasureId: name,
            person: new Person({ emails: [email], integration: name }),
            integration: name,
            hashes: [],
          },
          { strip: withoutGuests, remember: () => [], mayHoldGuestData },
          () => ({ ...target, destinations: { reservation: [name], guest: [] } }),
        ),
      );
      await drainAll();
    };
    const loseOnce = (which: (request: Received) => boolean) => {
      lose = (request) => {
        if (!which(request)) return false;
        lose = undefined;
        return true;
      };
    };
    return { account, receive, drain, drainAll, deliver, erase, refusals, server, loseOnce };
  }

  const ana: Guest = {
    guest_id: '7',
    first_name: 'Ana',
    last_name: 'Exemplo',
    email: 'ana@guests.example',
    phone: '+351912345678',
    nationality: 'PT',
    extra: { language: 'pt' },
    marketing_consent: true,
  };
  /** How many requests look for the person and the new address before an address is changed. */
  const questions = ['salesforce', 'dynamics', 'mailchimp'].includes(preset) ? 1 : 2;
  const kinds = (account: Account) => account.moments().map(({ kind }) => kind);

  test(`${preset}: a stay creates its guest, itself and each of its moments`, async (t) => {
    const { account, deliver } = await setUp(t);
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
    if (person?.guestId !== undefined) assert.equal(person.guestId, 'LIS01:7');
    assert.doesNotMatch(person?.text ?? '', /2026-12/, 'a stay is not part of the person');
    assert.deepEqual(kinds(account), ['booked', 'changed', 'checked_in', 'checked_out']);
    assert.ok(account.moments().every(({ guest }) => guest === person?.id));
    if (!keepsStays) return;
    const expected = {
      key: 'LIS01:r',
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
    const { account, deliver } = await setUp(t);
    const old = reservation('old', {
      guests: [ana],
      check_in: '2024-05-01',
      check_out: '2024-05-03',
      status: 'checked_out',
    });
    const next = reservation('next', { guests: [ana] });
    await deliver(old, next);
    const before = account.people()[0]?.text;
    await deliver({ ...old, total_amount: '1' });
    assert.equal(account.people().length, 1);
    assert.equal(account.people()[0]?.text, before);
    if (!keepsStays) return;
    const stays = Object.fromEntries(account.stays().map((one) => [one.key, [one.checkIn, Number(one.amount)]]));
    assert.deepEqual(stays, { 'LIS01:old': ['2024-05-01', 1], 'LIS01:next': ['2026-12-01', 1250.5] });
  });

  test(`${preset}: a value that the record loses is emptied, and a value of others stays`, async (t) => {
    const { account, receive, drainAll } = await setUp(t);
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
    assert.doesNotMatch(people[String(ana.email)] ?? '', new RegExp(`PT|1980|\\${phone}`));
    assert.ok(people[other.email]?.includes(other.phone));
    const kept = account.stays().find(({ key }) => key === 'LIS01:r');
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
}

/** Numbers below a limit, the same at every run. */
function seeded(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}
