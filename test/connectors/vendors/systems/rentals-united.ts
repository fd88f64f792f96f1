import { matching, oneOf, refused, type required, text, type Vendor, whole, xml } from '../vendor.ts';
import type { Stay } from '../world.ts';

/** Rentals United: one address, the root element is the method, user and password first in each, errors inside a 200. */
const moment = matching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
const spaced = (at: string) => at.slice(0, 19).replace('T', ' ');
const status = { '@ID': '0', '#text': 'Success' };

const reservationOf = (stay: Stay) => ({
  '@Currency': stay.currency,
  ReservationID: 20_210_000 + stay.no,
  StatusID: stay.kind === 'enquiry' ? 4 : stay.status === 'cancelled' ? 2 : stay.no % 2 === 0 ? 1 : 3,
  LastMod: spaced(stay.changedAt),
  StayInfos: {
    StayInfo: stay.rooms.map((room, i) => ({
      PropertyID: 253_204,
      DateFrom: stay.checkIn,
      DateTo: stay.checkOut,
      NumberOfGuests: room.adults,
      // What the guest pays, divided between the stays.
      Costs: {
        RUPrice: '33.33',
        ClientPrice: i === 0 ? (Number(stay.amount) - (stay.rooms.length - 1) * 10).toFixed(2) : '10.00',
        AlreadyPaid: '0.00',
      },
      Comments: null,
      Mapping: {
        ReservationID: 20_210_000 + stay.no,
        StayID: `S${stay.no}-${i}`,
        HotelID: 'H1',
        RoomID: room.type,
        RateID: 'R1',
      },
    })),
  },
  CustomerInfo: { Name: stay.first, SurName: stay.last, Email: stay.email, Phone: stay.phone, CountryID: 48 },
  Comments: 'Late & "hungry" <arrival>',
  Creator: 'expedia@rentalsunited.com',
});

const root = (name: string, fields: Record<string, ReturnType<typeof required>>) =>
  Object.fromEntries(Object.entries(fields).map(([field, parameter]) => [`${name}.${field}`, parameter]));
const authentication = { 'Authentication.UserName': text, 'Authentication.Password': text };

export const vendor: Vendor = {
  system: 'rentals-united',
  env: { USERNAME: 'user', PASSWORD: 'p<&', PROPERTY: 'account' },
  kinds: ['enquiry'],
  rooms: 2,
  limited: { status: 429, raw: '<error>Too many requests</error>' },
  expects: ({ no }) => ({ id: String(20_210_000 + no) }),
  routes: [
    {
      method: 'POST',
      path: '/api/Handler.ashx',
      encoding: 'xml',
      headers: { 'content-type': /^text\/xml/ },
      body: {
        ...root('Pull_ListReservations_RQ', {
          ...authentication,
          DateFrom: moment,
          DateTo: moment,
          LocationID: oneOf('0'),
        }),
        ...root('Pull_GetReservationByID_RQ', { ...authentication, ReservationID: whole }),
      },
      answer: (asked, book) => {
        const [root = ''] = Object.keys(asked.body)[0]?.split('.') ?? [];
        const at = (name: string) => asked.text(`${root}.${name}`);
        const [first] = Object.keys(asked.body);
        if (first !== `${root}.Authentication.UserName`) return refused(400, 'Authentication is the first element');
        const answers = root.replace('_RQ', '_RS');
        const isRight = at('Authentication.UserName') === 'user' && at('Authentication.Password') === 'p<&';
        if (!isRight) return xml({ [answers]: { Status: { '@ID': '-4', '#text': 'Incorrect login or password' } } });
        if (root === 'Pull_GetReservationByID_RQ') {
          const found = book.find(({ no }) => String(20_210_000 + no) === at('ReservationID'));
          return xml({
            [answers]: found
              ? { Status: status, Reservation: reservationOf(found) }
              : { Status: { '@ID': '28', '#text': 'No such reservation' } },
          });
        }
        const [from, to] = [at('DateFrom'), at('DateTo')];
        const days = (Date.parse(`${to.replace(' ', 'T')}Z`) - Date.parse(`${from.replace(' ', 'T')}Z`)) / 86_400_000;
        if (!(days <= 7)) return refused(400, `${days} days at once`);
        const found = book.filter(({ changedAt }) => spaced(changedAt) >= from && spaced(changedAt) <= to);
        const reservations = found.length === 0 ? null : { Reservation: found.map(reservationOf) };
        return xml({ [answers]: { Status: status, Reservations: reservations } });
      },
    },
  ],
};
