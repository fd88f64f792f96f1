import { day, issuedTokens, ok, oneOf, pageOf, refused, required, upTo, type Vendor, whole } from '../vendor.ts';
import { guestsOf, type Stay } from '../world.ts';

/** Octorate's Connect API: the property in the path, the meaning of the days in `type`, pages from 0, a record per room. */
const tokens = issuedTokens(3);

const rowOf = (stay: Stay) => ({
  id: 123_456_000 + stay.no,
  refer: `44${stay.no}`,
  status: stay.status === 'cancelled' ? 'CANCELLED' : 'CONFIRMED',
  checkin: `${stay.checkIn}T00:00:00Z`,
  checkout: `${stay.checkOut}T00:00:00Z`,
  createTime: stay.bookedAt,
  updateTime: stay.changedAt,
  channelName: 'Booking.com',
  channelNotes: '',
  firstName: stay.first,
  lastName: stay.last,
  guestMailAddress: stay.email,
  phone: stay.phone,
  arrivalTime: '16:00',
  children: guestsOf(stay, 'children'),
  infants: 0,
  totalGuest: guestsOf(stay, 'adults') + guestsOf(stay, 'children'),
  roomName: 'Double',
  roomGross: Number(stay.amount) - 10,
  totalGross: Number(stay.amount),
  currency: stay.currency,
  paymentStatus: 'UNPAID',
  paymentType: 'HOTEL',
});

export const vendor: Vendor = {
  system: 'octorate',
  base: '/connect/rest/v1',
  env: { CLIENT_ID: 'an-id', CLIENT_SECRET: 'a-secret', REFRESH_TOKEN: 'a-refresh-token', PROPERTY: '557782' },
  currency: 'EUR',
  limited: refused(429, 'Too many requests'),
  authorize: ({ headers }) =>
    tokens.isValid(/^Bearer (.*)$/.exec(headers.authorization ?? '')?.[1]) ? undefined : refused(401, 'Invalid token'),
  expects: ({ no }) => ({ id: String(123_456_000 + no) }),
  routes: [
    {
      method: 'POST',
      path: '/identity/refresh',
      encoding: 'form',
      body: {
        grant_type: required(oneOf('refresh_token')),
        refresh_token: required(oneOf('a-refresh-token')),
        client_id: required(oneOf('an-id')),
        client_secret: required(oneOf('a-secret')),
      },
      isOpen: true,
      answer: () => ok({ access_token: tokens.issue(), expires_in: 3600, token_type: 'Bearer' }),
    },
    {
      method: 'GET',
      path: '/reservation/{structure}',
      query: {
        type: required(oneOf('STAY', 'CHECKIN', 'CHECKOUT', 'CREATE', 'UPDATE')),
        startDate: required(day),
        endDate: required(day),
        size: upTo(200),
        page: whole,
      },
      answer: (asked, book) => {
        if (asked.params.structure !== '557782') return refused(404, 'No such structure');
        const [from, to] = [asked.text('startDate'), asked.text('endDate')];
        const daysOf = ({ checkIn, checkOut, bookedAt, changedAt }: Stay): readonly [string, string] => {
          const kind = asked.text('type');
          if (kind === 'STAY') return [checkIn, checkOut];
          const at = { CHECKIN: checkIn, CHECKOUT: checkOut, CREATE: bookedAt, UPDATE: changedAt }[kind] ?? '';
          return [at.slice(0, 10), at.slice(0, 10)];
        };
        const found = book.filter((stay) => {
          const [first, last] = daysOf(stay);
          return first <= to && last >= from;
        });
        return ok({ data: pageOf(found.map(rowOf), asked.number('page', 0) + 1, asked.number('size', 50)).rows });
      },
    },
    {
      method: 'GET',
      path: '/reservation/{structure}/{id}',
      answer: ({ params }, book) => {
        const found = book.map(rowOf).find(({ id }) => String(id) === params.id);
        return found ? ok(found) : refused(404, 'No such reservation');
      },
    },
  ],
};
