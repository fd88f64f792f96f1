import { matching, ok, refused, required, type Vendor, whole } from '../vendor.ts';
import type { Stay } from '../world.ts';

/** WuBook ZAK: every call a form, its filters JSON in one field, days as DD/MM/YYYY, the booker by a second call. */
const dotted = (day: string) => day.split('-').reverse().join('/');
const iso = (day: string) => day.split('/').reverse().join('-');

const rowOf = (stay: Stay) => ({
  id: 17_024_000 + stay.no,
  id_human: `ZK-${stay.no}`,
  rsrvid: stay.no,
  status: stay.status === 'cancelled' ? 'Cancelled' : 'Confirmed',
  created: `${dotted(stay.bookedAt.slice(0, 10))} ${stay.bookedAt.slice(11, 16)}`,
  booker: 900 + stay.no,
  origin: { channel: stay.no % 2 === 0 ? 'Booking.com' : '--' },
  price: {
    currency: stay.currency,
    rooms: { amount: 200, vat: 20, total: 220, currency: stay.currency },
    extras: { amount: 15, currency: stay.currency },
    total: Number(stay.amount),
  },
  rooms: stay.rooms.map((room, i) => ({
    id_zak_room: 500 + i,
    id_zak_room_type: room.type,
    dfrom: dotted(stay.checkIn),
    dto: dotted(stay.checkOut),
    occupancy: { adults: room.adults, children: room.children },
    price: { amount: 200, vat: 20, total: 220, currency: stay.currency },
  })),
});

interface Range {
  readonly from: string;
  readonly to: string;
}

export const vendor: Vendor = {
  system: 'wubook-zak',
  base: '/kp',
  env: { API_KEY: 'wb_key', PROPERTY: '183308' },
  rooms: 3,
  authorize: ({ headers }) => (headers['x-api-key'] === 'wb_key' ? undefined : refused(401, 'Unauthorized')),
  limited: refused(429, 'Too many requests'),
  expects: ({ no }) => ({ id: String(17_024_000 + no) }),
  routes: [
    {
      method: 'POST',
      path: '/reservations/fetch_reservations',
      encoding: 'form',
      body: { filters: required(matching(/^\{.*\}$/)) },
      answer: (asked, book) => {
        const filters = JSON.parse(asked.text('filters')) as {
          arrival?: Range;
          created?: Range;
          departure?: Range;
          pager?: { limit?: number; offset?: number };
        };
        const { arrival, pager: { limit = 64, offset = 0 } = {}, ...others } = filters;
        const isRight = arrival && [arrival.from, arrival.to].every((day) => /^\d\d\/\d\d\/\d{4}$/.test(day));
        if (!isRight || Object.keys(others).length > 0 || limit > 64) return refused(400, asked.text('filters'));
        const found = book.filter(({ checkIn }) => checkIn >= iso(arrival.from) && checkIn <= iso(arrival.to));
        return ok({ data: { reservations: found.slice(offset, offset + limit).map(rowOf) } });
      },
    },
    {
      method: 'POST',
      path: '/reservations/fetch_one_reservation',
      encoding: 'form',
      body: { id: required(whole) },
      answer: (asked, book) => {
        const found = book.find(({ no }) => String(17_024_000 + no) === asked.text('id'));
        return found ? ok({ data: rowOf(found) }) : ok({ error: 'Not found' });
      },
    },
    {
      method: 'POST',
      path: '/customers/fetch_one',
      encoding: 'form',
      body: { id: required(whole) },
      answer: (asked, book) => {
        const found = book.find(({ no }) => String(900 + no) === asked.text('id'));
        if (found === undefined) return ok({ error: 'Not found' });
        const { first, last, email, phone } = found;
        return ok({ data: { main_info: { name: first, surname: last, country: 'PT' }, contacts: { email, phone } } });
      },
    },
  ],
};
