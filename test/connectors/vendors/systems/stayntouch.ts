import {
  day,
  flag,
  isBetween,
  issuedTokens,
  ok,
  oneOf,
  pageOf,
  refused,
  required,
  text,
  upTo,
  type Vendor,
  whole,
} from '../vendor.ts';
import { dayAfter, nightsOf, type Status, type Stay } from '../world.ts';

/** Stayntouch's Connect API: OAuth2 on a host of its own, a version header, amounts by night, addresses of a guest in a second call. */
const tokens = issuedTokens(100);
const words: Record<Status, string> = {
  confirmed: 'RESERVED',
  checked_in: 'CHECKEDIN',
  checked_out: 'CHECKEDOUT',
  cancelled: 'CANCELED',
  no_show: 'NOSHOW',
};

function rowOf(stay: Stay) {
  const nights = nightsOf(stay);
  // To the cent: the last night takes what remains.
  const each = Math.floor((Number(stay.amount) * 100) / nights);
  const [room] = stay.rooms;
  return {
    id: 1_000 + stay.no,
    hotel_id: 80,
    confirmation_number: `48${stay.no}`,
    currency_code: stay.currency,
    status: words[stay.status],
    arrival_date: stay.checkIn,
    arrival_time: '15:00',
    departure_date: stay.checkOut,
    departure_time: '11:00',
    created_time: stay.bookedAt,
    updated_time: stay.changedAt,
    source_code: 'WEB',
    market_segment_code: 'LEI',
    addons: [],
    room: { id: 12, number: '204', room_type_id: 3 },
    stay_dates: Array.from({ length: nights }, (_, i) => ({
      id: i + 1,
      date: dayAfter(stay.checkIn, i),
      amount: ((i < nights - 1 ? each : Math.round(Number(stay.amount) * 100) - each * (nights - 1)) / 100).toFixed(2),
      rate_id: 7,
      room_type_id: 3,
      adults: room?.adults,
      children: room?.children,
      infants: 0,
    })),
    guests: [
      ...(stay.no % 8 === 0
        ? [{ id: stay.no * 10, is_primary: false, first_name: 'Second', last_name: stay.last }]
        : []),
      {
        id: stay.no * 10 + 1,
        is_primary: true,
        first_name: stay.first,
        last_name: stay.last,
        nationality: 'NL',
        opted_promotional_emails: true,
      },
    ],
  };
}

export const vendor: Vendor = {
  system: 'stayntouch',
  base: '/connect',
  env: { CLIENT_ID: 'an-id', CLIENT_SECRET: 'a-secret', PROPERTY: '80' },
  statuses: ['checked_in', 'checked_out', 'no_show'],
  currency: 'EUR',
  limited: refused(429, 'Too many requests'),
  authorize: ({ headers }) =>
    headers['api-version'] !== '2.0'
      ? refused(400, 'API-Version is required')
      : tokens.isValid(/^Bearer (.*)$/.exec(headers.authorization ?? '')?.[1])
        ? undefined
        : refused(401, 'invalid_token'),
  expects: ({ no }) => ({ id: String(1_000 + no) }),
  login: [
    {
      method: 'POST',
      path: '/oauth/token',
      encoding: 'form',
      body: {
        grant_type: required(oneOf('client_credentials')),
        client_id: oneOf('an-id'),
        client_secret: oneOf('a-secret'),
      },
      isOpen: true,
      answer: () => ok({ access_token: tokens.issue(), token_type: 'Bearer', expires_in: 7200 }),
    },
  ],
  routes: [
    {
      method: 'GET',
      path: '/reservations',
      query: {
        hotel_id: required(oneOf('80')),
        date: day,
        from_date: day,
        to_date: day,
        date_filter: oneOf('arrival', 'departure', 'created', 'updated'),
        date_operator: text,
        confirmation_number: text,
        reservation_id: whole,
        exclude_canceled: flag,
        page: whole,
        per_page: upTo(100),
      },
      answer: (asked, book) => {
        const dates = { arrival: 'checkIn', departure: 'checkOut', created: 'bookedAt', updated: 'changedAt' } as const;
        const key = dates[asked.text('date_filter', 'arrival') as keyof typeof dates];
        const found = book.filter((stay) => isBetween(asked, stay[key].slice(0, 10), 'from_date', 'to_date'));
        const { rows } = pageOf(found.map(rowOf), asked.number('page', 1), asked.number('per_page', 25));
        return ok({ results: rows, total_count: found.length });
      },
    },
    {
      method: 'GET',
      path: '/reservations/{id}',
      answer: ({ params }, book) => {
        const found = book.map(rowOf).find(({ id }) => String(id) === params.id);
        return found ? ok(found) : refused(404, 'Not found');
      },
    },
    {
      method: 'GET',
      path: '/guests/{id}',
      answer: ({ params }, book) => {
        const id = Number(params.id);
        const found = book.find(({ no }) => no === Math.floor(id / 10));
        if (found === undefined) return refused(404, 'Not found');
        return ok({
          id,
          first_name: found.first,
          last_name: found.last,
          email: id % 10 === 1 ? found.email : null,
          birthday: null,
        });
      },
    },
  ],
};
