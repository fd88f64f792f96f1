import { day, ok, pageOf, refused, tokenQuery, type Vendor, whole } from '../vendor.ts';
import { guestsOf, nightsOf, type Status, type Stay } from '../world.ts';

/** Uplisting: Basic of the key alone, a list per property, pages from 0, flat records with the vendor's spellings. */
const words: Record<Status, string> = {
  confirmed: 'confirmed',
  checked_in: 'checked_in',
  checked_out: 'checked_out',
  cancelled: 'cancelled',
  no_show: 'cancelled',
};

const rowOf = (stay: Stay) => ({
  id: 1_000 + stay.no,
  external_reservation_id: `HM${stay.no}`,
  status: stay.kind === 'option' ? 'pending' : words[stay.status],
  booked_at: stay.bookedAt,
  timestamp: stay.changedAt,
  check_in: stay.checkIn,
  check_out: stay.checkOut,
  arrival_time: '15:00:00',
  departure_time: '11:00:00',
  property_id: 2,
  property_name: 'Mi Casa',
  mutli_unit_id: null,
  mutli_unit_name: null,
  guest_name: `${stay.first} ${stay.last}`,
  preferred_guest_name: stay.first,
  guest_email: stay.email,
  guest_phone: stay.phone,
  number_of_guests: guestsOf(stay, 'adults') + guestsOf(stay, 'children'),
  number_of_nights: nightsOf(stay),
  accomodation_total: Number((Number(stay.amount) - 40).toFixed(2)),
  cleaning_fee: 40,
  other_charges: null,
  commission: 14,
  currency: stay.currency,
  channel: 'airbnb_official',
  source: null,
  direct: false,
  note: null,
});

export const vendor: Vendor = {
  system: 'uplisting',
  env: { API_KEY: 'a-key', PROPERTY: '2' },
  kinds: ['option'],
  statuses: ['checked_in', 'checked_out'],
  limited: refused(429, 'Too many requests'),
  authorize: ({ headers }) =>
    headers.authorization === `Basic ${Buffer.from('a-key').toString('base64')}`
      ? undefined
      : refused(401, 'Unauthorized'),
  // It tells how many guests come, not how many of them are adults.
  expects: (stay) => ({ id: String(1_000 + stay.no), adults: guestsOf(stay, 'adults') + guestsOf(stay, 'children') }),
  webhooks: [
    {
      body: { id: 1_001, property_id: 2, status: 'confirmed', timestamp: '2026-05-01T10:00:00Z' },
      query: (secret) => `${tokenQuery(secret)}&event=booking_updated`,
      means: ['reservation.updated', '1001'],
    },
    {
      body: { id: 1_001, property_id: 2, status: 'confirmed', timestamp: '2026-05-01T10:00:00Z' },
      query: (secret) => `${tokenQuery(secret)}&event=booking_removed`,
      means: ['reservation.cancelled', '1001'],
    },
  ],
  routes: [
    {
      method: 'GET',
      path: '/bookings/{property}',
      query: { from: day, to: day, page: whole },
      answer: (asked, book) => {
        if (asked.params.property !== '2') return refused(404, 'Not found');
        const found = book.filter(
          (stay) => stay.checkIn <= asked.text('to', '9') && stay.checkOut >= asked.text('from'),
        );
        const { rows, pages } = pageOf(found.map(rowOf), asked.number('page', 0) + 1, 25);
        return ok({ bookings: rows, meta: { total: found.length, total_pages: pages } });
      },
    },
  ],
};
