import { instant, issuedTokens, ok, oneOf, refused, required, text, upTo, type Vendor } from '../vendor.ts';
import { guestsOf, type Stay } from '../world.ts';

/** Exely's Read Reservation API: a token of 30 minutes, a list of numbers by change, and a request for each booking. */
const tokens = issuedTokens(60);
const property = '500360';
const numberOf = ({ checkIn, no }: Stay) => `${checkIn.replaceAll('-', '')}-${property}-${6_987_000 + no}`;
/** Numbers keep the day of arrival that the booking was made with. */
const numbers = new Map<number, string>();
const numberFor = (stay: Stay) => numbers.get(stay.no) ?? numbers.set(stay.no, numberOf(stay)).get(stay.no) ?? '';

const statusOf = ({ status, no }: Stay) =>
  status === 'cancelled' ? 'Cancelled' : status === 'confirmed' && no % 2 === 0 ? 'Active' : words[status];
const words = {
  confirmed: 'New',
  checked_in: 'CheckedIn',
  checked_out: 'CheckedOut',
  no_show: 'NoShow',
  cancelled: '',
};

const stayDates = ({ checkIn, checkOut }: Stay) => ({
  arrivalDateTime: `${checkIn}T14:00`,
  departureDateTime: `${checkOut}T12:00`,
});

const person = (stay: Stay) => ({
  firstName: stay.first,
  lastName: stay.last,
  middleName: null,
  phone: stay.phone,
  email: stay.email,
  citizenship: 'PRT',
});

const bookingOf = (stay: Stay) => ({
  propertyId: property,
  number: numberFor(stay),
  status: statusOf(stay),
  createdDateTime: stay.bookedAt,
  modifiedDateTime: stay.changedAt,
  guaranteeInfo: { loyalty: null, totalPrepaid: 0 },
  currencyCode: stay.currency,
  roomStays: stay.rooms.map((room, i) => ({
    stayDates: stayDates(stay),
    ratePlans: [{ id: '307225', name: 'Online' }],
    roomType: { id: '340935', name: room.type },
    guestCount: { adultCount: room.adults, childAges: Array.from({ length: room.children }, () => 7) },
    guests: i === 0 && stay.no % 2 === 0 ? [{ firstName: stay.first, lastName: stay.last, middleName: null }] : [],
    dailyRates: [],
    total: { priceBeforeTax: 0, priceAfterTax: 0, taxAmount: 0, taxes: [], discounts: [] },
    services: [],
    extraStayCharges: { earlyArrival: null, lateDeparture: null },
  })),
  services: [],
  total: { priceBeforeTax: 1, priceAfterTax: Number(stay.amount), taxAmount: 0, taxes: [], discounts: [] },
  taxes: [],
  cancellation: stay.cancelledAt ? { penaltyAmount: 0, cancelledDateTime: stay.cancelledAt } : null,
  source: { type: 'Channel', code: 'PA2' },
  customer: person(stay),
});

export const vendor: Vendor = {
  system: 'exely',
  env: { CLIENT_ID: 'client', CLIENT_SECRET: 'a-secret', PROPERTY: property },
  rooms: 3,
  statuses: ['checked_in', 'checked_out', 'no_show'],
  limited: { status: 429, json: {} },
  authorize: ({ headers }) =>
    tokens.isValid(/^Bearer (.*)$/.exec(headers.authorization ?? '')?.[1]) ? undefined : refused(401, 'Unauthorized'),
  expects: (stay) => ({ id: numberFor(stay), adults: guestsOf(stay, 'adults') }),
  routes: [
    {
      method: 'POST',
      path: '/auth/token',
      isOpen: true,
      encoding: 'form',
      body: {
        grant_type: required(oneOf('client_credentials')),
        client_id: required(oneOf('client')),
        client_secret: required(oneOf('a-secret')),
      },
      answer: () => ok({ access_token: tokens.issue(), expires_in: 1800, token_type: 'Bearer' }),
    },
    {
      method: 'GET',
      path: `/api/read-reservation/v1/properties/${property}/bookings`,
      query: { count: required(upTo(1000)), lastModification: instant, continueToken: text },
      answer: (asked, book) => {
        const token = asked.text('continueToken');
        if ((token === '') === (asked.text('lastModification') === '')) return refused(400, 'either of the two');
        const at = token === '' ? 0 : Number(atob(token).split(' ')[0]);
        const since = token === '' ? asked.text('lastModification') : (atob(token).split(' ')[1] ?? '');
        const found = book
          .filter(({ changedAt }) => changedAt >= since)
          .sort((a, b) => a.changedAt.localeCompare(b.changedAt));
        const end = at + asked.number('count', 100);
        return ok({
          continueToken: btoa(`${end} ${since}`),
          hasMoreData: end < found.length,
          bookingSummaries: found.slice(at, end).map((stay) => ({
            number: numberFor(stay),
            propertyId: property,
            status: statusOf(stay),
            createdDateTime: stay.bookedAt,
            modifiedDateTime: stay.changedAt,
          })),
        });
      },
    },
    {
      method: 'GET',
      path: `/api/read-reservation/v1/properties/${property}/bookings/{number}`,
      answer: ({ params }, book) => {
        const found = book.find((stay) => numberFor(stay) === params.number);
        return found ? ok({ booking: bookingOf(found) }) : refused(404, 'Not found');
      },
    },
  ],
};
