import { day, isBetween, matching, ok, oneOf, text, upTo, type Vendor, whole } from '../vendor.ts';
import { guestsOf, type Stay } from '../world.ts';

/** Hostex's API v3: success and failure inside a 200, a row for each room's stay, guests counted only. */
const codeOf = ({ no }: Stay) => `0-HM${no}-abc`;

const requests = ['wait_accept', 'wait_pay', 'denied', 'timeout'];

function statusOf({ kind, status, no }: Stay): string {
  if (kind === 'option') return requests[no % requests.length] ?? '';
  return status === 'cancelled' ? 'cancelled' : 'accepted';
}

const rowsOf = (stay: Stay) =>
  stay.rooms.map(({ adults, children }, i) => ({
    reservation_code: codeOf(stay),
    stay_code: `${codeOf(stay)}-${i + 1}`,
    property_id: 110_800 + i,
    channel_type: 'airbnb',
    status: statusOf(stay),
    check_in_date: stay.checkIn,
    check_out_date: stay.checkOut,
    guest_name: `${stay.first} ${stay.last}`,
    email: stay.email,
    mobile: stay.phone,
    number_of_guests: adults + children,
    currency: stay.currency,
    // The amount of each stay: the reservation costs what they cost together.
    rate_amount: i === 0 ? Number((Number(stay.amount) - 10 * (stay.rooms.length - 1)).toFixed(2)) : 10,
    commission_amount: 14.4,
    booked_at: stay.bookedAt.replace('Z', '+00:00'),
    cancelled_at: stay.cancelledAt?.replace('Z', '+00:00') ?? null,
  }));

export const vendor: Vendor = {
  system: 'hostex',
  base: '/v3',
  env: { TOKEN: 'a-token', PROPERTY: 'account' },
  kinds: ['option'],
  rooms: 2,
  limited: ok({ request_id: 'r', error_code: 429, error_msg: 'Too many requests.' }),
  authorize: ({ headers }) =>
    headers['hostex-access-token'] === 'a-token'
      ? undefined
      : ok({ request_id: 'r', error_code: 401, error_msg: 'Unauthorized.' }),
  expects: (stay) => ({ id: codeOf(stay), adults: guestsOf(stay, 'adults') + guestsOf(stay, 'children') }),
  webhooks: [
    {
      body: {
        event: 'reservation_updated',
        reservation_code: '0-HM1-abc',
        stay_code: '0-HM1-abc-1',
        timestamp: '2026-05-01T10:00:00Z',
      },
      headers: (secret) => ({ 'hostex-webhook-secret-token': secret }),
      means: ['reservation.updated', '0-HM1-abc'],
    },
  ],
  routes: [
    {
      method: 'GET',
      path: '/reservations',
      query: {
        reservation_code: text,
        property_id: whole,
        status: oneOf('wait_accept', 'wait_pay', 'accepted', 'cancelled', 'denied', 'timeout'),
        start_check_in_date: day,
        end_check_in_date: day,
        start_check_out_date: day,
        end_check_out_date: day,
        order_by: matching(/^\w+$/),
        offset: whole,
        limit: upTo(100),
      },
      answer: (asked, book) => {
        const found = book
          .filter(({ checkIn }) => isBetween(asked, checkIn, 'start_check_in_date', 'end_check_in_date'))
          .filter(({ checkOut }) => isBetween(asked, checkOut, 'start_check_out_date', 'end_check_out_date'))
          .filter((stay) => asked.text('reservation_code', codeOf(stay)) === codeOf(stay))
          .flatMap(rowsOf);
        const [offset, limit] = [asked.number('offset', 0), asked.number('limit', 20)];
        return ok({
          request_id: 'r',
          error_code: 200,
          error_msg: 'Done.',
          data: { reservations: found.slice(offset, offset + limit), total: found.length },
        });
      },
    },
  ],
};
