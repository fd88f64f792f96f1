import { issuedTokens, matching, ok, oneOf, refused, required, upTo, type Vendor, whole } from '../vendor.ts';
import type { Stay } from '../world.ts';

/** RMS: a token from a login, filters in the body and paging in the query, guests and totals by a request each. */
const tokens = issuedTokens(40);
const moment = matching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
/** The property is in Melbourne: its wall clock is what the API speaks. */
const local = (at: string) => new Date(at).toLocaleString('sv-SE', { timeZone: 'Australia/Melbourne' });
const words = {
  confirmed: 'Confirmed',
  checked_in: 'Arrived',
  checked_out: 'Departed',
  cancelled: 'Cancelled',
  no_show: 'NoShow',
};

const rowOf = (stay: Stay) => ({
  id: 2_000 + stay.no,
  accountId: 1259,
  adults: stay.rooms[0]?.adults,
  areaId: 5,
  areaName: 'Room 7',
  arrivalDate: `${stay.checkIn} 13:26:00`,
  departureDate: `${stay.checkOut} 09:25:00`,
  bookingSourceId: 2,
  bookingSourceName: 'Online',
  cancelledDate: stay.cancelledAt === undefined ? null : local(stay.cancelledAt),
  categoryId: 19,
  categoryName: stay.rooms[0]?.type,
  children: stay.rooms[0]?.children,
  createdDate: local(stay.bookedAt),
  guestGiven: stay.first,
  guestId: 700 + stay.no,
  guestSurname: stay.last,
  infants: 0,
  modifiedDate: local(stay.changedAt),
  onlineConfirmationId: 0 || null,
  otaRef1: `V${stay.no}`,
  propertyId: 1,
  rateTypeId: 3,
  rateTypeName: 'Daily',
  reservationType: stay.kind === 'block' ? 'Maintenance' : 'Normal',
  status: stay.kind === 'booking' ? words[stay.status] : others[stay.kind],
  travelAgentId: 7,
  travelAgentName: 'Booking.com',
});

const others = { block: 'Maintenance', owner: 'OwnerOccupied', enquiry: 'Quote', option: 'Pencil' };

const modelType = oneOf('basic', 'lite', 'full');

export const vendor: Vendor = {
  system: 'rms-cloud',
  env: {
    USERNAME: '15',
    PASSWORD: 'agent-password',
    CLIENT_ID: '1234',
    CLIENT_SECRET: 'client-password',
    PROPERTY: '1',
  },
  kinds: ['block', 'owner', 'enquiry', 'option'],
  statuses: ['checked_in', 'checked_out', 'no_show'],
  currency: 'AUD',
  authorize: ({ headers }) => (tokens.isValid(headers.authtoken as string) ? undefined : refused(401, 'Unauthorised')),
  limited: { status: 429, json: { message: 'Too many requests' } },
  expects: ({ no, rooms: [room] }) => ({ id: String(2_000 + no), adults: room?.adults }),
  routes: [
    {
      method: 'POST',
      path: '/authToken',
      isOpen: true,
      body: {
        agentId: required(oneOf('15')),
        agentPassword: required(oneOf('agent-password')),
        clientId: required(oneOf('1234')),
        clientPassword: required(oneOf('client-password')),
        useTrainingDatabase: required(oneOf('false')),
        moduleType: required(oneOf('guestServices')),
      },
      answer: () =>
        ok({
          token: tokens.issue(),
          expiryDate: local(new Date(Date.now() + 86_400_000).toISOString()),
          allowedProperties: [],
        }),
    },
    {
      method: 'POST',
      path: '/reservations/search',
      query: { limit: required(upTo(500)), offset: required(whole), modelType, sort: oneOf('id') },
      body: {
        modifiedFrom: moment,
        modifiedTo: moment,
        includeGroupMasterReservations: oneOf('ExcludeGroupMasters', 'IncludeGroupMasters', 'OnlyGroupMasters'),
      },
      answer: (asked, book) => {
        const found = book.filter(({ changedAt }) => local(changedAt) >= asked.text('modifiedFrom'));
        const [offset, limit] = [asked.number('offset', 0), asked.number('limit', 500)];
        return ok(found.slice(offset, offset + limit).map(rowOf));
      },
    },
    {
      method: 'GET',
      path: '/reservations/{id}',
      query: { modelType },
      answer: ({ params }, book) => {
        const found = book.filter(({ no }) => String(2_000 + no) === params.id).map(rowOf);
        return found.length === 0 ? refused(404, 'Not found') : ok(found);
      },
    },
    {
      method: 'GET',
      path: '/reservations/{id}/actualAccount',
      answer: ({ params }, book) => {
        const found = book.find(({ no }) => String(2_000 + no) === params.id);
        return found ? ok({ id: 9, totalRate: Number(found.amount) }) : refused(404, 'Not found');
      },
    },
    {
      method: 'GET',
      path: '/guests/{id}',
      query: { modelType },
      answer: ({ params }, book) => {
        const found = book.find(({ no }) => String(700 + no) === params.id);
        if (found === undefined) return refused(404, 'Not found');
        const { first, last, email, phone } = found;
        return ok({
          id: Number(params.id),
          guestGiven: first,
          guestSurname: last,
          email,
          mobile: phone,
          birthday: null,
        });
      },
    },
  ],
};
