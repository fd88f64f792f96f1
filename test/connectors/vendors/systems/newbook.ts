import { basicOf, matching, ok, oneOf, refused, required, upTo, type Vendor, whole } from '../vendor.ts';
import { guestsOf, nightsOf, type Status, type Stay } from '../world.ts';

/** Newbook's REST API: every call a POST, two credentials at once, numbers and booleans as text, errors inside a 200. */
const moment = matching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
const credentials = { api_key: required(oneOf('instances_1234')), region: required(oneOf('au', 'ap', 'eu', 'us')) };
const spaced = (at: string) => at.replace('T', ' ').replace('Z', '');

const words: Record<Status, string> = {
  confirmed: 'Confirmed',
  checked_in: 'Arrived',
  checked_out: 'Departed',
  cancelled: 'Cancelled',
  no_show: 'No Show',
};

const rowOf = (stay: Stay) => ({
  booking_id: 12_000 + stay.no,
  booking_reference_id: `BK-${stay.no}`,
  booking_status: stay.kind === 'owner' ? 'Owner Occupied' : stay.kind === 'enquiry' ? 'Quote' : words[stay.status],
  booking_arrival: `${stay.checkIn} 15:00:00`,
  booking_departure: `${stay.checkOut} 10:00:00`,
  booking_placed: spaced(stay.bookedAt),
  booking_modified: spaced(stay.changedAt),
  booking_cancelled: stay.cancelledAt === undefined ? null : spaced(stay.cancelledAt),
  booking_length: nightsOf(stay),
  booking_adults: String(guestsOf(stay, 'adults')),
  booking_children: String(guestsOf(stay, 'children')),
  booking_infants: '0',
  booking_animals: '0',
  booking_total: stay.amount,
  site_id: '101',
  site_name: 'Site 101',
  category_id: '5',
  category_name: 'Powered site',
  bookings_group_id: null,
  booking_source_name: 'Booking.com',
  booking_method_name: 'Channel',
  tariffs_quoted: [],
  inventory_items: [],
  guests: [
    { guest_id: `${stay.no}2`, firstname: 'Second', lastname: stay.last, primary_client: '0', contact_details: [] },
    {
      guest_id: `${stay.no}1`,
      firstname: stay.first,
      lastname: stay.last,
      primary_client: '1',
      contact_details: [
        { id: '1', type: 'mobile', content: stay.phone },
        { id: '2', type: 'email', content: stay.email },
      ],
    },
  ],
  notes: [],
  custom_fields: [],
});

export const vendor: Vendor = {
  system: 'newbook',
  base: '/rest',
  env: { USERNAME: 'hotel', PASSWORD: 'a-password', API_KEY: 'instances_1234', PROPERTY: 'park' },
  kinds: ['owner', 'enquiry'],
  statuses: ['checked_in', 'checked_out', 'no_show'],
  currency: 'AUD',
  authorize: ({ headers, body }) =>
    headers.authorization !== basicOf('hotel', 'a-password')
      ? refused(401, 'Unauthorised')
      : body.api_key === 'instances_1234'
        ? undefined
        : ok({ success: 'false', message: 'Invalid API key' }),
  limited: refused(429, 'Too many requests'),
  expects: ({ no }) => ({ id: String(12_000 + no) }),
  routes: [
    {
      method: 'POST',
      path: '/bookings_list',
      body: {
        ...credentials,
        period_from: required(moment),
        period_to: required(moment),
        list_type: oneOf('staying', 'arrived', 'departed', 'placed', 'cancelled', 'all'),
        data_offset: whole,
        data_limit: upTo(1000),
      },
      answer: (asked, book) => {
        const kind = asked.text('list_type', 'staying');
        const [from, to] = [asked.text('period_from').slice(0, 10), asked.text('period_to').slice(0, 10)];
        const isStaying = ({ checkIn, checkOut }: Stay) => checkIn <= to && checkOut >= from;
        const listed: Record<string, (stay: Stay) => boolean> = {
          staying: (stay) => isStaying(stay) && stay.status !== 'cancelled',
          arrived: ({ checkIn }) => checkIn >= from && checkIn <= to,
          departed: ({ checkOut }) => checkOut >= from && checkOut <= to,
          placed: ({ bookedAt }) => bookedAt.slice(0, 10) >= from && bookedAt.slice(0, 10) <= to,
          cancelled: ({ cancelledAt }) =>
            cancelledAt !== undefined && cancelledAt.slice(0, 10) >= from && cancelledAt.slice(0, 10) <= to,
          all: isStaying,
        };
        const found = book.filter(listed[kind] ?? (() => false)).map(rowOf);
        const [offset, limit] = [asked.number('data_offset', 0), asked.number('data_limit', 100)];
        const data = found.slice(offset, offset + limit);
        return ok({
          success: 'true',
          message: '',
          timezone: 'Australia/Brisbane',
          data,
          data_total: found.length,
          data_count: data.length,
          data_offset: offset,
          data_limit: limit,
        });
      },
    },
    {
      method: 'POST',
      path: '/bookings_get',
      body: { ...credentials, booking_id: required(whole) },
      answer: (asked, book) => {
        const found = book.map(rowOf).find(({ booking_id: id }) => String(id) === asked.text('booking_id'));
        return ok(
          found ? { success: 'true', message: '', data: found } : { success: 'false', message: 'Booking not found' },
        );
      },
    },
  ],
};
