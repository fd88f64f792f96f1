import { createHmac } from 'node:crypto';
import {
  day,
  isBetween,
  listOf,
  matching,
  ok,
  oneOf,
  pageOf,
  refused,
  required,
  text,
  upTo,
  type Vendor,
  whole,
} from '../vendor.ts';
import { guestsOf, nightsOf, type Stay } from '../world.ts';

/** Hospitable's Public API v2: a list needs properties and days, money in cents, the status as an object with its history, dates with offsets. */
const property = 'c0a80101-0000-4000-8000-000000000001';
const idOf = ({ no }: Stay) => `becd1474-ccd1-40bf-9ce8-${String(no).padStart(12, '0')}`;

function rowOf(stay: Stay, include: readonly string[]) {
  const category = stay.kind === 'enquiry' ? 'request' : stay.status === 'cancelled' ? 'cancelled' : 'accepted';
  return {
    id: idOf(stay),
    arrival_date: `${stay.checkIn}T00:00:00-07:00`,
    departure_date: `${stay.checkOut}T00:00:00-07:00`,
    booking_date: stay.bookedAt,
    check_in: `${stay.checkIn}T16:00:00-07:00`,
    check_out: `${stay.checkOut}T11:00:00-07:00`,
    code: `HM${stay.no}`,
    nights: nightsOf(stay),
    platform: 'airbnb',
    platform_id: `HM${stay.no}`,
    stay_type: stay.kind === 'owner' ? 'owner_stay' : 'guest',
    guests: {
      total: guestsOf(stay, 'adults') + guestsOf(stay, 'children'),
      adult_count: guestsOf(stay, 'adults'),
      child_count: guestsOf(stay, 'children'),
      infant_count: 0,
      pet_count: 0,
    },
    reservation_status: {
      current: { category, sub_category: null },
      history: [{ category, sub_category: null, changed_at: stay.cancelledAt ?? stay.bookedAt }],
    },
    ...(include.includes('properties') && { properties: [{ id: property, name: 'Beach house' }] }),
    ...(include.includes('guest') && {
      guest:
        stay.kind === 'booking'
          ? {
              id: `g${stay.no}`,
              first_name: stay.first,
              last_name: stay.last,
              email: stay.email,
              phone_numbers: [stay.phone],
            }
          : null,
    }),
    ...(include.includes('financials') && {
      financials: {
        currency: stay.currency,
        guest: { total_price: { amount: Math.round(Number(stay.amount) * 100), formatted: stay.amount } },
      },
    }),
  };
}

export const vendor: Vendor = {
  system: 'hospitable',
  base: '/v2',
  env: { TOKEN: 'a-token', PROPERTY: property },
  kinds: ['owner', 'enquiry'],
  limited: { status: 429, headers: { 'retry-after': '7' }, json: { message: 'Too Many Attempts.' } },
  authorize: ({ headers }) =>
    headers.authorization === 'Bearer a-token' && headers.accept === 'application/json'
      ? undefined
      : refused(401, 'Unauthenticated.'),
  expects: (stay) => ({ id: idOf(stay) }),
  webhooks: [
    {
      body: {
        id: '01HX0000000000000000000000',
        action: 'reservation.changed',
        data: { id: 'becd1474-ccd1-40bf-9ce8-000000000001', properties: [{ id: property }] },
        created: '2026-05-01T10:00:00Z',
        version: 'v2',
      },
      headers: (secret, body) => ({ signature: createHmac('sha256', secret).update(body).digest('hex') }),
      means: ['reservation.updated', 'becd1474-ccd1-40bf-9ce8-000000000001'],
    },
  ],
  routes: [
    {
      method: 'GET',
      path: '/reservations',
      query: {
        'properties[]': required(listOf(oneOf(property))),
        start_date: required(day),
        end_date: required(day),
        date_query: oneOf('checkin', 'checkout'),
        include: matching(
          /^(guest|properties|listings|financials|review)(,(guest|properties|listings|financials|review))*$/,
        ),
        'status[]': listOf(text),
        page: whole,
        per_page: upTo(100),
      },
      answer: (asked, book) => {
        const dateOf = ({ checkIn, checkOut }: Stay) => (asked.text('date_query') === 'checkout' ? checkOut : checkIn);
        const found = book.filter((stay) => isBetween(asked, dateOf(stay), 'start_date', 'end_date'));
        const [page, size] = [asked.number('page', 1), asked.number('per_page', 10)];
        const { rows, pages } = pageOf(found, page, size);
        const include = asked.text('include').split(',');
        const meta = { current_page: page, last_page: Math.max(1, pages), per_page: size, total: found.length };
        return ok({ data: rows.map((stay) => rowOf(stay, include)), links: [], meta });
      },
    },
    {
      method: 'GET',
      path: '/reservations/{id}',
      query: { include: text },
      answer: (asked, book) => {
        const found = book.find((stay) => idOf(stay) === asked.params.id);
        return found ? ok({ data: rowOf(found, asked.text('include').split(',')) }) : refused(404, 'Not found');
      },
    },
  ],
};
