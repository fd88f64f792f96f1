import { basicOf, day, listOf, ok, oneOf, refused, required, text, upTo, type Vendor, whole } from '../vendor.ts';
import { guestsOf, type Stay } from '../world.ts';

/** Stays.net: a bare list of at most 20, the meaning of the days in a parameter, the guest in a second call, names that begin with `_f_`. */
const idOf = ({ no }: Stay) => `6571a0b2c3d4e5f6${String(no).padStart(8, '0')}`;
const types = ['reserved', 'booked', 'contract', 'blocked', 'maintenance', 'canceled'];

function typeOf({ kind, status, no }: Stay): string {
  if (kind === 'block') return no % 2 ? 'blocked' : 'maintenance';
  if (kind === 'option') return 'reserved';
  if (status === 'cancelled') return 'canceled';
  return no % 2 ? 'booked' : 'contract';
}

const rowOf = (stay: Stay) => ({
  _id: idOf(stay),
  id: `EG${stay.no}I`,
  creationDate: stay.bookedAt.slice(0, 10),
  checkInDate: stay.checkIn,
  checkInTime: '15:00',
  checkOutDate: stay.checkOut,
  checkOutTime: '11:00',
  _idlisting: '63e36eecf644bb5f819d1ac8',
  _idclient: `c${stay.no}`,
  type: typeOf(stay),
  guests: guestsOf(stay, 'adults') + guestsOf(stay, 'children'),
  guestsDetails: { adults: guestsOf(stay, 'adults'), children: guestsOf(stay, 'children'), infants: 0 },
  ...(stay.no % 2 && {
    partner: {
      _id: '5df8b7a6',
      name: 'API booking.com',
      commission: { type: 'fixed', _mcval: { [stay.currency]: 36.04 } },
    },
    partnerCode: `634${stay.no}`,
  }),
  price: {
    currency: stay.currency,
    _f_expected: Number(stay.amount),
    _f_total: Number(stay.amount),
    hostingDetails: { _f_total: Number(stay.amount), fees: [], discounts: [] },
    extrasDetails: { _f_total: 0, fees: [] },
  },
  stats: { _f_totalPaid: 0 },
});

export const vendor: Vendor = {
  system: 'stays-net',
  base: '/external/v1',
  env: { CLIENT_ID: 'an-id', CLIENT_SECRET: 'a-secret', PROPERTY: 'account' },
  kinds: ['block', 'option'],
  currency: 'BRL',
  limited: refused(429, 'Too many requests'),
  authorize: ({ headers }) =>
    headers.authorization === basicOf('an-id', 'a-secret') ? undefined : refused(401, 'Unauthorized'),
  expects: (stay) => ({ id: idOf(stay) }),
  routes: [
    {
      method: 'GET',
      path: '/booking/reservations',
      query: {
        from: required(day),
        to: required(day),
        dateType: required(oneOf('arrival', 'departure', 'creation', 'creationorig', 'included')),
        type: listOf(oneOf(...types)),
        listingId: text,
        skip: whole,
        limit: upTo(20),
      },
      answer: (asked, book) => {
        const [from, to, kind] = [asked.text('from'), asked.text('to'), asked.text('dateType')];
        const isIn = (date: string) => date >= from && date <= to;
        const isListed = (stay: Stay) =>
          kind === 'arrival'
            ? isIn(stay.checkIn)
            : kind === 'departure'
              ? isIn(stay.checkOut)
              : kind === 'included'
                ? stay.checkIn <= to && stay.checkOut >= from
                : isIn(stay.bookedAt.slice(0, 10));
        const wanted = asked.query.has('type') ? asked.list('type') : types;
        const found = book
          .filter(isListed)
          .map(rowOf)
          .filter(({ type }) => wanted.includes(type));
        const skip = asked.number('skip', 0);
        return ok(found.slice(skip, skip + asked.number('limit', 20)));
      },
    },
    {
      method: 'GET',
      path: '/booking/reservations/{id}',
      answer: ({ params }, book) => {
        const found = book.map(rowOf).find(({ _id, id }) => _id === params.id || id === params.id);
        return found ? ok(found) : refused(404, 'Not found');
      },
    },
    {
      method: 'GET',
      path: '/booking/clients/{id}',
      answer: ({ params }, book) => {
        const found = book.find(({ no }) => `c${no}` === params.id);
        return found
          ? ok({
              _id: params.id,
              kind: 'person',
              fName: found.first,
              lName: found.last,
              name: `${found.first} ${found.last}`,
              email: found.email,
              phones: [{ iso: found.phone }],
              prefLang: 'pt',
            })
          : refused(404, 'Not found');
      },
    },
  ],
};
