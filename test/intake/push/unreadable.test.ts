import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Json } from '../../../src/terms.ts';
import type { Bench } from './events-support.ts';
import { activeIntegration, openBench, poll, withBench } from './events-support.ts';

/** Values that are present but cannot be read: one per kind of field, at every level. */
describe('a value that cannot be read', () => {
  let bench: Bench;
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.end());
  beforeEach(async () => {
    await bench.pool.query('truncate events, records, history, sightings, outbox, dead_letters');
  });

  const at = Date.now() - 60_000;
  type Row = { [field: string]: Json };
  const guest = {
    first_name: 'Marta',
    last_name: 'Quill',
    email: 'marta@quill.example',
    phone: '+351912345678',
    date_of_birth: '1980-02-03',
    nationality: 'PT',
    document_number: 'X1',
    marketing_consent: true,
  };
  const room = { room_type: 'DBL', start_date: '2036-12-01', end_date: '2036-12-04', adults: 2, children: 1 };
  const charge = { code: 'SPA', description: 'Spa', amount: 40, quantity: 2 };
  const good: Row = {
    id: 'R-1001',
    confirmation_number: 'C-1',
    check_in: '2036-12-01',
    check_out: '2036-12-04',
    status: 'confirmed',
    booking_date: '2026-05-01',
    total_amount: 100.5,
    currency: 'EUR',
    channel: 'web',
    guests: [guest],
    rooms: [room],
    charges: [charge],
  };
  const unreadable: Row = {
    ...good,
    booking_date: 'last May',
    total_amount: '1.234,56',
    currency: 'euros',
    channel: { deep: 1 },
    guests: [
      {
        ...guest,
        email: 'marta(at)quill',
        phone: '12',
        date_of_birth: '30/02/1980',
        nationality: 'Atlantis',
        document_number: ['X1'],
        marketing_consent: 'perhaps',
      },
    ],
    rooms: [{ ...room, start_date: 'Tuesday', end_date: 'Friday', adults: 'two', children: -1 }],
    charges: [{ ...charge, amount: '40,-', quantity: 'a few' }],
  };
  const asEvent = ({ id, rooms, ...rest }: Row): Json => ({ reservation_id: id ?? null, stays: rooms ?? [], ...rest });
  const notes = async ({ pool }: Pick<Bench, 'pool'> = bench) => {
    const { rows } = await pool.query<{ field: string }>(
      `select n ->> 1 as field from history, json_array_elements(notes) n
        where n ->> 0 in ('invalid_dropped', 'email_invalid', 'phone_impossible') order by entry_id`,
    );
    return rows.map(({ field }) => field);
  };
  const fields = [
    'booking_date',
    'channel',
    'charges[0].amount',
    'charges[0].quantity',
    'currency',
    'guests[0].date_of_birth',
    'guests[0].document_number',
    'guests[0].email',
    'guests[0].marketing_consent',
    'guests[0].nationality',
    'guests[0].phone',
    'rooms[0].adults',
    'rooms[0].children',
    'rooms[0].end_date',
    'rooms[0].start_date',
    'total_amount',
  ];
  for (const isPushed of [true, false]) {
    const name = isPushed ? 'one of two sources' : 'the only source';
    test(`in a pulled row keeps the stored value with a note; ${name}`, async () => {
      const active = activeIntegration({}, { push: { enabled: isPushed } });
      await poll(bench, active, at, good);
      const stored = await bench.reservation();
      await poll(bench, active, at + 1, unreadable);
      assert.deepEqual(await bench.reservation(), stored);
      assert.equal(await bench.version(), 1, 'nothing is delivered');
      assert.deepEqual((await notes()).sort(), fields);
      // The same row again writes nothing; one that lacks or empties the fields clears them.
      assert.equal((await poll(bench, active, at + 2, unreadable)).unchanged, 1);
      assert.equal((await notes()).length, fields.length);
      const { total_amount: _amount, ...less } = unreadable;
      await poll(bench, active, at + 3, { ...less, currency: '', guests: [{ ...guest, phone: null }] });
      const cleared = await bench.reservation();
      assert.deepEqual(
        [cleared?.total_amount, cleared?.currency, cleared?.guests[0]?.phone, cleared?.booking_date],
        [undefined, undefined, undefined, '2026-05-01'],
      );
      await poll(bench, active, at + 4, good);
      assert.deepEqual(await bench.reservation(), stored);
    });
  }

  for (const absent of ['keep', 'clear'] as const) {
    test(`in an event keeps the stored value with a note; absent: ${absent}`, async () => {
      await withBench(async (own) => {
        await own.send('reservation.created', asEvent(good), { occurredAt: at });
        await own.work();
        const stored = await own.reservation();
        await own.send('reservation.updated', asEvent(unreadable), { occurredAt: at + 1 });
        await own.work();
        assert.deepEqual(await own.reservation(), stored);
        assert.deepEqual((await notes(own)).sort(), fields);
        const emptied = { ...good, total_amount: null, guests: [{ ...guest, email: '' }] };
        await own.send('reservation.updated', asEvent(emptied), { occurredAt: at + 2 });
        await own.work();
        const cleared = await own.reservation();
        assert.deepEqual([cleared?.total_amount, cleared?.guests[0]?.email], [undefined, undefined]);
      }, activeIntegration({ absent }));
    });
  }

  test('in an event keeps what a poll gave, and changes the other fields', async () => {
    const active = activeIntegration();
    await poll(bench, active, at, good);
    const stored = await bench.reservation();
    await bench.send('reservation.updated', asEvent({ ...unreadable, status: 'checked_in' }), { occurredAt: at + 1 });
    await bench.work();
    assert.deepEqual(await bench.reservation(), { ...stored, status: 'checked_in' });
    assert.deepEqual((await notes()).sort(), fields);
  });

  test('in place of a list keeps the stored list', async () => {
    for (const isPushed of [true, false]) {
      const active = activeIntegration({}, { push: { enabled: isPushed } });
      await poll(bench, active, at, good);
      const stored = await bench.reservation();
      await poll(bench, active, at + 1, { ...good, guests: 'two', rooms: 7, charges: ['SPA'] });
      assert.deepEqual(await bench.reservation(), stored);
      await poll(bench, active, at + 2, { ...good, guests: [], rooms: null, charges: [] });
      const cleared = await bench.reservation();
      assert.deepEqual([cleared?.guests, cleared?.rooms, cleared?.charges], [[], [], []]);
      await poll(bench, active, at + 3, good);
      await bench.pool.query('truncate records, history, sightings, outbox');
    }
  });

  test('in a guest’s update keeps the stored value', async () => {
    await bench.send('reservation.created', asEvent({ ...good, check_in: '2099-12-01', check_out: '2099-12-04' }), {
      occurredAt: at,
    });
    await bench.work();
    const stored = await bench.reservation();
    const update = { ...(unreadable.guests as Row[])[0], phone: '12', marketing_consent: false };
    await bench.send('guest.updated', { reservation_id: 'R-1001', ...update }, { occurredAt: at + 1 });
    await bench.work();
    const changed = await bench.reservation();
    assert.deepEqual(changed?.guests, [{ ...stored?.guests[0], marketing_consent: false }]);
  });

  test('is kept as raw text where nothing was stored, until a readable one comes', async () => {
    const active = activeIntegration();
    await poll(bench, active, at, unreadable);
    const first = (await bench.reservation())?.guests[0];
    assert.deepEqual([first?.email_raw, first?.phone_raw, first?.email], ['marta(at)quill', '12', undefined]);
    await poll(bench, active, at + 1, good);
    const then = (await bench.reservation())?.guests[0];
    assert.deepEqual([then?.email_raw, then?.phone_raw, then?.email], [undefined, undefined, guest.email]);
  });
});
