/** What a simulated vendor's customer has: some 120 bookings around today, and what is not a booking. Each vendor writes it in its own words. */

export type Status = 'confirmed' | 'checked_in' | 'checked_out' | 'cancelled' | 'no_show';

/** What vendors list beside bookings. An option is a request or a hold that nobody has confirmed, or that has lapsed. */
export type Kind = 'booking' | 'block' | 'owner' | 'enquiry' | 'option';

export interface Room {
  readonly type: string;
  readonly adults: number;
  readonly children: number;
}

export interface Stay {
  /** From 1: a vendor makes its ids from it. */
  readonly no: number;
  readonly kind: Kind;
  readonly status: Status;
  /** Days at the property. */
  readonly checkIn: string;
  readonly checkOut: string;
  readonly first: string;
  readonly last: string;
  readonly email: string;
  readonly phone: string;
  /** With two decimals. */
  readonly amount: string;
  readonly currency: string;
  readonly rooms: readonly Room[];
  /** UTC, to the second: 2026-03-01T10:00:00Z. */
  readonly bookedAt: string;
  readonly changedAt: string;
  readonly cancelledAt: string | undefined;
}

export interface Customs {
  /** The statuses that the vendor can tell, beside confirmed and cancelled. */
  readonly statuses?: readonly Status[];
  /** What it lists beside bookings. */
  readonly kinds?: readonly Kind[];
  /** The most rooms that one of its bookings has. */
  readonly rooms?: number;
  /** Where the currency belongs to the property. */
  readonly currency?: string;
}

const count = 120;
const dayMs = 86_400_000;
const names = ['Ana Reis', 'Bo Lund', 'Chidi Okafor', 'Dora Novak', 'Emil Weber', 'Fatima Haddad', 'Greta Olsen'];

export const dayAfter = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10);

const instant = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

export const nightsOf = ({ checkIn, checkOut }: Stay): number => (Date.parse(checkOut) - Date.parse(checkIn)) / dayMs;

export const guestsOf = (stay: Stay, kind: 'adults' | 'children'): number =>
  stay.rooms.reduce((sum, room) => sum + room[kind], 0);

/** 120 bookings and the vendor's other rows, in no order of dates. `now`: the moment of the first run. */
export function firstBook(customs: Customs, now: number): Stay[] {
  const kinds = customs.kinds ?? [];
  const others = kinds.flatMap((kind) => [1, 2, 3].map(() => kind));
  const all: Kind[] = [...Array.from({ length: count }, (): Kind => 'booking'), ...others];
  return all.map((kind, i) => newStay(i + 1, kind, customs, now));
}

function newStay(no: number, kind: Kind, customs: Customs, now: number): Stay {
  const today = new Date(now).toISOString().slice(0, 10);
  // 37 and 101 have no common divisor: arrivals are spread from six weeks ago to two months ahead.
  const checkIn = dayAfter(today, ((no * 37) % 101) - 40);
  const checkOut = dayAfter(checkIn, 1 + (no % 4));
  const [first = '', last = ''] = (names[no % names.length] ?? '').split(' ');
  const status = statusOf(no, checkIn, checkOut, today, customs);
  const changedAt = now - dayMs * (1 + ((no * 11) % 200)) - no * 1_000;
  return {
    no,
    kind,
    status,
    checkIn,
    checkOut,
    first,
    last: `${last}${letters(no)}`,
    email: `${first}.${last}${letters(no)}@guest.example`.toLowerCase(),
    phone: `+3519123${String(no).padStart(5, '0')}`,
    amount: (80 + no * 3.07).toFixed(2),
    currency: customs.currency ?? (no % 3 === 0 ? 'USD' : 'EUR'),
    rooms: Array.from({ length: 1 + (no % 5 === 0 ? (customs.rooms ?? 1) - 1 : 0) }, (_, i) => ({
      type: `U${(no + i) % 9}`,
      adults: 1 + ((no + i) % 3),
      children: no % 4 === 0 ? 1 : 0,
    })),
    bookedAt: instant(changedAt - dayMs * (no % 40)),
    changedAt: instant(changedAt),
    cancelledAt: status === 'cancelled' ? instant(changedAt) : undefined,
  };
}

/** A different ending for each surname: `aa`, `ab`, … */
const letters = (no: number) => String.fromCharCode(97 + Math.floor(no / 26), 97 + (no % 26));

function statusOf(no: number, checkIn: string, checkOut: string, today: string, { statuses = [] }: Customs): Status {
  if (no % 9 === 0) return 'cancelled';
  const told = (status: Status): Status => (statuses.includes(status) ? status : 'confirmed');
  if (checkOut < today) return no % 13 === 0 && statuses.includes('no_show') ? 'no_show' : told('checked_out');
  return checkIn < today ? told('checked_in') : 'confirmed';
}

/** What happens between two runs, and to whom: amounts, cancellations, dates, an address, new bookings, an option that is confirmed, and more of what is no booking. */
export function secondBook(book: readonly Stay[], customs: Customs, now: number): { book: Stay[]; changed: Stay[] } {
  const changedAt = instant(now);
  const changed: Stay[] = [];
  const confirmed = book.find(({ kind }) => kind === 'option');
  const next = book.map((stay) => {
    const change = stay === confirmed ? ({ kind: 'booking' } as const) : changeOf(stay, changedAt);
    if (change === undefined) return stay;
    changed.push({ ...stay, ...change, changedAt });
    return changed.at(-1) ?? stay;
  });
  const fresh = [1, 2, 3].map((i) => ({
    ...newStay(book.length + i, 'booking', customs, now),
    bookedAt: changedAt,
    changedAt,
    cancelledAt: undefined,
    status: 'confirmed' as const,
    checkIn: dayAfter(changedAt.slice(0, 10), 9 + i),
    checkOut: dayAfter(changedAt.slice(0, 10), 12 + i),
  }));
  const others = (customs.kinds ?? []).map((kind, i) => ({
    ...newStay(book.length + 4 + i, kind, customs, now),
    changedAt,
  }));
  return { book: [...next, ...fresh, ...others], changed: [...changed, ...fresh] };
}

function changeOf(stay: Stay, changedAt: string): Partial<Stay> | undefined {
  if (stay.kind !== 'booking') return undefined;
  const isLive = stay.status === 'confirmed' || stay.status === 'checked_in';
  if (!isLive) return undefined;
  if (stay.no % 17 === 1) return { amount: (Number(stay.amount) + 25.5).toFixed(2) };
  if (stay.no % 17 === 2) return { status: 'cancelled', cancelledAt: changedAt };
  if (stay.no % 17 === 3) return { checkOut: dayAfter(stay.checkOut, 1) };
  if (stay.no % 17 === 4) return { email: stay.email.replace('@', '.new@') };
  return undefined;
}
