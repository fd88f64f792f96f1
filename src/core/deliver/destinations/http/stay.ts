import type { EpochMs } from '../../../../terms.ts';
import { add, type Room, withNumbers } from '../../../canonical/reservation.ts';
import type { Message, StayOfBrand } from '../../message.ts';

/** The values of a stay that CRMs ask for and that the record holds only indirectly; `{stay.…}` in templates. */
export function stayOf({ type, integration, data }: Message, cancelledAt: EpochMs | undefined) {
  if (type !== 'reservation') return undefined;
  const { id, confirmation_number: number, check_in: from, check_out: to, rooms = [] } = data;
  const seen = cancelledAt === undefined ? undefined : new Date(cancelledAt).toISOString();
  const cancelled = data.cancelled_at ?? seen;
  return {
    /** The integration and the id: ids repeat between integrations, even within one brand_id, and no integration's name has a colon. */
    key: `${integration}:${id}`,
    /** The number that the guest knows, or the id. */
    name: number ?? id,
    ...(from !== undefined && to !== undefined && { nights: (Date.parse(to) - Date.parse(from)) / 86_400_000 }),
    /** As the partner says it, else the day on which it was seen; then absent in later versions. */
    ...(cancelled !== undefined && { cancelled_at: cancelled.slice(0, 10) }),
    rooms: rooms.length,
    ...sums(rooms),
    ...texts(rooms),
  };
}

function sums(rooms: readonly Room[]) {
  const sum = (field: 'adults' | 'children') => {
    const known = rooms.flatMap((room) => room[field] ?? []);
    return known.length === 0 ? undefined : known.reduce((a, b) => a + b);
  };
  const [adults, children] = [sum('adults'), sum('children')];
  return { ...(adults !== undefined && { adults }), ...(children !== undefined && { children }) };
}

/** Each value once, in the order of the rooms. */
function texts(rooms: readonly Room[]) {
  const all = (['room_type', 'board', 'rate_code'] as const).map(
    (field) => [field, [...new Set(rooms.flatMap((room) => room[field] ?? []))].join(', ')] as const,
  );
  return Object.fromEntries(all.filter(([, text]) => text !== ''));
}

export type History = ReturnType<typeof historyOf>;

/**
 * What all stays of a person add up to, for segments; `{guest.history.…}` in templates. It is worked out with each delivery of the person, from the
 * stays as they are stored, so it is right from the first delivery on.
 */
export function historyOf(stays: readonly StayOfBrand[], today: string, bornOn?: string) {
  const booked = stays
    .filter(({ status }) => status !== 'cancelled' && status !== 'no_show')
    .toSorted((a, b) => compare(a.booking_date ?? a.check_in, b.booking_date ?? b.check_in) || compare(a.id, b.id));
  const begun = booked
    .filter(({ status }) => status === 'checked_in' || status === 'checked_out')
    .toSorted((a, b) => compare(a.check_in, b.check_in));
  const dates = (field: 'check_in' | 'check_out', wanted: string) =>
    booked.flatMap(({ status, [field]: date }) => (status === wanted && date !== undefined ? [date] : [])).sort();
  const channels = booked.flatMap(({ channel }) => channel ?? []);
  const currency = begun.findLast(({ total_amount }) => total_amount !== undefined)?.currency;
  const amounts = begun.flatMap((one) => (one.currency === currency ? (one.total_amount ?? []) : []));
  const values = {
    /** Stays that have begun: checked in or checked out. */
    stays: begun.length,
    last_check_out: dates('check_out', 'checked_out').at(-1),
    /** Of confirmed stays that begin on the day of the change or later. */
    next_check_in: dates('check_in', 'confirmed').find((date) => date >= today),
    /** The check-out of a stay that is checked in. */
    in_house_until: dates('check_out', 'checked_in').at(-1),
    /** The first birthday of the guest in a stay that is to come or in house. */
    birthday_in_stay: bornOn === undefined ? undefined : birthdays(booked, bornOn, today).sort()[0],
    /** When a booking was last cancelled, as the partner says it, else when it was seen. */
    last_cancelled: stays
      .flatMap((one) => (one.status === 'cancelled' ? (one.cancelled_at ?? today).slice(0, 10) : []))
      .sort()
      .at(-1),
    /** The amounts of the stays that have begun, in the currency of the last of them. */
    value: amounts.length === 0 ? undefined : numberOf(add(amounts)),
    currency,
    /** Of the first and the last booking that was not cancelled or a no-show. */
    first_channel: channels[0],
    last_channel: channels.at(-1),
    /** The integrations that the stays come from. */
    brands: [...new Set(stays.map(({ brand }) => brand))].sort().join(', '),
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<
    typeof values
  >;
}

/** Birthdays between check-in and check-out, both included, in stays that are not over. */
function birthdays(booked: readonly StayOfBrand[], bornOn: string, today: string): string[] {
  const open = booked.filter(({ status }) => status === 'confirmed' || status === 'checked_in');
  return open.flatMap(({ check_in: from = '', check_out: to = '' }) =>
    to < today
      ? []
      : [...new Set([from, to].map((date) => birthdayIn(Number(date.slice(0, 4)), bornOn)))].filter(
          (date) => date >= from && date <= to,
        ),
  );
}

/** Who was born on 29 February has a birthday on the 28th in other years. */
function birthdayIn(year: number, bornOn: string): string {
  const isLeap = new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1;
  const day = bornOn.slice(4) === '-02-29' && !isLeap ? '-02-28' : bornOn.slice(4);
  return `${year}${day}`;
}

const compare = (a = '', b = ''): number => (a < b ? -1 : a > b ? 1 : 0);

/** A JSON number with every digit. */
const numberOf = (total_amount: string): unknown =>
  (withNumbers({ total_amount }) as { total_amount: unknown }).total_amount;
