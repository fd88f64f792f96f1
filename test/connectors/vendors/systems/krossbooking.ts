import { issuedTokens, listOf, matching, ok, oneOf, refused, required, upTo, type Vendor, whole } from '../vendor.ts';
import { guestsOf, nightsOf, type Stay } from '../world.ts';

/** Krossbooking v5: a login call, lists by filters in a body, codes of statuses, the number of beds only. */
const tokens = issuedTokens(30);
const spaced = (at: string) => at.replace('T', ' ').replace('Z', '');
const dayText = matching(/^\d{4}-\d\d-\d\d$/);

const rowOf = (stay: Stay) => ({
  id_reservation: 987_000 + stay.no,
  cod_reservation: `R000${stay.no}`,
  label: `${stay.first} ${stay.last}`,
  arrival: stay.checkIn,
  departure: stay.checkOut,
  arrival_time: '15:00',
  nights: nightsOf(stay),
  n_rooms: stay.rooms.length,
  n_beds: guestsOf(stay, 'adults') + guestsOf(stay, 'children'),
  rooms: stay.rooms.map(({ type }, i) => ({ id_room: 45 + i, label: `Apt ${type}`, id_room_type: 7 })),
  date_reservation: spaced(stay.bookedAt),
  last_update: spaced(stay.changedAt),
  date_cancelation: stay.cancelledAt === undefined ? null : spaced(stay.cancelledAt),
  cod_reservation_status:
    stay.kind === 'owner' ? (stay.no % 2 ? 'PROP0' : 'PROPRI') : stay.status === 'cancelled' ? 'CANC' : 'CONF',
  name_reservation_status: 'Confirmed',
  cod_channel: 'BOOKING',
  ota_id: `44${stay.no}`,
  email: stay.email,
  phone: stay.phone,
  country_code: 'PT',
  currency: stay.currency,
  charge_total_amount: Number(stay.amount),
  tot_paid: 0,
});

export const vendor: Vendor = {
  system: 'krossbooking',
  base: '/v5',
  env: { API_KEY: 'a-key', USERNAME: 'hotel', PASSWORD: 'a-password', PROPERTY: 'H1' },
  kinds: ['owner'],
  rooms: 2,
  limited: refused(429, 'Too many requests'),
  authorize: ({ headers }) =>
    tokens.isValid(/^Bearer (.*)$/.exec(headers.authorization ?? '')?.[1]) ? undefined : refused(401, 'Token expired'),
  expects: (stay) => ({
    id: String(987_000 + stay.no),
    adults: stay.rooms.length === 1 ? guestsOf(stay, 'adults') + guestsOf(stay, 'children') : undefined,
  }),
  routes: [
    {
      method: 'POST',
      path: '/auth/get-token',
      body: {
        api_key: required(oneOf('a-key')),
        hotel_id: required(oneOf('H1')),
        username: required(oneOf('hotel')),
        password: required(oneOf('a-password')),
      },
      isOpen: true,
      answer: () => ok({ auth_token: tokens.issue(), auth_token_expire: '2026-01-01 12:00:00' }),
    },
    {
      method: 'POST',
      path: '/reservations/get-list',
      body: {
        arrival: listOf(dayText),
        departure: listOf(dayText),
        cod_reservation_status: oneOf('CONF', 'CANC', 'PROP0', 'PROPRI'),
        with_rooms: oneOf('true', 'false'),
        limit: upTo(500),
        offset: whole,
      },
      answer: (asked, book) => {
        const [from = '', to = '9'] = asked.list('arrival');
        const found = book.filter(({ checkIn }) => checkIn >= from && checkIn <= to).map(rowOf);
        const [offset, limit] = [asked.number('offset', 0), asked.number('limit', 50)];
        const data = found
          .slice(offset, offset + limit)
          .map(({ rooms, ...row }) => (asked.text('with_rooms') === 'true' ? { ...row, rooms } : row));
        return ok({ count: data.length, total_count: found.length, data });
      },
    },
    {
      method: 'POST',
      path: '/reservations/get',
      body: { id_reservation: required(whole), with_rooms: oneOf('true', 'false') },
      answer: (asked, book) => {
        const found = book.map(rowOf).find(({ id_reservation: id }) => String(id) === asked.text('id_reservation'));
        return found ? ok({ data: found }) : refused(404, 'Reservation not found');
      },
    },
  ],
};
