import { createHmac } from 'node:crypto';
import { day, flag, instant, ok, oneOf, pageOf, refused, upTo, type Vendor, whole } from '../vendor.ts';
import type { Stay } from '../world.ts';

/** Lodgify's v2 bookings: names in one string, a stay filter and a bin that hide bookings by default. */
const rowOf = (stay: Stay) => ({
  id: 123_000 + stay.no,
  user_id: 1,
  property_id: 10_000,
  arrival: stay.checkIn,
  departure: stay.checkOut,
  rooms: stay.rooms.map(({ type, adults, children }) => ({
    room_type_id: Number(type.slice(1)),
    people: adults + children,
    guest_breakdown: { adults, children, infants: 0, pets: 0 },
  })),
  guest: {
    id: `g${stay.no}`,
    name: `${stay.first} ${stay.last}`,
    email: stay.email,
    phone: stay.phone,
    country_code: 'PT',
  },
  status: statusOf(stay),
  source: 'AirbnbIntegration',
  source_text: `HM${stay.no}`,
  language: 'en',
  notes: null,
  currency_code: stay.currency,
  total_amount: stay.amount,
  amount_paid: '0',
  amount_due: stay.amount,
  created_at: stay.bookedAt,
  updated_at: stay.changedAt,
  canceled_at: stay.cancelledAt ?? null,
  is_deleted: false,
});

function statusOf({ kind, status }: Stay): string {
  if (kind === 'enquiry') return 'Open';
  if (kind === 'option') return 'Tentative';
  return status === 'cancelled' ? 'Declined' : 'Booked';
}

export const vendor: Vendor = {
  system: 'lodgify',
  env: { API_KEY: 'a-key', PROPERTY: 'account' },
  kinds: ['enquiry', 'option'],
  rooms: 2,
  limited: refused(429, 'Too many requests'),
  authorize: ({ headers }) => (headers['x-apikey'] === 'a-key' ? undefined : refused(401, 'Unauthorized')),
  expects: ({ no }) => ({ id: String(123_000 + no) }),
  webhooks: [
    {
      body: { action: 'booking_change', booking: { id: 123_001, status: 'Booked' }, guest: { name: 'John Doe' } },
      headers: (secret, body) => ({
        'ms-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
      }),
      means: ['reservation.updated', '123001'],
    },
    {
      body: { action: 'rate_change', property_id: 1 },
      headers: (secret, body) => ({
        'ms-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
      }),
      means: undefined,
    },
  ],
  routes: [
    {
      method: 'GET',
      path: '/v2/reservations/bookings',
      query: {
        page: whole,
        size: upTo(50),
        includeCount: flag,
        stayFilter: oneOf('Upcoming', 'Current', 'Historic', 'All', 'ArrivalDate', 'DepartureDate'),
        stayFilterDate: day,
        updatedSince: instant,
        includeTransactions: flag,
        includeExternal: flag,
        includeQuoteDetails: flag,
        trash: oneOf('False', 'True', 'All'),
      },
      answer: (asked, book) => {
        const today = new Date().toISOString().slice(0, 10);
        const found = book
          .filter(({ changedAt }) => changedAt >= asked.text('updatedSince'))
          .filter(({ checkIn }) => asked.text('stayFilter', 'Upcoming') === 'All' || checkIn >= today);
        const { rows } = pageOf(found.map(rowOf), asked.number('page', 1), asked.number('size', 50));
        return ok({ count: asked.text('includeCount') === 'true' ? found.length : null, items: rows });
      },
    },
    {
      method: 'GET',
      path: '/v2/reservations/bookings/{id}',
      answer: ({ params }, book) => {
        const found = book.map(rowOf).find(({ id }) => String(id) === params.id);
        return found ? ok(found) : refused(404, 'Booking not found');
      },
    },
  ],
};
