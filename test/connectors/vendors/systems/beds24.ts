import {
  day,
  flag,
  isBetween,
  issuedTokens,
  listOf,
  matching,
  ok,
  oneOf,
  pageOf,
  type Vendor,
  whole,
} from '../vendor.ts';
import { guestsOf, type Stay } from '../world.ts';

/** Beds24 API V2: a header `token` of a day, cancelled bookings only on request, one booking per room, currency on the property. */
const tokens = issuedTokens(5);
const statuses = ['confirmed', 'request', 'new', 'cancelled', 'black', 'inquiry'];
const moment = matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);

function rowOf(stay: Stay) {
  const id = 7_000_000 + stay.no;
  const isGuest = stay.kind !== 'block';
  return {
    id,
    propertyId: 12_345,
    apiSource: 'Booking.com',
    channel: 'booking',
    bookingGroup: null,
    masterId: null,
    roomId: 900 + (stay.no % 9),
    unitId: 1,
    roomQty: 1,
    offerId: 1,
    status: statusOf(stay),
    subStatus: stay.status === 'no_show' ? 'noShow' : 'none',
    arrival: stay.checkIn,
    departure: stay.checkOut,
    numAdult: guestsOf(stay, 'adults'),
    numChild: guestsOf(stay, 'children'),
    title: '',
    firstName: isGuest ? stay.first : '',
    lastName: isGuest ? stay.last : '',
    email: isGuest ? stay.email : '',
    phone: '',
    mobile: isGuest ? stay.phone : '',
    country2: 'PT',
    lang: 'en',
    price: Number(stay.amount),
    apiReference: `BDC${stay.no}`,
    bookingTime: stay.bookedAt,
    modifiedTime: stay.changedAt,
    cancelTime: stay.cancelledAt ?? null,
    invoiceItems: [
      {
        id: id * 10,
        type: 'charge',
        subType: 1,
        description: 'Room',
        qty: 1,
        amount: Number(stay.amount),
        lineTotal: Number(stay.amount),
      },
    ],
    guests: [],
  };
}

function statusOf({ kind, status, no }: Stay): string {
  if (kind === 'block') return 'black';
  if (kind === 'enquiry') return 'inquiry';
  if (kind === 'option') return 'request';
  if (status === 'cancelled') return 'cancelled';
  return no % 2 === 0 ? 'new' : 'confirmed';
}

export const vendor: Vendor = {
  system: 'beds24',
  base: '/v2',
  env: { REFRESH_TOKEN: 'a-refresh-token', PROPERTY: '12345' },
  kinds: ['block', 'enquiry', 'option'],
  statuses: ['no_show'],
  currency: 'EUR',
  limited: {
    status: 429,
    headers: { 'x-five-min-limit-remaining': '0', 'x-five-min-limit-resets-in': '40' },
    json: { success: false, code: 429, error: 'Credit limit exceeded' },
  },
  authorize: ({ headers }) =>
    tokens.isValid(String(headers.token))
      ? undefined
      : { status: 401, json: { success: false, code: 401, error: 'Token not valid' } },
  expects: ({ no }) => ({ id: String(7_000_000 + no) }),
  webhooks: [
    {
      body: {
        timeStamp: '2026-05-01T10:00:00Z',
        booking: { id: 7_000_001, propertyId: 12_345, status: 'new' },
        infoItems: [],
        invoiceItems: [],
        messages: [],
        retries: 0,
      },
      headers: (secret) => ({ 'x-innbound-token': secret }),
      means: ['reservation.updated', '7000001'],
    },
  ],
  routes: [
    {
      method: 'GET',
      path: '/authentication/token',
      headers: { refreshToken: 'a-refresh-token' },
      isOpen: true,
      answer: () => ok({ token: tokens.issue(), expiresIn: 86_400 }),
    },
    {
      method: 'GET',
      path: '/bookings',
      query: {
        propertyId: listOf(whole),
        roomId: listOf(whole),
        id: listOf(whole),
        masterId: listOf(whole),
        arrivalFrom: day,
        arrivalTo: day,
        departureFrom: day,
        departureTo: day,
        bookingTimeFrom: moment,
        bookingTimeTo: moment,
        modifiedFrom: moment,
        modifiedTo: moment,
        status: listOf(oneOf(...statuses)),
        filter: oneOf('arrivals', 'departures', 'new', 'current'),
        includeInvoiceItems: flag,
        includeInfoItems: flag,
        includeGuests: flag,
        includeBookingGroup: flag,
        page: whole,
      },
      answer: (asked, book) => {
        const wanted = asked.query.has('status') ? asked.list('status') : statuses.filter((one) => one !== 'cancelled');
        const ids = asked.list('id');
        const filtered = [...asked.query.keys()].some((name) => /From|To|^id$/.test(name));
        const rows = book
          .filter((stay) => isBetween(asked, stay.changedAt.slice(0, 19), 'modifiedFrom', 'modifiedTo'))
          .filter((stay) => isBetween(asked, stay.checkIn, 'arrivalFrom', 'arrivalTo'))
          .filter((stay) => isBetween(asked, stay.checkOut, 'departureFrom', 'departureTo'))
          // Without any filter: upcoming ones only.
          .filter((stay) => filtered || stay.checkIn >= new Date().toISOString().slice(0, 10))
          .map(rowOf)
          .filter(({ id, status }) => wanted.includes(status) && (ids.length === 0 || ids.includes(String(id))));
        const page = asked.number('page', 1);
        const { rows: data, pages } = pageOf(rows, page, 100);
        const nextPageLink = page < pages ? `${asked.url}/bookings?page=${page + 1}` : null;
        return ok({
          success: true,
          type: 'booking',
          count: data.length,
          pages: { nextPageExists: page < pages, nextPageLink },
          data,
        });
      },
    },
    {
      method: 'GET',
      path: '/properties',
      query: { id: listOf(whole), page: whole },
      answer: () =>
        ok({
          success: true,
          type: 'property',
          count: 1,
          pages: { nextPageExists: false, nextPageLink: null },
          data: [{ id: 12_345, name: 'Sample', currency: 'EUR' }],
        }),
    },
  ],
};
