import { day, flag, isBetween, ok, pageOf, refused, tokenQuery, upTo, type Vendor, whole } from '../vendor.ts';
import { guestsOf, type Stay } from '../world.ts';

/** Smoobu: cancelled bookings only on request, the status in `type`, keys with hyphens, the currency in the price elements. */
function rowOf(stay: Stay, withPrices: boolean) {
  const spaced = (at: string) => at.slice(0, 16).replace('T', ' ');
  return {
    id: 2_900 + stay.no,
    'reference-id': `HM${stay.no}`,
    type: stay.status === 'cancelled' ? 'cancellation' : stay.no % 2 ? 'reservation' : 'modification of booking',
    arrival: stay.checkIn,
    departure: stay.checkOut,
    'created-at': spaced(stay.bookedAt),
    modifiedAt: spaced(stay.changedAt),
    apartment: { id: 38, name: 'Apartment 1' },
    channel: { id: 278, name: 'Direct booking' },
    'guest-name': stay.kind === 'booking' ? `${stay.first} ${stay.last}` : '',
    firstname: stay.kind === 'booking' ? stay.first : '',
    lastname: stay.kind === 'booking' ? stay.last : '',
    email: stay.kind === 'booking' ? stay.email : '',
    phone: stay.phone,
    adults: guestsOf(stay, 'adults'),
    children: guestsOf(stay, 'children'),
    'check-in': '16:00',
    'check-out': '10:00',
    price: Number(stay.amount),
    'price-paid': 'Yes',
    'is-blocked-booking': stay.kind === 'block',
    guestId: stay.no,
    ...(withPrices && {
      priceElements: [
        { id: 1, type: 'basePrice', name: 'Base price', amount: Number(stay.amount), currencyCode: stay.currency },
      ],
    }),
  };
}

export const vendor: Vendor = {
  system: 'smoobu',
  base: '/api',
  env: { API_KEY: 'a-key', PROPERTY: 'account' },
  kinds: ['block'],
  limited: {
    status: 429,
    headers: { 'X-RateLimit-Retry-After': String(Math.ceil(Date.now() / 1000) + 20) },
    json: { detail: 'Too many requests' },
  },
  authorize: ({ headers }) => (headers['api-key'] === 'a-key' ? undefined : refused(401, 'Authorization failed')),
  expects: ({ no }) => ({ id: String(2_900 + no) }),
  webhooks: [
    {
      body: { action: 'newReservation', user: 7, data: { id: 2_901 } },
      query: tokenQuery,
      means: ['reservation.created', '2901'],
    },
    {
      body: { action: 'cancelReservation', user: 7, data: { id: 2_901 } },
      query: tokenQuery,
      means: ['reservation.cancelled', '2901'],
    },
    { body: { action: 'updateRates', user: 7, data: {} }, query: tokenQuery, means: undefined },
  ],
  routes: [
    {
      method: 'GET',
      path: '/reservations',
      query: {
        arrivalFrom: day,
        arrivalTo: day,
        departureFrom: day,
        departureTo: day,
        created_from: day,
        created_to: day,
        modifiedFrom: day,
        modifiedTo: day,
        from: day,
        to: day,
        apartmentId: whole,
        excludeBlocked: flag,
        showCancellation: flag,
        includeRelated: flag,
        includePriceElements: flag,
        page: whole,
        pageSize: upTo(100),
      },
      answer: (asked, book) => {
        const found = book
          .filter(({ changedAt }) => isBetween(asked, changedAt.slice(0, 10), 'modifiedFrom', 'modifiedTo'))
          .filter(({ checkIn }) => isBetween(asked, checkIn, 'arrivalFrom', 'arrivalTo'))
          .filter(({ checkOut }) => isBetween(asked, checkOut, 'departureFrom', 'departureTo'))
          .filter(({ status }) => status !== 'cancelled' || asked.text('showCancellation') === 'true')
          .filter(({ kind }) => kind !== 'block' || asked.text('excludeBlocked') !== 'true');
        const [page, size] = [asked.number('page', 1), asked.number('pageSize', 25)];
        const { rows, pages } = pageOf(found, page, size);
        const bookings = rows.map((stay) => rowOf(stay, asked.text('includePriceElements') === 'true'));
        return ok({ page_count: pages, page_size: size, total_items: found.length, page, bookings });
      },
    },
    {
      method: 'GET',
      path: '/reservations/{id}',
      answer: ({ params }, book) => {
        const found = book.find(({ no }) => String(2_900 + no) === params.id);
        return found ? ok(rowOf(found, false)) : refused(404, 'Booking not found');
      },
    },
  ],
};
