import { day, instant, isBetween, ok, refused, required, text, tokenQuery, upTo, type Vendor } from '../vendor.ts';
import { guestsOf, type Stay } from '../world.ts';

/** Hostfully's API v3: reservations are leads among blocks and enquiries, a cursor, money in a second call. */
const idOf = ({ no }: Stay) => `0b8f6d0a-1111-4222-8333-${String(no).padStart(12, '0')}`;

function rowOf(stay: Stay) {
  const types = { booking: 'BOOKING', block: 'BLOCK', enquiry: 'INQUIRY', owner: 'BLOCK', option: 'BOOKING' };
  return {
    uid: idOf(stay),
    propertyUid: '5c6d7e8f-1111-4222-8333-944445555777',
    type: types[stay.kind],
    status: statusOf(stay),
    channel: 'AIRBNB',
    externalReservationId: `HM${stay.no}`,
    checkInLocalDateTime: `${stay.checkIn}T16:00:00`,
    checkOutLocalDateTime: `${stay.checkOut}T10:00:00`,
    guestInformation:
      stay.kind === 'booking' || stay.kind === 'option'
        ? {
            firstName: stay.first,
            lastName: stay.last,
            email: stay.email,
            phoneNumber: stay.phone,
            adultCount: guestsOf(stay, 'adults'),
            childrenCount: guestsOf(stay, 'children'),
          }
        : null,
    metadata: { createdUtcDateTime: stay.bookedAt, updatedUtcDateTime: stay.changedAt },
  };
}

/** What a lead of the type BOOKING is before it is one, and where nothing came of it. */
const requests = ['PENDING', 'ON_HOLD', 'DECLINED'];

function statusOf({ kind, status, no }: Stay): string {
  if (kind === 'block') return 'BLOCKED';
  if (kind === 'enquiry') return 'NEW';
  if (kind === 'option') return requests[no % requests.length] ?? '';
  if (status === 'cancelled') return no % 2 ? 'CANCELLED' : 'CANCELLED_BY_TRAVELER';
  return status === 'checked_out' ? 'CLOSED' : status === 'checked_in' ? 'STAY' : 'BOOKED';
}

export const vendor: Vendor = {
  system: 'hostfully',
  base: '/api/v3.2',
  env: { API_KEY: 'a-key', PROPERTY: 'an-agency' },
  kinds: ['block', 'enquiry', 'option'],
  statuses: ['checked_in', 'checked_out'],
  limited: refused(429, 'Too many requests'),
  authorize: ({ headers }) => (headers['x-hostfully-apikey'] === 'a-key' ? undefined : refused(401, 'Unauthorized')),
  expects: (stay) => ({ id: idOf(stay) }),
  webhooks: [
    {
      body: {
        agency_uid: 'an-agency',
        event_type: 'BOOKING_CANCELLED',
        lead_uid: '0b8f6d0a-1111-4222-8333-000000000001',
      },
      query: tokenQuery,
      means: ['reservation.cancelled', '0b8f6d0a-1111-4222-8333-000000000001'],
    },
    {
      body: { agency_uid: 'an-agency', event_type: 'UPDATED_PROPERTY', property_uid: 'p' },
      query: tokenQuery,
      means: undefined,
    },
  ],
  routes: [
    {
      method: 'GET',
      path: '/leads',
      query: {
        agencyUid: text,
        propertyUid: text,
        checkInFrom: day,
        checkInTo: day,
        updatedSince: instant,
        _cursor: text,
        _limit: upTo(100),
      },
      answer: (asked, book) => {
        if (asked.text('agencyUid') !== 'an-agency') return refused(400, 'agencyUid or propertyUid is required');
        const found = book
          .filter(({ checkIn }) => isBetween(asked, checkIn, 'checkInFrom', 'checkInTo'))
          .filter(({ changedAt }) => changedAt >= asked.text('updatedSince'));
        const [start, limit] = [Number(asked.text('_cursor', 'c0').slice(1)), asked.number('_limit', 20)];
        const leads = found.slice(start, start + limit).map(rowOf);
        return ok({
          leads,
          _metadata: { count: leads.length },
          _paging: { _nextCursor: start + limit < found.length ? `c${start + limit}` : null },
        });
      },
    },
    {
      method: 'GET',
      path: '/leads/{uid}',
      answer: ({ params }, book) => {
        const found = book.find((stay) => idOf(stay) === params.uid);
        return found ? ok({ lead: rowOf(found) }) : refused(404, 'Lead not found');
      },
    },
    {
      method: 'GET',
      path: '/orders',
      query: { leadUid: required(text) },
      answer: (asked, book) => {
        const found = book.find((stay) => idOf(stay) === asked.text('leadUid'));
        return ok({
          orders: found
            ? [
                {
                  uid: `o${found.no}`,
                  leadUid: idOf(found),
                  totalAmount: Number(found.amount),
                  currency: found.currency,
                },
              ]
            : [],
        });
      },
    },
  ],
};
