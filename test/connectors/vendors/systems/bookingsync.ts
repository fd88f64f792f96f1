import {
  instant,
  issuedTokens,
  matching,
  ok,
  oneOf,
  pageOf,
  refused,
  required,
  upTo,
  type Vendor,
  whole,
} from '../vendor.ts';
import type { Stay } from '../world.ts';

/** BookingSync: cancelled and past bookings only when asked for, local times with a false Z, clients beside bookings. */
const tokens = issuedTokens(4);
const headers = { accept: 'application/vnd.api+json' };
const include = matching(/^(?:client|rental|source)(?:,(?:client|rental|source))*$/);

const bookingOf = (stay: Stay) => ({
  links: { account: 1, rental: 16, client: stay.kind === 'block' ? null : 10_000 + stay.no, source: 3 },
  id: 80_000 + stay.no,
  start_at: `${stay.checkIn}T16:00:00Z`,
  // Late at night: true UTC would be another day.
  end_at: `${stay.checkOut}T23:30:00Z`,
  status: statusOf(stay),
  updated_at: stay.changedAt,
  reference: `0000${stay.no}`,
  initial_price: '3000.0',
  final_price: stay.amount,
  paid_amount: '0.0',
  currency: stay.currency,
  notes: '',
  adults: stay.rooms[0]?.adults ?? null,
  children: stay.rooms[0]?.children || null,
  created_at: stay.bookedAt,
  canceled_at: stay.cancelledAt ?? null,
  external_reference: null,
});

const clientOf = (stay: Stay) => ({
  links: { account: 1 },
  id: 10_000 + stay.no,
  emails: [
    { id: 1, email: 'old@guest.example', canceled_at: '2020-01-01T00:00:00Z', primary: stay.no % 2 === 0 },
    { id: 2, email: stay.email, canceled_at: null, primary: stay.no % 3 === 0 },
  ],
  phones: [{ id: 1, label: 'phone', number: stay.phone, country_code: 'PT', primary: true }],
  fullname: `${stay.first} ${stay.last}`,
  firstname: stay.first,
  lastname: stay.last,
  passport: null,
  preferred_locale: 'en',
});

function statusOf({ kind, status }: Stay): string {
  if (kind === 'block') return 'Unavailable';
  if (kind === 'option') return 'Tentative';
  return status === 'cancelled' ? 'Canceled' : 'Booked';
}

const sideloaded = (asked: { text(name: string): string }, rows: readonly Stay[]) => {
  const names = asked.text('include').split(',');
  return {
    ...(names.includes('client') && { clients: rows.filter(({ kind }) => kind !== 'block').map(clientOf) }),
    ...(names.includes('rental') && { rentals: [{ id: 16, name: 'Chalet' }] }),
    ...(names.includes('source') && { sources: [{ id: 3, name: 'Airbnb' }] }),
  };
};

export const vendor: Vendor = {
  system: 'bookingsync',
  base: '/api/v3',
  env: { CLIENT_ID: 'client', CLIENT_SECRET: 'a-secret', PROPERTY: '1' },
  kinds: ['block', 'option'],
  authorize: ({ headers: sent }) =>
    tokens.isValid(/^Bearer (.*)$/.exec(sent.authorization ?? '')?.[1]) ? undefined : refused(401, 'Unauthorized'),
  limited: { status: 429, headers: { 'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 7) }, json: {} },
  expects: ({ no, rooms: [room] }) => ({ id: String(80_000 + no), adults: room?.adults }),
  login: [
    {
      method: 'POST',
      path: '/oauth/token',
      isOpen: true,
      encoding: 'form',
      body: {
        grant_type: required(oneOf('client_credentials')),
        client_id: required(oneOf('client')),
        client_secret: required(oneOf('a-secret')),
        scope: matching(/bookings_read/),
      },
      answer: () => ok({ access_token: tokens.issue(), token_type: 'Bearer', expires_in: 7200 }),
    },
  ],
  routes: [
    {
      method: 'GET',
      path: '/bookings',
      headers,
      query: {
        account_id: whole,
        updated_since: instant,
        from: instant,
        until: instant,
        include_canceled: oneOf('true', 'false'),
        include,
        page: whole,
        per_page: upTo(100),
      },
      answer: (asked, book) => {
        const from = asked.text('from', new Date().toISOString()).slice(0, 10);
        const found = book.filter(
          (stay) =>
            stay.changedAt >= asked.text('updated_since') &&
            stay.checkOut > from &&
            (stay.status !== 'cancelled' || asked.text('include_canceled') === 'true'),
        );
        const page = asked.number('page', 1);
        const { rows, pages } = pageOf(found, page, asked.number('per_page', 25));
        const query = new URLSearchParams(asked.query);
        query.set('page', String(page + 1));
        const next = page < pages ? { link: `<${asked.url}/bookings?${query}>; rel="next"` } : {};
        return ok(
          { bookings: rows.map(bookingOf), ...sideloaded(asked, rows), meta: { deleted_ids: [] } },
          { ...next, 'x-updated-since-request-synced-at': new Date().toISOString() },
        );
      },
    },
    {
      method: 'GET',
      path: '/bookings/{id}',
      headers,
      query: { account_id: whole, include },
      answer: (asked, book) => {
        const found = book.filter(({ no }) => String(80_000 + no) === asked.params.id);
        return found.length === 0
          ? refused(404, '')
          : ok({ bookings: found.map(bookingOf), ...sideloaded(asked, found) });
      },
    },
  ],
};
