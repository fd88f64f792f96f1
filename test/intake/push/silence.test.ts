import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Reservation } from '../../../src/core/canonical/reservation.ts';
import type { Json } from '../../../src/terms.ts';
import type { Bench } from './events-support.ts';
import { activeIntegration, openBench, poll, reservationData } from './events-support.ts';

let bench: Bench;
describe('fields that a message does not have', () => {
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.end());
  beforeEach(async () => {
    await clear(bench);
  });
  const clear = ({ pool }: Bench) => pool.query('truncate events, records, history, sightings, outbox, dead_letters');

  const at = Date.now() - 60_000;
  const full = reservationData({ total_amount: 412.5, currency: 'EUR', channel: 'web' });

  test('an absent key keeps the stored value, a null and an empty list clear it', async () => {
    await bench.send('reservation.created', full, { occurredAt: at });
    await bench.send(
      'reservation.updated',
      { reservation_id: 'R-1001', check_out: '2036-12-08' },
      { occurredAt: at + 1 },
    );
    await bench.work();
    const kept = await bench.reservation();
    assert.equal(kept?.check_out, '2036-12-08');
    assert.equal(kept?.check_in, '2036-12-01');
    assert.equal(kept?.total_amount, '412.5');
    assert.equal(kept?.guests[0]?.last_name, 'Quill');
    await bench.send(
      'reservation.updated',
      { reservation_id: 'R-1001', guests: [], channel: null },
      { occurredAt: at + 2 },
    );
    await bench.work();
    const cleared = await bench.reservation();
    assert.deepEqual(cleared?.guests, []);
    assert.equal(cleared?.channel, undefined);
    assert.equal(cleared?.rooms.length, 1);
    assert.equal(await bench.version(), 3);
  });

  test('thin events of one batch build on each other', async () => {
    await bench.send('reservation.created', full, { occurredAt: at });
    await bench.send(
      'reservation.updated',
      { reservation_id: 'R-1001', check_out: '2036-12-08' },
      { occurredAt: at + 1 },
    );
    await bench.send('reservation.updated', { reservation_id: 'R-1001', status: 'checked-in' }, { occurredAt: at + 2 });
    await bench.send('reservation.cancelled', { reservation_id: 'R-1001' }, { occurredAt: at + 3 });
    await bench.work();
    const record = await bench.reservation();
    assert.equal(record?.check_out, '2036-12-08');
    assert.equal(record?.status, 'cancelled');
    assert.equal(record?.guests.length, 1);
    assert.equal(await bench.version(), 4);
  });

  test('a message that repeats the stored values is unchanged, to the hash', async () => {
    await bench.send('reservation.created', full, { occurredAt: at });
    await bench.work();
    await bench.send(
      'reservation.updated',
      { reservation_id: 'R-1001', check_out: '2036-12-04' },
      { occurredAt: at + 1 },
    );
    await bench.work();
    assert.equal(await bench.version(), 1);
  });

  test('a partial event about a reservation that is not stored is a dead letter that says so', async () => {
    await bench.send('reservation.updated', { reservation_id: 'R-none', check_out: '2036-12-08' });
    await bench.send('reservation.cancelled', { reservation_id: 'R-gone' });
    await bench.work();
    const { rows } = await bench.pool.query('select id, code, message from dead_letters order by dead_letter_id');
    assert.deepEqual(
      rows.map(({ id, code }) => [id, code]),
      [
        ['R-none', 'record.unknown_reservation'],
        ['R-gone', 'record.unknown_reservation'],
      ],
    );
    assert.match(rows[1].message, /^The reservation is not stored, and .*check_in /);
  });

  test('a complete event that breaks a rule of the schema is invalid, whether the reservation is stored or not', async () => {
    await bench.send('reservation.created', reservationData({ check_in: 'soon' }));
    await bench.work();
    const { rows } = await bench.pool.query('select code from dead_letters');
    assert.deepEqual(rows, [{ code: 'record.invalid' }]);
  });

  test('a part of a reservation that overtakes it waits as a dead letter, and is applied when the reservation comes', async () => {
    await bench.send(
      'reservation.updated',
      { reservation_id: 'R-1001', check_out: '2036-12-28' },
      { occurredAt: at + 5 },
    );
    await bench.send('reservation.cancelled', { reservation_id: 'R-1001' }, { occurredAt: at + 9 });
    await bench.work();
    const letters = async () => (await bench.pool.query('select code, state from dead_letters')).rows;
    const waiting = { code: 'record.unknown_reservation', state: 'open' };
    assert.deepEqual(await letters(), [waiting, waiting]);
    assert.equal(await bench.reservation(), undefined);
    await bench.send('reservation.created', reservationData(), { occurredAt: at });
    await bench.work();
    const { status, check_out } = (await bench.reservation()) as Reservation;
    assert.deepEqual([status, check_out], ['cancelled', '2036-12-28']);
    assert.deepEqual(
      (await letters()).map(({ state }) => state),
      ['replayed', 'replayed'],
    );
  });

  test('inside a guest, a room and a charge a key that was not sent keeps the stored value', async () => {
    await bench.send(
      'reservation.created',
      reservationData({
        guests: [{ first_name: 'Marta', last_name: 'Quill', email: 'marta@quill.example', nationality: 'PT' }],
        stays: [{ room_type: 'DBL', board_type: 'HB', adults: 2, children: 1 }],
        charges: [{ code: 'SPA', description: 'Spa', amount: 40, quantity: 2 }],
      }),
      { occurredAt: at },
    );
    await bench.send(
      'reservation.updated',
      reservationData({
        guests: [{ first_name: 'Marta', last_name: 'Quill', email: null, phone: '+351 912 345 678' }],
        stays: [{ room_type: 'DBL', adults: 1 }],
        charges: [{ code: 'SPA', description: 'Spa', amount: 45 }],
      }),
      { occurredAt: at + 1 },
    );
    await bench.work();
    const record = await bench.reservation();
    assert.deepEqual(record?.guests, [
      { first_name: 'Marta', last_name: 'Quill', phone: '+351912345678', nationality: 'PT' },
    ]);
    assert.deepEqual(record?.rooms, [{ room_type: 'DBL', board: 'HB', adults: 1, children: 1 }]);
    assert.deepEqual(record?.charges, [{ code: 'SPA', description: 'Spa', amount: '45', quantity: 2 }]);
  });

  test('with absent: clear an event clears the fields that events gave before, and no others', async () => {
    const active = activeIntegration({ absent: 'clear' });
    const clearing = await openBench(active);
    try {
      await poll(clearing, active, at, { ...pulledStay, channel: 'BDC', source: 'OTA' });
      await clearing.send('reservation.updated', { ...full, channel: 'web' }, { occurredAt: at + 1 });
      await clearing.work();
      const { channel: _, total_amount: __, ...rest } = full as { [field: string]: Json };
      await clearing.send('reservation.updated', rest, { occurredAt: at + 2 });
      await clearing.work();
      const record = await clearing.reservation();
      assert.equal(record?.channel, undefined);
      assert.equal(record?.total_amount, undefined);
      assert.equal(record?.source, 'OTA', 'only the list sent it');
    } finally {
      await clearing.end();
    }
  });

  test('with lists: merge an event names some of the guests and the others stay', async () => {
    const merging = await openBench(activeIntegration({ lists: 'merge' }));
    try {
      const [ana, bo] = [
        { first_name: 'Ana', last_name: 'Reis', email: 'ana@reis.example' },
        { first_name: 'Bo', last_name: 'Lund', email: 'bo@lund.example' },
      ];
      await merging.send('reservation.created', reservationData({ guests: [ana, bo] }), { occurredAt: at });
      const later = reservationData({ guests: [{ ...bo, phone: '+351 912 345 678' }] });
      await merging.send('reservation.updated', later, { occurredAt: at + 1 });
      await merging.work();
      assert.deepEqual((await merging.reservation())?.guests, [ana, { ...bo, phone: '+351912345678' }]);
    } finally {
      await merging.end();
    }
  });

  const pulledStay = { id: 'R-1001', check_in: '2036-12-01', check_out: '2036-12-04', status: 'confirmed' };

  test('a thin event wipes nothing that a poll gave, and the next poll delivers nothing', async () => {
    const active = activeIntegration();
    const row = {
      ...pulledStay,
      confirmation_number: 'C-1',
      channel: 'BDC',
      source: 'OTA',
      total_amount: 412.5,
      currency: 'EUR',
      guests: [
        {
          first_name: 'Marta',
          last_name: 'Quill',
          email: 'marta@quill.example',
          phone: '+351912345678',
          nationality: 'PT',
          date_of_birth: '1980-04-05',
          document_number: 'X1',
          marketing_consent: true,
        },
      ],
      rooms: [
        {
          room_type: 'DBL',
          board: 'HB',
          rate_code: 'BAR',
          start_date: '2036-12-01',
          end_date: '2036-12-04',
          adults: 2,
          children: 0,
        },
      ],
      charges: [{ code: 'FB', description: 'Dinner', amount: 30, quantity: 2 }],
    };
    await poll(bench, active, at, row);
    const pulled = await bench.reservation();
    // The fields that the interface description lists for events, with one of them changed.
    const event = {
      reservation_id: 'R-1001',
      confirmation_number: 'C-1',
      check_in: '2036-12-01',
      check_out: '2036-12-04',
      status: 'checked-in',
      guests: [{ first_name: 'Marta', last_name: 'Quill', email: 'marta@quill.example', phone: '+351912345678' }],
      stays: [{ room_type: 'DBL', board_type: 'HB', adults: 2, children: 0 }],
    };
    await bench.send('reservation.updated', event, { occurredAt: at + 1 });
    await bench.work();
    assert.deepEqual(await bench.reservation(), { ...pulled, status: 'checked_in' });
    assert.equal(await bench.version(), 2);
    const { rows } = await bench.pool.query(
      `select n ->> 1 as field, n ->> 0 as code, n ->> 4 as reason
       from history, json_array_elements(notes) n where version = 2`,
    );
    assert.deepEqual(rows, [
      {
        field:
          'channel, source, total_amount, currency, guests[0].date_of_birth, guests[0].nationality, guests[0].document_number, guests[0].marketing_consent, rooms[0].rate_code, rooms[0].start_date, rooms[0].end_date, charges[0].code, charges[0].description, charges[0].amount, charges[0].quantity',
        code: 'kept_from_pull',
        reason: `No readable value in this message: kept from the list requested at ${new Date(at).toISOString()}.`,
      },
    ]);
    const next = await poll(bench, active, at + 2, { ...row, status: 'checked-in' });
    assert.equal(next.changed, 0);
    const place = async () => (await bench.pool.query('select ctid::text, xmin::text from records')).rows;
    const before = await place();
    assert.equal((await poll(bench, active, at + 3, { ...row, status: 'checked-in' })).unchanged, 1);
    assert.deepEqual(await place(), before, 'a poll without news writes no reservation row');
    assert.equal(await bench.version(), 2);
  });

  test('a field that polls gave and no longer give is cleared, a field that only an event gave is kept', async () => {
    const active = activeIntegration();
    await poll(bench, active, at, { ...pulledStay, channel: 'BDC' });
    await bench.send('reservation.updated', { reservation_id: 'R-1001', source: 'OTA' }, { occurredAt: at + 1 });
    await bench.work();
    await poll(bench, active, at + 2, pulledStay);
    const record = await bench.reservation();
    assert.equal(record?.channel, undefined);
    assert.equal(record?.source, 'OTA');
    await poll(bench, active, at + 3, { ...pulledStay, source: null });
    assert.equal((await bench.reservation())?.source, undefined, 'null clears from any source');
  });

  test('a late event still adds fields that no newer message has stated', async () => {
    const active = activeIntegration();
    await poll(bench, active, at + 5, { ...pulledStay, channel: 'BDC' });
    await bench.send(
      'reservation.updated',
      { reservation_id: 'R-1001', channel: 'web', source: 'OTA' },
      { occurredAt: at },
    );
    await bench.work();
    const record = await bench.reservation();
    assert.equal(record?.channel, 'BDC');
    assert.equal(record?.source, 'OTA');
  });

  test('a late event changes nothing that a poll has confirmed since', async () => {
    const active = activeIntegration();
    await poll(bench, active, at, { ...pulledStay, channel: 'BDC' });
    assert.equal((await poll(bench, active, at + 5, { ...pulledStay, channel: 'BDC' })).unchanged, 1);
    await bench.send('reservation.updated', { reservation_id: 'R-1001', channel: 'web' }, { occurredAt: at + 1 });
    await bench.work();
    assert.equal((await bench.reservation())?.channel, 'BDC');
    const { rows } = await bench.pool.query(`select outcome from events`);
    assert.deepEqual(rows, [{ outcome: 'superseded' }]);
  });

  test('a poll that repeats a value that an event has replaced is read again, and wins', async () => {
    const active = activeIntegration();
    const row = { ...pulledStay, channel: 'BDC' };
    await poll(bench, active, at, row);
    await bench.send('reservation.updated', { reservation_id: 'R-1001', channel: 'web' }, { occurredAt: at + 1 });
    await bench.work();
    assert.equal((await bench.reservation())?.channel, 'web');
    assert.equal((await poll(bench, active, at + 2, row)).changed, 1);
    assert.equal((await bench.reservation())?.channel, 'BDC');
  });

  test('business rules see the merged record, and never what a rule wrote before', async () => {
    const active = activeIntegration(
      {},
      { transforms: [{ when: 'channel == "BDC"', set: { confirmation_number: 'confirmation_number + "-B"' } }] },
    );
    const ruled = await openBench(active);
    try {
      await poll(ruled, active, at, { ...pulledStay, channel: 'BDC', confirmation_number: 'C1' });
      await ruled.send(
        'reservation.updated',
        { reservation_id: 'R-1001', status: 'checked-in' },
        { occurredAt: at + 1 },
      );
      await ruled.send('reservation.updated', { reservation_id: 'R-1001', source: 'OTA' }, { occurredAt: at + 2 });
      await ruled.work();
      const record = await ruled.reservation();
      assert.equal(record?.confirmation_number, 'C1-B');
      assert.equal(record?.status, 'checked_in');
      assert.equal(
        (
          await poll(ruled, active, at + 3, {
            ...pulledStay,
            status: 'checked-in',
            channel: 'BDC',
            confirmation_number: 'C1',
          })
        ).changed,
        0,
      );
    } finally {
      await ruled.end();
    }
  });

  test('a constant of the mapping is not lost at the second message', async () => {
    const constants = activeIntegration(
      {},
      {},
      {
        map: {
          currency: { const: 'EUR' },
          status: { first: [{ const: 'no_show', when: { reason: 'NoShow' } }, 'status'] },
        },
      },
    );
    const own = await openBench(constants);
    try {
      await own.send('reservation.created', full, { occurredAt: at });
      await own.send('reservation.updated', { ...full, channel: 'desk' } as Json, { occurredAt: at + 1 });
      await own.work();
      const kept = await own.reservation();
      assert.equal(kept?.channel, 'desk');
      assert.equal(kept?.currency, 'EUR');
      assert.equal(kept?.status, 'confirmed');
      await own.send('reservation.updated', { ...full, reason: 'NoShow' } as Json, { occurredAt: at + 2 });
      await own.work();
      assert.equal((await own.reservation())?.status, 'no_show');
    } finally {
      await own.end();
    }
  });

  test('two rooms that look alike keep their own fields when an event lists them the other way round', async () => {
    const stay = (id: string, more: object = {}) => ({ id, room_type: 'Double', ...more });
    const stays = [stay('s1', { board_type: 'breakfast' }), stay('s2', { board_type: 'half_board' })];
    await bench.send('reservation.created', reservationData({ stays }), { occurredAt: at });
    const turned = { reservation_id: 'R-1001', stays: [stay('s2', { adults: 1 }), stay('s1', { adults: 2 })] };
    await bench.send('reservation.updated', turned, { occurredAt: at + 1 });
    await bench.work();
    const rooms = (await bench.reservation())?.rooms.map(({ adults, board }) => ({ adults, board }));
    assert.deepEqual(rooms, [
      { adults: 1, board: 'half_board' },
      { adults: 2, board: 'breakfast' },
    ]);
  });
});
