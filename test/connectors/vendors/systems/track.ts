import {
  basicOf,
  day,
  instant,
  isBetween,
  listOf,
  ok,
  oneOf,
  pageOf,
  refused,
  text,
  upTo,
  type Vendor,
  whole,
} from '../vendor.ts';
import { guestsOf, nightsOf, type Status, type Stay } from '../world.ts';

/** Track's PMS API: HAL, the guest embedded, occupants as rows by type, amounts as text. */
const words: Record<Status, string> = {
  confirmed: 'Confirmed',
  checked_in: 'Checked In',
  checked_out: 'Checked Out',
  cancelled: 'Cancelled',
  no_show: 'Cancelled',
};

const rowOf = (stay: Stay) => ({
  id: 37_000_000 + stay.no,
  status: stay.kind === 'option' ? 'Hold' : words[stay.status],
  bookedAt: stay.bookedAt.replace('Z', '+00:00'),
  createdAt: stay.bookedAt.replace('Z', '+00:00'),
  updatedAt: stay.changedAt.replace('Z', '+00:00'),
  cancelledAt: stay.cancelledAt?.replace('Z', '+00:00') ?? null,
  arrivalDate: stay.checkIn,
  departureDate: stay.checkOut,
  arrivalTime: `${stay.checkIn}T22:00:00Z`,
  nights: nightsOf(stay),
  unitId: 12,
  typeId: 3,
  contactId: 889 + stay.no,
  channelId: 4,
  currency: stay.currency,
  occupants: [
    { typeId: 2, name: 'Children', handle: 'children', quantity: guestsOf(stay, 'children') },
    { typeId: 1, name: 'Adults', handle: 'adults', quantity: guestsOf(stay, 'adults') },
  ],
  guestBreakdown: { grossRent: '10.00', grandTotal: stay.amount, balance: '0.00' },
  _embedded: {
    contact: {
      id: 889 + stay.no,
      name: `${stay.first} ${stay.last}`,
      firstName: stay.first,
      lastName: stay.last,
      primaryEmail: stay.email,
      cellPhone: stay.phone,
      country: 'US',
    },
    unit: { id: 12, name: 'Unit 12' },
  },
});

export const vendor: Vendor = {
  system: 'track',
  base: '/api',
  env: { USERNAME: 'a-key', PASSWORD: 'a-secret', PROPERTY: 'sample' },
  kinds: ['option'],
  statuses: ['checked_in', 'checked_out'],
  currency: 'USD',
  limited: refused(429, 'Too many requests'),
  authorize: ({ headers }) =>
    headers.authorization === basicOf('a-key', 'a-secret') && headers.accept === 'application/json'
      ? undefined
      : refused(401, 'Unauthorized'),
  expects: ({ no }) => ({ id: String(37_000_000 + no) }),
  routes: [
    {
      method: 'GET',
      path: '/pms/reservations',
      query: {
        page: whole,
        size: upTo(100),
        sortColumn: text,
        sortDirection: oneOf('asc', 'desc'),
        arrivalStart: day,
        arrivalEnd: day,
        departureStart: day,
        departureEnd: day,
        bookedStart: day,
        bookedEnd: day,
        updatedSince: instant,
        'status[]': listOf(text),
        unitId: whole,
      },
      answer: (asked, book) => {
        const found = book
          .filter(({ changedAt }) => changedAt >= asked.text('updatedSince'))
          .filter(({ checkIn }) => isBetween(asked, checkIn, 'arrivalStart', 'arrivalEnd'))
          .filter(({ checkOut }) => isBetween(asked, checkOut, 'departureStart', 'departureEnd'));
        const [page, size] = [asked.number('page', 1), asked.number('size', 25)];
        const { rows, pages } = pageOf(found.map(rowOf), page, size);
        const self = { href: `${asked.url}/pms/reservations?page=${page}` };
        return ok({
          _links: { self },
          _embedded: { reservations: rows },
          page,
          page_count: pages,
          page_size: size,
          total_items: found.length,
        });
      },
    },
    {
      method: 'GET',
      path: '/pms/reservations/{id}',
      answer: ({ params }, book) => {
        const found = book.map(rowOf).find(({ id }) => String(id) === params.id);
        return found ? ok(found) : refused(404, 'Not found');
      },
    },
  ],
};
