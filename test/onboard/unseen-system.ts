/** A hotel system with an API of its own: other names, other paging, a bearer token. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface UnseenSystem {
  readonly url: string;
  readonly requests: readonly { readonly at: number; readonly url: string }[];
  readonly token: string;
  /** Whether its list has the bookings of the days, or none. */
  lists: boolean;
  arrivalOf(id: string): string;
  departureOf(id: string): string;
  /** In our words. */
  statusOf(id: string): string;
  stop(): Promise<void>;
}

const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
const isDate = (text: string) =>
  /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text);
const people = ['Inês Duarte', 'Rui Costa', 'Ana Lima', 'Tomás Reis', 'Eva Matos', 'Luís Paiva', 'Rita Sá'];

const bookings = Array.from({ length: 70 }, (_, i) => {
  const [given, family] = (people[i % people.length] ?? '').split(' ');
  return {
    bookingRef: `HB-${1000 + i}`,
    // A day within what is asked for (three back, fourteen ahead): a day may end before it is asked.
    arrival: day((i % 14) - 2),
    departure: day((i % 14) + (i % 3)),
    bookedOn: day(-20 - (i % 5)),
    state: ['CONFIRMED', 'CHECKED_IN', 'CANCELLED'][i % 3],
    guest: {
      givenName: given,
      familyName: family,
      mail: `guest${i}@letters.example`,
      mobile: `+3519123456${10 + (i % 80)}`,
    },
    rooms: [{ category: 'DBL', mealPlan: 'BB', ratePlanCode: 'BAR', adultCount: 2, childCount: i % 2 }],
    total: { value: 120.5 + i, currency: 'EUR' },
  };
});

/** Mistakes that such an API can make. */
export interface Faults {
  /** Every page is the first one. */
  readonly repeats?: boolean;
  /** Wrong dates are answered with everything. */
  readonly anyDates?: boolean;
}

export async function startUnseenSystem(faults: Faults = {}): Promise<UnseenSystem> {
  const requests: { readonly at: number; readonly url: string }[] = [];
  const token = 'unseen-system-token';
  const state = { lists: true };
  const server = createServer((request, response): unknown => {
    requests.push({ at: Date.now(), url: request.url ?? '' });
    const url = new URL(request.url ?? '/', 'http://unseen');
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.headers.authorization !== `Bearer ${token}`) return send(401, { error: 'bad token' });
    if (url.pathname !== '/v2/bookings') return send(404, { error: 'no such resource' });
    const [from, to] = [url.searchParams.get('arrivalFrom') ?? '', url.searchParams.get('arrivalTo') ?? ''];
    const isRange = isDate(from) && isDate(to);
    if (!isRange && !faults.anyDates) return send(400, { error: 'dates are needed' });
    const found = !state.lists
      ? []
      : isRange
        ? bookings.filter(({ arrival }) => arrival >= from && arrival <= to)
        : bookings;
    const start = faults.repeats ? 0 : Number(url.searchParams.get('cursor') ?? 0);
    const next = start + 20 < found.length ? String(start + 20) : null;
    return send(200, { data: { items: found.slice(start, start + 20), total: found.length, nextCursor: next } });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    requests,
    arrivalOf: (id: string) => bookings.find(({ bookingRef }) => bookingRef === id)?.arrival ?? '',
    departureOf: (id: string) => bookings.find(({ bookingRef }) => bookingRef === id)?.departure ?? '',
    statusOf: (id: string) => bookings.find(({ bookingRef }) => bookingRef === id)?.state?.toLowerCase() ?? '',
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  });
}
