import { basicOf, matching, ok, oneOf, refused, type Vendor } from '../vendor.ts';
import { nightsOf, type Stay } from '../world.ts';

/** QloApps: ids of orders by change, then each booking; rooms below room types; numbers as statuses. */
const moment = '\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d';
/** The shop is in Rome, and MySQL has its wall clock. */
const local = (at: string) => new Date(at).toLocaleString('sv-SE', { timeZone: 'Europe/Rome' });

const bookingOf = (stay: Stay) => {
  const types = [...new Set(stay.rooms.map(({ type }) => type))];
  return {
    id: stay.no,
    id_property: 1,
    currency: stay.currency,
    booking_status: stay.status === 'cancelled' ? (stay.no % 2 === 0 ? 3 : 4) : 1 + (stay.no % 2),
    payment_status: 3,
    source: 'https://hotel.example',
    booking_date: local(stay.bookedAt),
    remark: '',
    id_language: 1,
    associations: {
      customer_detail: {
        id_customer: stay.no,
        firstname: stay.first,
        lastname: stay.last,
        email: stay.email,
        phone: stay.phone,
        country_code: 'IT',
      },
      price_details: { total_paid: 0, total_price_with_tax: Number(stay.amount) },
      payment_detail: { payment_type: '1', payment_method: 'Pay at hotel', transaction_id: '' },
      cart_rules: [],
      room_types: types.map((type) => ({
        id_room_type: type,
        checkin_date: stay.checkIn,
        checkout_date: stay.checkOut,
        number_of_rooms: stay.rooms.filter((room) => room.type === type).length,
        rooms: stay.rooms
          .filter((room) => room.type === type)
          .map((room, i) => ({
            id_room: stay.no * 10 + i + types.indexOf(type) * 3,
            adults: room.adults,
            child: room.children,
            child_ages: [],
            unit_price_without_tax: 100,
            total_tax: 24,
            services: [
              {
                id_service: 3,
                quantity: nightsOf(stay),
                price_mode: 2,
                name: 'Breakfast',
                total_price_without_tax: 20,
                total_tax: 2,
              },
            ],
            facilities: [],
          })),
      })),
    },
  };
};

const json = oneOf('JSON');

export const vendor: Vendor = {
  system: 'qloapps',
  base: '/api',
  env: { API_KEY: 'WSKEY', PROPERTY: 'shop' },
  rooms: 3,
  authorize: ({ headers }) =>
    headers.authorization === basicOf('WSKEY', '') ? undefined : refused(401, 'Unauthorized'),
  limited: { status: 503, json: {} },
  routes: [
    {
      method: 'GET',
      path: '/orders',
      query: {
        'filter[date_upd]': matching(new RegExp(`^\\[${moment},${moment}\\]$`)),
        date: oneOf('1'),
        display: oneOf('[id,date_upd]'),
        output_format: json,
      },
      answer: (asked, book) => {
        const [from = '', to = ''] = asked.text('filter[date_upd]').slice(1, -1).split(',');
        const found = book.filter(({ changedAt }) => local(changedAt) >= from && local(changedAt) <= to);
        // The web service answers an empty list without its name.
        return ok(
          found.length === 0
            ? []
            : { orders: found.map(({ no, changedAt }) => ({ id: no, date_upd: local(changedAt) })) },
        );
      },
    },
    {
      method: 'GET',
      path: '/bookings/{id}',
      query: { output_format: json },
      answer: ({ params }, book) => {
        const found = book.find(({ no }) => String(no) === params.id);
        return found ? ok({ booking: bookingOf(found) }) : refused(404, 'Not found');
      },
    },
  ],
};
