import {
  basicHeaders,
  basicOf,
  day,
  flag,
  instant,
  listOf,
  ok,
  oneOf,
  refused,
  upTo,
  type Vendor,
  whole,
} from '../vendor.ts';
import { guestsOf, type Stay } from '../world.ts';

/** OwnerRez API v2: Basic, the next page as an address, blocks among the bookings, addresses of a guest as lists. */
const rowOf = (stay: Stay, withGuest: boolean) => ({
  id: 273_000 + stay.no,
  type: stay.kind === 'block' ? 'block' : 'booking',
  is_block: stay.kind === 'block',
  arrival: stay.checkIn,
  departure: stay.checkOut,
  check_in: '16:00',
  check_out: '10:00',
  status: stay.kind === 'option' ? 'pending' : stay.status === 'cancelled' ? 'canceled' : 'active',
  booked_utc: stay.bookedAt,
  updated_utc: stay.changedAt,
  canceled_utc: stay.cancelledAt ?? null,
  adults: guestsOf(stay, 'adults'),
  children: guestsOf(stay, 'children'),
  infants: 0,
  pets: 0,
  currency_code: stay.currency,
  total_amount: Number(stay.amount),
  total_owed: 0,
  total_paid: Number(stay.amount),
  property_id: 182_000 + (stay.no % 9),
  listing_site: 'Airbnb',
  platform_reservation_number: stay.no % 2 === 0 ? `HM${stay.no}` : null,
  guest_id: stay.kind === 'block' ? null : 34_000 + stay.no,
  ...(withGuest && stay.kind !== 'block' && { guest: guestOf(stay) }),
});

const guestOf = (stay: Stay) => ({
  id: 34_000 + stay.no,
  first_name: stay.first,
  last_name: stay.last,
  email_addresses: [
    { id: 1, address: `old.${stay.email}`, is_default: false },
    { id: 2, address: stay.email, is_default: true },
  ],
  phones: [{ id: 3, number: stay.phone, is_default: true }],
  addresses: [{ id: 4, city: 'Porto', country: 'PORTUGAL', is_default: true }],
});

export const vendor: Vendor = {
  system: 'ownerrez',
  base: '/v2',
  env: { USERNAME: 'owner@stays.example', PASSWORD: 'pt_1234', PROPERTY: 'account' },
  kinds: ['block', 'option'],
  limited: { status: 429, json: { status: 429, messages: ['Too many requests'] } },
  authorize: ({ headers }) =>
    headers.authorization === basicOf('owner@stays.example', 'pt_1234') && String(headers['user-agent']).length > 5
      ? undefined
      : refused(401, 'Not authorized'),
  expects: ({ no }) => ({ id: String(273_000 + no) }),
  webhooks: [
    {
      body: { id: 9, user_id: 1, action: 'entity_update', entity_type: 'booking', entity_id: 273_001, categories: [] },
      headers: basicHeaders,
      means: ['reservation.updated', '273001'],
    },
    {
      body: {
        id: 10,
        user_id: 1,
        action: 'entity_update',
        entity_type: 'property',
        entity_id: 182_001,
        categories: [],
      },
      headers: basicHeaders,
      means: undefined,
    },
  ],
  routes: [
    {
      method: 'GET',
      path: '/bookings',
      query: {
        since_utc: instant,
        property_ids: listOf(whole),
        status: oneOf('active', 'canceled', 'pending'),
        from: day,
        to: day,
        include_guest: flag,
        include_charges: flag,
        include_door_codes: flag,
        include_tags: flag,
        include_fields: flag,
        limit: upTo(1000),
        offset: whole,
      },
      answer: (asked, book) => {
        if (!asked.query.has('since_utc') && !asked.query.has('property_ids'))
          return refused(400, 'since_utc or property_ids is required');
        const [limit, offset] = [asked.number('limit', 20), asked.number('offset', 0)];
        const found = book.filter(({ changedAt }) => changedAt >= asked.text('since_utc'));
        const items = found
          .slice(offset, offset + limit)
          .map((stay) => rowOf(stay, asked.text('include_guest') === 'true'));
        const next = new URLSearchParams(asked.query);
        next.set('offset', String(offset + limit));
        const hasMore = offset + limit < found.length;
        return ok({
          limit,
          offset,
          count: items.length,
          items,
          next_page_url: hasMore ? `${asked.url}/bookings?${next}` : null,
        });
      },
    },
    {
      method: 'GET',
      path: '/bookings/{id}',
      query: { include_guest: flag, include_charges: flag },
      answer: ({ params }, book) => {
        const found = book.find(({ no }) => String(273_000 + no) === params.id);
        return found ? ok(rowOf(found, true)) : refused(404, 'Not found');
      },
    },
  ],
};
