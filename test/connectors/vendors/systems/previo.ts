import { day, listOf, oneOf, type Vendor, whole, xml } from '../vendor.ts';
import type { Status, Stay } from '../world.ts';

/** Previo: login in the body, a row for each room, numbers as statuses, cancelled ones only when listed. */
const numbers: Record<Status, number> = { confirmed: 2, checked_in: 3, checked_out: 9, cancelled: 7, no_show: 8 };
const statusOf = (stay: Stay) => (stay.kind === 'enquiry' ? 1 : numbers[stay.status]);

const rowsOf = (stay: Stay) =>
  stay.rooms.map((room, i) => ({
    comId: 555_000 + stay.no * 10 + i,
    resId: 90_000 + stay.no,
    voucher: `PRV${stay.no}`,
    term: { from: `${stay.checkIn} 14:00:00`, to: `${stay.checkOut} 10:00:00` },
    status: { statusId: statusOf(stay), status: stay.status },
    price: i === 0 ? (Number(stay.amount) - (stay.rooms.length - 1) * 10).toFixed(2) : '10.00',
    currency: { code: stay.currency },
    guest: { name: `${stay.first} ${stay.last}`, email: stay.email, phone: stay.phone },
    object: { objId: 12, name: '101' },
    objectKind: { obkId: 3, name: room.type },
  }));

export const vendor: Vendor = {
  system: 'previo',
  env: { USERNAME: 'user', PASSWORD: 'a-password', PROPERTY: '731' },
  kinds: ['enquiry'],
  rooms: 3,
  statuses: ['checked_in', 'checked_out', 'no_show'],
  limited: { status: 429, raw: '<error/>' },
  // The number of guests is not among the names that are known.
  expects: ({ no }) => ({ id: String(90_000 + no), adults: undefined }),
  routes: [
    {
      method: 'POST',
      path: '/x1/hotel/searchReservations',
      encoding: 'xml',
      headers: { 'content-type': 'application/xml' },
      body: {
        'request.login': oneOf('user'),
        'request.password': oneOf('a-password'),
        'request.hotId': oneOf('731'),
        'request.term.from': day,
        'request.term.to': day,
        'request.statuses.cosId': listOf(whole),
        'request.limit.offset': whole,
        'request.limit.limit': whole,
      },
      answer: (asked, book) => {
        if (asked.text('request.password') !== 'a-password')
          return xml({ error: { code: 1001, message: 'Wrong login' } });
        const wanted = new Set(asked.list('request.statuses.cosId'));
        const found = book
          .filter(
            ({ checkIn, checkOut }) =>
              checkIn <= asked.text('request.term.to') && checkOut >= asked.text('request.term.from'),
          )
          .filter((stay) => (wanted.size === 0 ? stay.status !== 'cancelled' : wanted.has(String(statusOf(stay)))))
          .flatMap(rowsOf);
        const [offset, limit] = [asked.number('request.limit.offset', 0), asked.number('request.limit.limit', 20)];
        const rows = found.slice(offset, offset + limit);
        return xml({ reservations: rows.length === 0 ? null : { reservation: rows } });
      },
    },
  ],
};
