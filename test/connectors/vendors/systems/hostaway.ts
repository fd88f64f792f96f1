import {
  basicHeaders,
  day,
  issuedTokens,
  ok,
  oneOf,
  refused,
  required,
  text,
  upTo,
  type Vendor,
  whole,
} from '../vendor.ts';
import { guestsOf, nightsOf, type Stay } from '../world.ts';

/** Hostaway's public API: OAuth2, a cursor that is the last record's id, 0 and 1 for booleans, times in UTC. */
const tokens = issuedTokens(4);
const spaced = (at: string) => at.replace('T', ' ').replace('Z', '');

const rowOf = (stay: Stay) => ({
  id: 13_000 + stay.no,
  hostawayReservationId: 13_000 + stay.no,
  listingMapId: 40_160,
  channelId: 2005,
  channelName: 'bookingcom',
  source: 'bookingcom',
  reservationId: `40160-${stay.no}`,
  channelReservationId: `40160-${stay.no}`,
  confirmationCode: `HM${stay.no}`,
  reservationDate: spaced(stay.bookedAt),
  latestActivityOn: spaced(stay.changedAt),
  status: statusOf(stay),
  isDatesUnspecified: 0,
  arrivalDate: stay.checkIn,
  departureDate: stay.checkOut,
  nights: nightsOf(stay),
  checkInTime: 15,
  guestName: `${stay.first} ${stay.last}`,
  guestFirstName: stay.first,
  guestLastName: stay.last,
  guestEmail: stay.email,
  phone: stay.phone,
  guestCountry: 'PT',
  numberOfGuests: guestsOf(stay, 'adults') + guestsOf(stay, 'children'),
  adults: guestsOf(stay, 'adults'),
  children: guestsOf(stay, 'children') || null,
  infants: null,
  totalPrice: Number(stay.amount),
  currency: stay.currency,
  cancellationDate: stay.cancelledAt === undefined ? null : spaced(stay.cancelledAt),
  reservationUnit:
    stay.rooms.length === 1
      ? []
      : stay.rooms.map(({ adults, children }, i) => ({ id: stay.no * 10 + i, listingUnitId: i, adults, children })),
  financeField: [],
});

const requests = ['pending', 'awaitingPayment', 'awaitingGuestVerification', 'declined', 'expired', 'unconfirmed'];

function statusOf({ kind, status, no }: Stay): string {
  if (kind === 'owner') return 'ownerStay';
  if (kind === 'option') return requests[no % requests.length] ?? '';
  if (kind === 'enquiry') return no % 2 === 0 ? 'inquiry' : 'inquiryNotPossible';
  if (status === 'cancelled') return 'cancelled';
  return no % 2 === 0 ? 'modified' : 'new';
}

export const vendor: Vendor = {
  system: 'hostaway',
  env: { CLIENT_ID: '55001', CLIENT_SECRET: 'an-api-key', PROPERTY: '55001' },
  kinds: ['owner', 'enquiry', 'option'],
  rooms: 3,
  limited: { status: 429, json: { status: 'fail', message: 'Too many requests' } },
  authorize: ({ headers }) => {
    const sent = /^Bearer (.*)$/.exec(headers.authorization ?? '')?.[1];
    return tokens.isValid(sent)
      ? undefined
      : {
          status: 401,
          json: { status: 'fail', message: 'The resource owner or authorization server denied the request' },
        };
  },
  expects: ({ no }) => ({ id: String(13_000 + no) }),
  webhooks: [
    {
      body: {
        event: 'reservation.updated',
        object: 'reservation',
        accountId: 55_001,
        data: { id: 13_001, status: 'modified' },
      },
      headers: basicHeaders,
      means: ['reservation.updated', '13001'],
    },
    {
      body: { event: 'message.received', object: 'message', accountId: 55_001, data: { id: 5 } },
      headers: basicHeaders,
      means: undefined,
    },
  ],
  routes: [
    {
      method: 'POST',
      path: '/v1/accessTokens',
      encoding: 'form',
      body: {
        grant_type: required(oneOf('client_credentials')),
        client_id: required(oneOf('55001')),
        client_secret: required(oneOf('an-api-key')),
        scope: required(oneOf('general')),
      },
      isOpen: true,
      answer: () => ok({ token_type: 'Bearer', expires_in: 15_897_600, access_token: tokens.issue() }),
    },
    {
      method: 'GET',
      path: '/v1/reservations',
      query: {
        limit: upTo(500),
        afterId: whole,
        sortOrder: oneOf('arrivalDate', 'arrivalDateDesc', 'latestActivity', 'latestActivityDesc', 'updatedOn'),
        channelId: whole,
        listingId: whole,
        arrivalStartDate: day,
        arrivalEndDate: day,
        departureStartDate: day,
        departureEndDate: day,
        latestActivityStart: day,
        latestActivityEnd: day,
        guestEmail: text,
        isArchived: oneOf('0', '1'),
        includeResources: oneOf('0', '1'),
      },
      answer: (asked, book) => {
        const within = (value: string, from: string, to: string) =>
          value >= asked.text(from, '0') && value <= asked.text(to, '9');
        const found = book.filter(
          (stay) =>
            within(stay.checkIn, 'arrivalStartDate', 'arrivalEndDate') &&
            within(stay.checkOut, 'departureStartDate', 'departureEndDate') &&
            within(stay.changedAt.slice(0, 10), 'latestActivityStart', 'latestActivityEnd'),
        );
        const rows = found.map(rowOf);
        const after = rows.findIndex(({ id }) => String(id) === asked.text('afterId')) + 1;
        const limit = asked.number('limit', 100);
        const result = rows.slice(after, after + limit);
        return ok({
          status: 'success',
          result,
          limit,
          offset: null,
          count: rows.length,
          page: 1,
          totalPages: Math.ceil(rows.length / limit),
        });
      },
    },
    {
      method: 'GET',
      path: '/v1/reservations/{id}',
      query: { includeResources: oneOf('0', '1') },
      answer: ({ params }, book) => {
        const found = book.map(rowOf).find(({ id }) => String(id) === params.id);
        return found ? ok({ status: 'success', result: found }) : refused(404, 'Resource not found');
      },
    },
  ],
};
