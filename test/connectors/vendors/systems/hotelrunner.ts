import { day, flag, ok, oneOf, refused, text, type Vendor, whole } from '../vendor.ts';
import { guestsOf, type Stay } from '../world.ts';

/** HotelRunner: a list that shows undelivered messages of the last ten days unless asked for all; credentials in the query. */
const credentials = { token: oneOf('a-token'), hr_id: oneOf('4711') };

const rowOf = (stay: Stay) => ({
  reservation_id: stay.no,
  hr_number: `R${stay.no}`,
  provider_number: `B${stay.no}`,
  channel: 'bookingcom',
  channel_display: 'Booking.com',
  state: stay.status === 'cancelled' ? 'canceled' : stay.no % 2 === 0 ? 'reserved' : 'confirmed',
  guest: `${stay.first} ${stay.last}`,
  firstname: stay.first,
  lastname: stay.last,
  address: { email: stay.email, phone: stay.phone, city: 'Porto', country_code: 'PT' },
  total: Number(stay.amount),
  currency: stay.currency,
  checkin_date: stay.checkIn,
  checkout_date: stay.checkOut,
  completed_at: stay.bookedAt,
  updated_at: stay.changedAt,
  note: null,
  total_rooms: stay.rooms.length,
  total_guests: guestsOf(stay, 'adults') + guestsOf(stay, 'children'),
  rooms: stay.rooms.map((room) => ({
    rate_code: 'BAR',
    inv_code: room.type,
    name: room.type,
    checkin_date: stay.checkIn,
    checkout_date: stay.checkOut,
    total_adult: room.adults,
    child_ages: Array.from({ length: room.children }, () => 4),
    total: 1,
    daily_prices: [],
  })),
  message_uid: `${stay.no}-${stay.changedAt}`,
});

export const vendor: Vendor = {
  system: 'hotelrunner',
  base: '/api/v2/apps',
  env: { TOKEN: 'a-token', PROPERTY: '4711' },
  rooms: 3,
  authorize: ({ query }) => (query.get('token') && query.get('hr_id') ? undefined : refused(401, 'Unauthorized')),
  limited: refused(429, 'Rate limit exceeded'),
  expects: ({ no }) => ({ id: `R${no}` }),
  routes: [
    {
      method: 'GET',
      path: '/reservations',
      query: {
        ...credentials,
        undelivered: flag,
        from_date: day,
        from_last_update_date: day,
        modified: flag,
        booked: flag,
        reservation_number: text,
        per_page: whole,
        page: whole,
      },
      answer: (asked, book) => {
        const isOpen = asked.text('undelivered', 'true') === 'true';
        const number = asked.text('reservation_number');
        const from = asked.text('from_date', new Date(Date.now() - 864e6).toISOString().slice(0, 10));
        const found = book
          .filter((stay) => (number === '' ? stay.bookedAt.slice(0, 10) >= from : `R${stay.no}` === number))
          .filter((stay) => !isOpen || stay.no % 2 === 0)
          .filter((stay) => stay.changedAt.slice(0, 10) >= asked.text('from_last_update_date'))
          .map(rowOf);
        // Another application confirmed half of the messages. Pages are capped, whatever is asked for.
        const [page, size] = [asked.number('page', 1), Math.min(25, asked.number('per_page', 10))];
        const reservations = found.slice((page - 1) * size, page * size);
        const pages = Math.max(1, Math.ceil(found.length / size));
        return ok({ reservations, count: reservations.length, current_page: page, pages });
      },
    },
  ],
};
