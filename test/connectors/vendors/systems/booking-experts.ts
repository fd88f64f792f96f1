import { matching, ok, oneOf, pageOf, refused, text, upTo, type Vendor, whole } from '../vendor.ts';
import type { Stay } from '../world.ts';

/** Booking Experts, JSON:API: a range inside a filter's value, the order beside the reservation, guests below it. */
const headers = { accept: 'application/vnd.api+json' };
const range = matching(/^\d{4}-\d\d-\d\dT[\d:]+Z\.\.\d{4}-\d\d-\d\dT[\d:]+Z$/);

const rowOf = (stay: Stay) => ({
  id: String(50_000 + stay.no),
  type: 'reservation',
  attributes: {
    booking_nr: String(1_000 + stay.no),
    last_name: stay.last,
    start_date: stay.checkIn,
    end_date: stay.checkOut,
    state: stay.status === 'cancelled' ? 'cancelled' : 'confirmed',
    rentable: '12',
    created_at: stay.bookedAt,
    updated_at: stay.changedAt,
  },
  links: {},
  relationships: {
    administration: { data: { id: '1', type: 'administration' } },
    order: { data: { id: String(stay.no), type: 'order' } },
  },
});

const orderOf = (stay: Stay) => ({
  id: String(stay.no),
  type: 'order',
  attributes: { currency: stay.currency, total: stay.amount },
});

export const vendor: Vendor = {
  system: 'booking-experts',
  env: { API_KEY: 'a-key', PROPERTY: '1' },
  authorize: ({ headers: sent }) => (sent['x-api-key'] === 'a-key' ? undefined : refused(401, 'Unauthorized')),
  limited: { status: 429, headers: { 'retry-after': '4' }, json: {} },
  // The reference that was read has no number of guests.
  expects: ({ no }) => ({ id: String(50_000 + no), adults: undefined }),
  routes: [
    {
      method: 'GET',
      path: '/v3/administrations/1/reservations',
      headers,
      query: {
        'filter[updated_at]': range,
        include: text,
        sort: oneOf('id', '-id', 'updated_at', '-updated_at'),
        'page[number]': whole,
        'page[size]': upTo(100),
      },
      answer: (asked, book) => {
        const [from = '', to = '\uffff'] = asked.text('filter[updated_at]').split('..');
        const found = book.filter(({ changedAt }) => changedAt >= from && changedAt <= to);
        const [page, size] = [asked.number('page[number]', 1), asked.number('page[size]', 30)];
        const { rows } = pageOf(found, page, size);
        return ok({
          data: rows.map(rowOf),
          ...(asked.text('include') === 'order' && { included: rows.map(orderOf) }),
          meta: { pagination: { total_records: found.length, page, size } },
        });
      },
    },
    {
      method: 'GET',
      path: '/v3/administrations/1/reservations/{id}',
      headers,
      query: { include: text },
      answer: ({ params }, book) => {
        const found = book.find(({ no }) => String(50_000 + no) === params.id);
        return found ? ok({ data: rowOf(found), included: [orderOf(found)] }) : refused(404, 'Not found');
      },
    },
    {
      method: 'GET',
      path: '/v3/administrations/1/reservations/{id}/guests',
      headers,
      answer: ({ params }, book) => {
        const found = book.find(({ no }) => String(50_000 + no) === params.id);
        if (found === undefined) return refused(404, 'Not found');
        const { first, last, email, phone } = found;
        return ok({
          data: [
            { id: `g${params.id}`, type: 'guest', attributes: { first_name: first, last_name: last, email, phone } },
          ],
        });
      },
    },
  ],
};
