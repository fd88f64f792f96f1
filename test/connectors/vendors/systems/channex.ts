import { day, ok, oneOf, type Route, refused, upTo, type Vendor, whole } from '../vendor.ts';
import { dayAfter, guestsOf, nightsOf, type Stay } from '../world.ts';

/** Channex: a feed of revisions that shows each until it is acknowledged, often several of one booking. */
const property = '716305c4-561a-4561-a187-7f5b8aeb5920';
const id = (no: number, kind: number) => `603e8e9e-cc67-4ca7-bd1${kind}-${String(no).padStart(12, '0')}`;
const acknowledged = new Set<string>();

interface Revision {
  readonly stay: Stay;
  readonly revision: string;
  readonly insertedAt: string;
}

/** A booking that changed since it was made has two revisions; what was acknowledged in an earlier state is not shown again. */
function revisionsOf(book: readonly Stay[]): Revision[] {
  const all = book.flatMap((stay) => {
    const first = { ...stay, status: 'confirmed' as const, amount: '1.00', cancelledAt: undefined };
    const made = { stay: first, revision: `${id(stay.no, 1)}-made`, insertedAt: stay.bookedAt };
    const now = { stay, revision: `${id(stay.no, 1)}-${stay.changedAt}-${stay.amount}`, insertedAt: stay.changedAt };
    return stay.bookedAt === stay.changedAt ? [now] : [made, now];
  });
  return all
    .filter(({ revision }) => !acknowledged.has(revision))
    .sort((a, b) => a.insertedAt.localeCompare(b.insertedAt) || a.revision.localeCompare(b.revision));
}

const attributesOf = ({ stay, revision, insertedAt }: Revision) => ({
  id: revision,
  booking_id: id(stay.no, 3),
  property_id: property,
  revision_id: revision,
  unique_id: `BDC-${stay.no}`,
  ota_reservation_code: String(stay.no),
  system_id: '12331233123',
  ota_name: 'Booking.com',
  status: stay.status === 'cancelled' ? 'cancelled' : insertedAt === stay.bookedAt ? 'new' : 'modified',
  rooms: stay.rooms.map((room, i) => ({
    amount: '200.00',
    checkin_date: stay.checkIn,
    checkout_date: stay.checkOut,
    rate_plan_id: null,
    room_type_id: room.type,
    ota_unique_id: String(i),
    is_cancelled: false,
    days: Object.fromEntries(Array.from({ length: nightsOf(stay) }, (_, n) => [dayAfter(stay.checkIn, n), '100.00'])),
    occupancy: { adults: room.adults, children: room.children, infants: 0, ages: [] },
    guests: [],
    services: [],
    taxes: [],
  })),
  services: [],
  guarantee: { card_number: '411111******1111', card_type: 'visa' },
  customer: {
    name: stay.first,
    surname: stay.last,
    mail: stay.email,
    phone: stay.phone,
    language: 'en',
    country: 'PT',
  },
  occupancy: { adults: guestsOf(stay, 'adults'), children: guestsOf(stay, 'children'), infants: 0 },
  arrival_date: stay.checkIn,
  departure_date: stay.checkOut,
  amount: stay.amount,
  currency: stay.currency,
  ota_commission: '10.00',
  notes: null,
  // UTC, without saying so.
  inserted_at: `${insertedAt.replace('Z', '')}.335485`,
});

const paging = { 'pagination[page]': whole, 'pagination[limit]': upTo(100) };

const single: Route = {
  method: 'GET',
  path: '/bookings/{id}',
  answer: ({ params }, book) => {
    const stay = book.find(({ no }) => id(no, 3) === params.id);
    if (stay === undefined) return refused(404, 'Not found');
    const attributes = attributesOf({ stay, revision: 'r', insertedAt: stay.changedAt });
    const { booking_id: booking, ...rest } = attributes;
    return ok({ data: { type: 'booking', id: booking, attributes: { ...rest, id: booking } } });
  },
};

export const vendor: Vendor = {
  system: 'channex',
  base: '/api/v1',
  env: { API_KEY: 'a-key', PROPERTY: property },
  rooms: 3,
  authorize: ({ headers }) =>
    headers['user-api-key'] === 'a-key'
      ? undefined
      : { status: 401, json: { errors: { code: 'unauthorized', title: 'Unauthorized' } } },
  limited: { status: 429, json: { errors: { code: 'http_too_many_requests' } } },
  expects: ({ no }) => ({ id: id(no, 3) }),
  routes: [
    {
      method: 'GET',
      path: '/booking_revisions/feed',
      query: { 'filter[property_id]': oneOf(property), 'order[inserted_at]': oneOf('asc', 'desc'), ...paging },
      answer: (asked, book) => {
        const found = revisionsOf(book);
        const [page, limit] = [asked.number('pagination[page]', 1), asked.number('pagination[limit]', 10)];
        const data = found.slice((page - 1) * limit, page * limit).map((one) => {
          const attributes = attributesOf(one);
          return { type: 'booking_revision', id: attributes.id, attributes };
        });
        return ok({ meta: { total: found.length, page, limit }, data });
      },
    },
    {
      method: 'POST',
      path: '/booking_revisions/{revision}/ack',
      answer: ({ params }) => {
        acknowledged.add(params.revision ?? '');
        return ok({ meta: { message: 'Success' } });
      },
    },
    single,
    {
      method: 'GET',
      path: '/bookings',
      query: { 'filter[arrival_date][gte]': day, 'filter[arrival_date][lte]': day, ...paging },
      answer: () => ok({ meta: { total: 0, page: 1, limit: 10 }, data: [] }),
    },
  ],
};
