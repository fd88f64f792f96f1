import { day, matching, ok, oneOf, pageOf, refused, text, upTo, type Vendor, whole } from '../vendor.ts';
import { guestsOf, nightsOf, type Stay } from '../world.ts';

/** Hostify: filters as JSON in a parameter, the guest in a second call, everything from enquiries to no-shows in one list. */
const rowOf = (stay: Stay) => ({
  id: 603_000 + stay.no,
  channel_reservation_id: `HM${stay.no}`,
  listing_id: 1_000 + (stay.no % 9),
  guest_id: 50_000 + stay.no,
  status: statusOf(stay),
  currency: stay.currency,
  base_price: Number(stay.amount) - 30,
  cleaning_fee: 20,
  subtotal: Number((Number(stay.amount) - 10).toFixed(2)),
  tax_amount: 10,
  payout_price: Number(stay.amount) - 50,
  source: 'Airbnb',
  confirmation_code: `HM${stay.no}`,
  checkIn: stay.checkIn,
  checkOut: stay.checkOut,
  nights: nightsOf(stay),
  guests: guestsOf(stay, 'adults') + guestsOf(stay, 'children'),
  adults: guestsOf(stay, 'adults'),
  children: guestsOf(stay, 'children'),
  infants: 0,
  created_at: stay.bookedAt.replace('T', ' ').replace('Z', ''),
  updated_at: stay.changedAt.replace('T', ' ').replace('Z', ''),
});

function statusOf({ kind, status, no }: Stay): string {
  if (kind === 'enquiry') return no % 2 ? 'inquiry' : 'preapproved';
  return status === 'confirmed' ? 'accepted' : status;
}

interface Filter {
  readonly field: string;
  readonly operator: string;
  readonly value: string;
}

export const vendor: Vendor = {
  system: 'hostify',
  env: { API_KEY: 'a-key', PROPERTY: 'account' },
  kinds: ['enquiry'],
  statuses: ['no_show'],
  limited: refused(429, 'Too many requests'),
  authorize: ({ headers }) => (headers['x-api-key'] === 'a-key' ? undefined : refused(401, 'Unauthorized')),
  expects: ({ no }) => ({ id: String(603_000 + no) }),
  routes: [
    {
      method: 'GET',
      path: '/reservations',
      query: {
        listing_id: whole,
        filters: matching(/^\[\s*\{.*\}\s*\]$/),
        sort: oneOf('checkIn', 'checkOut', 'confirmed_at'),
        fees: oneOf('0', '1'),
        start_date: day,
        end_date: day,
        page: whole,
        per_page: upTo(100),
      },
      answer: (asked, book) => {
        const filters = JSON.parse(asked.text('filters', '[]')) as Filter[];
        const isWanted = (row: ReturnType<typeof rowOf>) =>
          filters.every(({ field, operator, value }) => {
            const own = String(row[field as keyof typeof row]);
            return operator === '>=' ? own >= value : operator === '<=' ? own <= value : own === value;
          });
        const found = book.map(rowOf).filter(isWanted);
        const { rows } = pageOf(found, asked.number('page', 1), asked.number('per_page', 20));
        return ok({ success: true, reservations: rows, total: found.length });
      },
    },
    {
      method: 'GET',
      path: '/reservations/{id}',
      query: { fees: oneOf('0', '1') },
      answer: ({ params }, book) => {
        const found = book.map(rowOf).find(({ id }) => String(id) === params.id);
        return found ? ok({ success: true, reservation: found }) : refused(404, 'Reservation not found');
      },
    },
    {
      method: 'GET',
      path: '/guests/{id}',
      query: { listing_id: text },
      answer: ({ params }, book) => {
        const found = book.find(({ no }) => String(50_000 + no) === params.id);
        if (found === undefined) return refused(404, 'Guest not found');
        return ok({
          success: true,
          guest: {
            id: 50_000 + found.no,
            name: `${found.first} ${found.last}`,
            email: found.email,
            phone: found.phone,
          },
        });
      },
    },
  ],
};
