import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { addDays, localDateAt } from '../../../src/core/canonical/values.ts';
import { readTimeline } from '../../../src/core/store/records/timeline.ts';
import type { Json } from '../../../src/terms.ts';
import type { Bench } from './events-support.ts';
import { activeIntegration, openBench, poll, reservationData } from './events-support.ts';
import { integration } from './support.ts';

let bench: Bench;
describe('guest events', () => {
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.end());
  beforeEach(async () => {
    await bench.pool.query('truncate events, records, history, sightings, outbox, dead_letters');
  });

  /** Of the hotel: in summer its day begins an hour before that of UTC. */
  const day = (offset: number) => addDays(localDateAt('Europe/Lisbon', Date.now()), offset);
  const ahead = (more = {}) => reservationData({ check_in: day(10), check_out: day(12), ...more });

  test('an unknown guest becomes a profile', async () => {
    await bench.send('guest.updated', {
      guest_id: 'G-7',
      first_name: 'Ines',
      last_name: 'PRADO',
      email: 'Ines.Prado@Mail.example',
    });
    await bench.work();
    const [profile, ...others] = await bench.profiles();
    assert.deepEqual(others, []);
    assert.deepEqual(profile?.guest, {
      guest_id: 'G-7',
      first_name: 'Ines',
      last_name: 'Prado',
      email: 'ines.prado@mail.example',
    });
    assert.match(profile?.id ?? '', /^gst_[0-9a-f]{24}$/);
    const { rows } = await bench.pool.query('select state, type, id, version from events');
    assert.deepEqual(rows, [{ state: 'done', type: 'guest', id: profile?.id, version: 1 }]);
  });

  test('the fields may be in data.guest', async () => {
    await bench.send('guest.updated', { guest: { id: 'G-8', first_name: 'Tom', email: 'tom@mail.example' } });
    await bench.work();
    const [profile] = await bench.profiles();
    assert.equal(profile?.guest.guest_id, 'G-8');
    assert.equal(profile?.guest.email, 'tom@mail.example');
  });

  for (const [by, first, second] of [
    ['guest_id', { guest_id: 'G-1', email: 'a@mail.example' }, { guest_id: 'G-1', email: 'b@mail.example' }],
    ['e-mail', { email: 'a@mail.example', phone: '+351912345678' }, { guest_id: 'G-1', email: 'A@mail.example' }],
    ['phone', { email: 'a@mail.example', phone: '+351912345678' }, { email: 'b@mail.example', phone: '912 345 678' }],
  ] as const) {
    test(`a known guest is found by ${by}`, async () => {
      await bench.send('guest.updated', { first_name: 'Ana', ...first });
      await bench.send('guest.updated', { last_name: 'Sousa', ...second });
      await bench.work();
      const profiles = await bench.profiles();
      assert.equal(profiles.length, 1);
      assert.equal(profiles[0]?.version, 2);
      assert.equal(profiles[0]?.guest.first_name, 'Ana');
      assert.equal(profiles[0]?.guest.last_name, 'Sousa');
    });
  }

  test('two ids are two guests even with one address; a booking site’s alias matches nobody', async () => {
    await bench.send('guest.updated', { guest_id: 'G-1', email: 'family@mail.example' });
    await bench.send('guest.updated', { guest_id: 'G-2', email: 'family@mail.example' });
    await bench.send('guest.updated', { guest_id: 'G-3', first_name: 'Li', email: 'x.1@guest.booking.com' });
    await bench.send('guest.updated', { first_name: 'Bo', email: 'x.1@guest.booking.com', phone: '+351911111111' });
    await bench.work();
    assert.equal((await bench.profiles()).length, 4);
  });

  test('a withdrawal also counts for stays that are over and have a yes, and nothing else of the event does', async () => {
    const guest = { guest_id: 'G-77', first_name: 'Marta', last_name: 'Vale', marketing_consent: true };
    const past = { check_in: day(-9), check_out: day(-5), status: 'checked-out' };
    const send = (reservation_id: string, more: object) =>
      bench.send('reservation.created', { ...ahead(more), reservation_id }, { occurredAt: Date.now() - 60_000 });
    await send('R-over', { ...past, guests: [guest] });
    await send('R-unsaid', { ...past, guests: [{ ...guest, marketing_consent: null }] });
    await bench.send('guest.updated', { guest_id: 'G-77', phone: '+351 912 345 678', marketing_consent: false });
    await bench.work();
    const found = [await bench.reservation('R-over'), await bench.reservation('R-unsaid')];
    assert.deepEqual(
      found.map((one) => [one?.guests[0]?.marketing_consent, one?.guests[0]?.phone]),
      [
        [false, undefined],
        [undefined, undefined],
      ],
    );
  });

  test('the guest’s future and in-house reservations change too; past and cancelled ones do not', async () => {
    const stays = {
      'R-ahead': ahead(),
      'R-inhouse': ahead({ status: 'checked-in', check_in: day(-1), check_out: day(2) }),
      'R-today': ahead({ check_in: day(-3), check_out: day(0) }),
      'R-past': ahead({ status: 'checked-out', check_in: day(-9), check_out: day(-5) }),
      'R-never-came': ahead({ check_in: day(-9), check_out: day(-5) }),
      'R-cancelled': ahead({ status: 'cancelled' }),
      'R-other-guest': ahead({ guests: [{ first_name: 'Otto', last_name: 'Lind', email: 'otto@mail.example' }] }),
    };
    const at = Date.now() - 60_000;
    for (const [reservation_id, data] of Object.entries(stays)) {
      await bench.send('reservation.created', { ...data, reservation_id }, { occurredAt: at });
    }
    await bench.send('guest.updated', { guest_id: 'G-5', email: 'marta.new@mail.example', phone: '+351 912 345 678' });
    await bench.work();
    const changed: string[] = [];
    for (const id of Object.keys(stays)) if ((await bench.version(id)) === 2) changed.push(id);
    assert.deepEqual(changed, ['R-ahead', 'R-inhouse', 'R-today']);
    const record = await bench.reservation('R-ahead');
    assert.equal(record?.guests[0]?.email, 'marta.new@mail.example');
    assert.equal(record?.guests[0]?.guest_id, 'G-5');
    assert.equal(record?.guests[0]?.first_name, 'Marta', 'fields that the event lacks are kept');
    const { rows } = await bench.pool.query(
      `select cause, outcome, notes from history where id = 'R-ahead' and cause = 'guest'`,
    );
    assert.equal(rows[0].outcome, 'updated');
    assert.deepEqual(
      rows[0].notes.map(([code, field]: string[]) => `${field} ${code}`),
      ['guests[0].guest_id guest_updated', 'guests[0].email guest_updated'],
    );
  });

  test('a guest known by an old address is still found in the reservations that contain it', async () => {
    const at = Date.now() - 60_000;
    await bench.send('guest.updated', { guest_id: 'G-1', email: 'marta.quill@mail.example' }, { occurredAt: at });
    await bench.send(
      'reservation.created',
      ahead({ guests: [{ first_name: 'Marta', email: 'marta.quill@mail.example' }] }),
      { occurredAt: at },
    );
    await bench.send('guest.updated', { guest_id: 'G-1', email: 'marta.two@mail.example' }, { occurredAt: at + 1000 });
    await bench.work();
    assert.equal((await bench.reservation())?.guests[0]?.email, 'marta.two@mail.example');
  });

  test('an address of two companions identifies neither: the event is a dead letter that names the place', async () => {
    const guests = [
      { first_name: 'Paul', last_name: 'Reis', email: 'reis@mail.example' },
      { first_name: 'Rita', last_name: 'Reis', email: 'reis@mail.example' },
    ];
    const at = Date.now() - 60_000;
    await bench.send('reservation.created', ahead({ guests }), { occurredAt: at });
    await bench.send('guest.updated', {
      first_name: 'Rita',
      last_name: 'Reis',
      email: 'reis@mail.example',
      phone: '+351911111111',
    });
    await bench.work();
    const record = await bench.reservation();
    assert.deepEqual(
      record?.guests.map(({ phone }) => phone),
      [undefined, undefined],
    );
    const { rows } = await bench.pool.query('select code, detail from dead_letters');
    const candidates = [{ reservation: 'R-1001', place: 1 }];
    assert.deepEqual(rows, [{ code: 'push.guest_ambiguous', detail: { guest: 0, candidates } }]);
  });

  test('an event that names a reservation reaches its guest even if no key matches', async () => {
    const at = Date.now() - 60_000;
    await bench.send('reservation.created', ahead({ guests: [{ first_name: 'Uma', last_name: 'Vale' }] }), {
      occurredAt: at,
    });
    await bench.send('guest.updated', { reservation_id: 'R-1001', email: 'uma@mail.example' });
    await bench.work();
    assert.equal((await bench.reservation())?.guests[0]?.email, 'uma@mail.example');
  });

  test('a guest who cannot be identified is a dead letter', async () => {
    await bench.send('guest.updated', { first_name: 'Someone' });
    await bench.work();
    const { rows } = await bench.pool.query('select kind, type, code from dead_letters');
    assert.deepEqual(rows, [{ kind: 'event', type: 'guest', code: 'push.guest_unidentified' }]);
  });

  test('an update older than a reservation’s state does not change it', async () => {
    const at = Date.now() - 60_000;
    await bench.send('reservation.created', ahead(), { occurredAt: at });
    await bench.send(
      'guest.updated',
      { email: 'marta.quill@mail.example', first_name: 'Old' },
      { occurredAt: at - 1000 },
    );
    await bench.work();
    assert.equal((await bench.reservation())?.guests[0]?.first_name, 'Marta');
  });

  test('the same update again changes nothing', async () => {
    const at = Date.now() - 60_000;
    await bench.send('reservation.created', ahead(), { occurredAt: at });
    const update = { email: 'marta.quill@mail.example', phone: '+351912345678', marketing_consent: true };
    await bench.send('guest.updated', update, { occurredAt: at + 1 });
    await bench.send('guest.updated', update, { occurredAt: at + 2 });
    await bench.work();
    assert.equal(await bench.version(), 2);
    assert.equal((await bench.profiles())[0]?.version, 1);
  });

  test('a guest event that repeats what is stored outranks older messages that arrive after it', async () => {
    const at = Date.now() - 60_000;
    const [guest] = (ahead() as { guests: { [field: string]: Json }[] }).guests;
    const booked = (consent: boolean, reservation_id: string) =>
      ahead({ reservation_id, guests: [{ ...guest, marketing_consent: consent }] });
    for (const id of ['R-1', 'R-2']) {
      await bench.send('reservation.created', booked(false, id), { occurredAt: at });
    }
    await bench.send(
      'guest.updated',
      { email: 'marta.quill@mail.example', marketing_consent: false },
      { occurredAt: at + 2_000 },
    );
    await bench.work();
    await bench.send('reservation.updated', booked(true, 'R-1'), { occurredAt: at + 1_000 });
    await bench.work();
    const { reservation_id: _, ...row } = booked(true, 'R-2') as { [field: string]: Json };
    await poll(bench, activeIntegration(), at + 1_000, { ...row, id: 'R-2' });
    for (const id of ['R-1', 'R-2']) {
      assert.equal(
        (await bench.reservation(id))?.guests[0]?.marketing_consent,
        false,
        `${id}: the newer refusal holds`,
      );
    }
  });

  test('keys follow the records: an address that no record contains any more matches nothing', async () => {
    const keys = async () =>
      (
        await bench.pool.query(
          `select substr(word, 13) as key from records cross join unnest(tsvector_to_array(keys)) as word
            where id = 'R-1001' and word ~ '^reservation (guest_id|email|phone):' order by word`,
        )
      ).rows.map(({ key }) => key);
    await bench.send('reservation.created', ahead(), { occurredAt: Date.now() - 1000 });
    await bench.work();
    assert.deepEqual(await keys(), ['email:marta.quill@mail.example', 'phone:+351912345678']);
    await bench.send(
      'reservation.updated',
      ahead({
        guests: [{ first_name: 'Marta', last_name: 'Quill', guest_id: 'G-1', email: 'x.1@guest.booking.com' }],
      }),
    );
    await bench.work();
    assert.deepEqual(
      await keys(),
      ['guest_id:G-1', 'phone:+351912345678'],
      'an alias is not a key; a phone number that was not sent is kept',
    );
    await bench.send('reservation.updated', ahead({ guests: [] }));
    await bench.work();
    assert.deepEqual(await keys(), []);
  });

  test('a new e-mail address that comes with the reservation stays with the same profile', async () => {
    await bench.send('reservation.created', ahead());
    await bench.send('guest.updated', { first_name: 'Marta', last_name: 'Quill', email: 'marta.quill@mail.example' });
    await bench.send('guest.updated', {
      reservation_id: 'R-1001',
      first_name: 'Marta',
      last_name: 'Quill',
      email: 'marta.new@mail.example',
    });
    await bench.work();
    const profiles = await bench.profiles();
    assert.deepEqual(
      profiles.map(({ guest }) => guest.email),
      ['marta.new@mail.example'],
    );
    assert.equal((await bench.reservation())?.guests[0]?.email, 'marta.new@mail.example');
  });

  test('a companion’s event for a reservation changes neither the lead guest nor their profile', async () => {
    await bench.send('reservation.created', ahead());
    await bench.send('guest.updated', { first_name: 'Marta', last_name: 'Quill', email: 'marta.quill@mail.example' });
    await bench.send('guest.updated', {
      reservation_id: 'R-1001',
      first_name: 'Rui',
      last_name: 'Quill',
      email: 'rui.quill@mail.example',
    });
    await bench.work();
    const emails = (await bench.profiles()).map(({ guest }) => guest.email);
    assert.deepEqual(new Set(emails), new Set(['marta.quill@mail.example', 'rui.quill@mail.example']));
  });

  for (const [where, wrap] of [
    ['in data', (data: object) => data],
    ['in data.reservation', (data: object) => ({ reservation: data })],
  ] as const) {
    test(`the whole reservation ${where} is accepted: its guests change, nothing else`, async () => {
      await bench.send('reservation.created', ahead());
      await bench.send('guest.updated', { first_name: 'Marta', last_name: 'Quill', email: 'marta.quill@mail.example' });
      const guests = [
        { first_name: 'Marta', last_name: 'Quill', email: 'marta.new@mail.example', phone: '+351912345678' },
        { first_name: 'Rui', last_name: 'Quill', email: 'rui@mail.example' },
      ];
      await bench.send('guest.updated', wrap(ahead({ guests, check_out: day(30) })) as never);
      await bench.work();
      const stored = await bench.reservation();
      assert.equal(stored?.guests[0]?.email, 'marta.new@mail.example');
      assert.equal(stored?.check_out, day(12), 'a guest event does not change the stay');
      assert.deepEqual(
        new Set((await bench.profiles()).map(({ guest }) => guest.email)),
        new Set(['marta.new@mail.example', 'rui@mail.example']),
      );
      const { rows } = await bench.pool.query(`select state from events where state <> 'done'`);
      assert.deepEqual(rows, []);
    });
  }

  test('the timeline says who gave the consent of a guest, and when', async () => {
    const at = Date.now() - 5000;
    const [guest] = (ahead() as { guests: { [field: string]: Json }[] }).guests;
    await bench.send('reservation.created', ahead({ guests: [{ ...guest, marketing_consent: true }] }), {
      occurredAt: at,
    });
    await bench.send('reservation.updated', ahead({ status: 'checked-in' }), { occurredAt: at + 1 });
    await bench.work();
    const story = await readTimeline(bench.pool, integration, 'reservation', 'R-1001');
    assert.deepEqual(story?.consents, [{ guest: 0, value: true, source: 'push', at: new Date(at).toISOString() }]);
    await bench.send(
      'guest.updated',
      { email: 'marta.quill@mail.example', marketing_consent: false },
      { occurredAt: at + 2 },
    );
    await bench.work();
    const after = await readTimeline(bench.pool, integration, 'reservation', 'R-1001');
    assert.deepEqual(after?.consents, [
      { guest: 0, value: false, source: 'guest', at: new Date(at + 2).toISOString() },
    ]);
    const [profile] = await bench.profiles();
    const known = await readTimeline(bench.pool, integration, 'guest', profile?.id ?? '');
    assert.deepEqual(known?.consents, [{ value: false, source: 'guest', at: new Date(at + 2).toISOString() }]);
    const { rows } = await bench.pool.query(
      `select n ->> 0 as code from history, json_array_elements(notes) n where n ->> 0 like 'consent_%'`,
    );
    assert.deepEqual(rows, [{ code: 'consent_withdrawn' }]);
  });

  test('a late withdrawal changes the consent of a profile that has a newer state; the rest of the event is superseded', async () => {
    const at = Date.now() - 60_000;
    const guest = (more = {}) => ({ guest_id: 'G-1', email: 'ana@mail.example', ...more });
    await bench.send('guest.updated', guest({ marketing_consent: true, first_name: 'Ana' }), { occurredAt: at });
    await bench.send('guest.updated', guest({ phone: '+351912345678', first_name: 'Anna' }), {
      occurredAt: at + 2_000,
    });
    await bench.send('guest.updated', guest({ marketing_consent: false, first_name: 'Anne' }), {
      occurredAt: at + 1_000,
    });
    await bench.work();
    const [profile] = await bench.profiles();
    assert.deepEqual(profile?.guest, guest({ first_name: 'Anna', phone: '+351912345678', marketing_consent: false }));
    const timeline = await readTimeline(bench.pool, integration, 'guest', profile?.id ?? '');
    assert.deepEqual(
      timeline?.consents.map(({ value, at: stated }) => [value, stated]),
      [[false, new Date(at + 1_000).toISOString()]],
    );
  });

  test('consent that a newer event cleared is not restored by a late one', async () => {
    const at = Date.now() - 60_000;
    const guest = (more = {}) => ({ guest_id: 'G-1', email: 'ana@mail.example', ...more });
    await bench.send('guest.updated', guest({ marketing_consent: false }), { occurredAt: at });
    await bench.send('guest.updated', guest({ marketing_consent: null }), { occurredAt: at + 2_000 });
    await bench.send('guest.updated', guest({ marketing_consent: true }), { occurredAt: at + 1_000 });
    await bench.work();
    const [profile] = await bench.profiles();
    assert.deepEqual(profile?.guest, guest());
    assert.deepEqual((await readTimeline(bench.pool, integration, 'guest', profile?.id ?? ''))?.consents, []);
  });
});
