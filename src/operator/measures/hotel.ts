import type { z } from 'zod';
import type { Capacity } from '../../core/canonical/capacity.ts';
import { addDays } from '../../core/canonical/values.ts';
import type { measuresSchema } from '../../core/documents/measures.ts';
import { added, cents, year } from './curve.ts';
import type { HotelFacts, Lost, Money, NightFacts, Sold } from './facts.ts';

/** The figures of a hotel as its page shows them: in one currency, by one definition, against its rooms and its budget. */

/** The definition is that of docs/guides/measures.md. */
export type Reporting = z.infer<typeof measuresSchema>;

export interface Figures {
  readonly rooms_available: number | null;
  readonly sold: number;
  readonly revenue: number;
  readonly occupancy: number | null;
  readonly adr: number | null;
  readonly revpar: number | null;
}

export type HotelView = ReturnType<typeof hotelView>;

export function hotelView(
  day: string,
  facts: HotelFacts,
  capacity: Capacity,
  reporting: Reporting,
  budgets: ReadonlyMap<string, number>,
) {
  const currency = reporting.currency ?? usualCurrency(facts);
  const used = new Map<string, { readonly rate: number; readonly from: string }>();
  const missing = new Set<string>();
  const inOne = (money: Money, on: string): number => {
    let sum = 0;
    for (const [from, amount] of Object.entries(money)) {
      const rate = from === '' || from === currency ? { rate: 1, from: '' } : rateOn(reporting.rates[from], on);
      if (rate === undefined) missing.add(from);
      else sum += amount * rate.rate;
      if (rate && rate.from !== '') used.set(from, rate);
    }
    return cents(sum);
  };
  const isUsali = reporting.definition === 'usali';
  const roomsOn = (night: string) => capacity.findLast(([from]) => from <= night)?.[1] ?? null;
  const soldOf = ({ rooms: sold }: Sold, free: number) => (isUsali ? Math.max(0, sold - free) : sold);
  const byNight = new Map(facts.nights.map((one) => [one.night, one]));
  const usualPrice = figuresOf(facts.nights.filter(({ night }) => night >= day)).adr ?? 0;

  const nights = facts.nights.map((one) => {
    const before = byNight.get(addDays(one.night, -year));
    return {
      ...figuresOf([one]),
      night: one.night,
      known: one.known,
      last_year: before?.known ? figuresOf([before]) : null,
      forecast: forecastOf(one)?.sold ?? null,
    };
  });

  /** Nights that nobody asked for do not count, neither as sold nor as available. */
  function figuresOf(some: readonly NightFacts[]): Figures {
    const sold = some.reduce((sum, one) => sum + soldOf(one, one.free), 0);
    const revenue = cents(some.reduce((sum, one) => sum + inOne(one.revenue, one.night), 0));
    const available = some.map(({ night }) => roomsOn(night));
    const all = available.some((one) => one === null)
      ? null
      : available.reduce<number>((sum, one) => sum + (one ?? 0), 0);
    return {
      rooms_available: all,
      sold,
      revenue,
      occupancy: all ? sold / all : null,
      adr: sold > 0 ? revenue / sold : null,
      revpar: all ? revenue / all : null,
    };
  }

  /** What a night will end at: not more than its rooms, each further room at the price of those that are sold. */
  function forecastOf(one: NightFacts): { readonly sold: number; readonly revenue: number } | undefined {
    if (one.night < day) return { sold: soldOf(one, one.free), revenue: inOne(one.revenue, one.night) };
    if (one.pickup === undefined || !one.known) return undefined;
    const now = figuresOf([one]);
    const sold = Math.max(
      0,
      Math.min(Math.round(now.sold + one.pickup), Math.max(now.sold, now.rooms_available ?? Infinity)),
    );
    return { sold, revenue: cents(now.revenue + (sold - now.sold) * (now.adr ?? usualPrice)) };
  }

  /** A month that has ended is compared with the whole month of the year before, another one with what was on the books 364 days ago. */
  function lastYearOf(month: string, all: readonly NightFacts[], known: readonly NightFacts[]): Figures | null {
    const [yearNo = '', monthNo = ''] = month.split('-');
    const hasEnded = all.every(({ night }) => night < day);
    const before = hasEnded
      ? facts.nights.filter(({ night }) => night.startsWith(`${Number(yearNo) - 1}-${monthNo}`))
      : known.flatMap(({ night }) => {
          const one = byNight.get(addDays(night, -year));
          return one ? [{ ...one, ...(night >= day && one.yearAgo) }] : [];
        });
    const isComplete =
      before.length >= (hasEnded ? all.length - 1 : known.length) && (!hasEnded || known.length === all.length);
    return isComplete && before.length > 0 && before.every((one) => one.known) ? figuresOf(before) : null;
  }

  function monthOf(month: string) {
    const all = facts.nights.filter(({ night }) => night.startsWith(month));
    const known = all.filter((one) => one.known);
    const expected = all.map(forecastOf);
    const isForecast = all.some(({ night }) => night >= day) && expected.every((one) => one !== undefined);
    return {
      month,
      nights: all.length,
      known_nights: known.length,
      ...figuresOf(known),
      last_year: lastYearOf(month, all, known),
      forecast: isForecast
        ? {
            sold: expected.reduce((sum, one) => sum + (one?.sold ?? 0), 0),
            revenue: cents(expected.reduce((sum, one) => sum + (one?.revenue ?? 0), 0)),
          }
        : null,
      budget: budgets.get(month) ?? null,
    };
  }

  /** Thirty nights on the books, now and then. */
  function paceOf(from: string) {
    const some = facts.nights.filter(({ night }) => night >= from && night < addDays(from, 30));
    const before = some.flatMap(({ night }) => byNight.get(addDays(night, -year)) ?? []);
    const sum = (all: readonly (Sold & { readonly night: string })[]) => ({
      rooms: all.reduce((total, one) => total + one.rooms, 0),
      revenue: cents(all.reduce((total, one) => total + inOne(one.revenue, one.night), 0)),
    });
    const then = (at: 'weekAgo' | 'monthAgo' | 'yearAgo', of = some) =>
      sum(of.map((one) => ({ rooms: 0, revenue: {}, ...one[at], night: one.night })));
    const isKnown = before.length === 30 && before.every((one) => one.known);
    return {
      from,
      known: some.every((one) => one.known),
      now: sum(some),
      week_ago: then('weekAgo'),
      month_ago: then('monthAgo'),
      year_ago: isKnown ? then('yearAgo', before) : null,
      year_ago_final: isKnown ? sum(before) : null,
    };
  }

  const lostOf = ({ reservations, room_nights, revenue }: Lost) => ({
    reservations,
    room_nights,
    revenue: inOne(revenue, day),
  });
  const money = added(...facts.nights.map((one) => one.revenue));
  const months = [...new Set(facts.nights.map(({ night }) => night.slice(0, 7)))];
  const current = months.indexOf(day.slice(0, 7));
  const result = {
    day,
    definition: reporting.definition,
    currency,
    today: facts.today,
    nights: nights.filter(({ night }) => night >= day && night < addDays(day, 90)),
    months: months.slice(current - 12, current + 3).map(monthOf),
    pace: [0, 30, 60].map((from) => paceOf(addDays(day, from))),
    cancellations: {
      week: lostOf(facts.lost.week),
      week_before: lostOf(facts.lost.week_before),
      no_shows: lostOf(facts.lost.no_shows),
    },
    channels: facts.channels.map(({ channel, room_nights, revenue }) => {
      const own = inOne(revenue, day);
      const percent = reporting.commission[channel];
      return {
        channel,
        room_nights,
        revenue: own,
        net: percent === undefined ? null : cents(own * (1 - percent / 100)),
      };
    }),
    guests: facts.guests,
    forecast_errors: facts.errors,
  };
  return {
    ...result,
    rates: [...used].map(([name, { rate, from }]) => ({ currency: name, rate, from })),
    left_out: [...missing].filter((name) => money[name] !== undefined).sort(),
  };
}

/** The currency in which the hotel has most nights. */
function usualCurrency({ nights }: HotelFacts): string {
  const counts = new Map<string, number>();
  for (const { revenue } of nights)
    for (const name of Object.keys(revenue)) if (name !== '') counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].toSorted((one, other) => other[1] - one[1])[0]?.[0] ?? '';
}

/** The newest rate on or before a day; before the first one, the first. */
function rateOn(
  rates: Reporting['rates'][string] | undefined,
  day: string,
): { rate: number; from: string } | undefined {
  const all = Object.entries(rates ?? {}).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const [from, rate] = all.findLast(([date]) => date <= day) ?? all[0] ?? [];
  return from === undefined || rate === undefined ? undefined : { rate, from };
}
