import { addDays } from './days.ts';
import type { Figures, HotelView } from './hotel.ts';

/** The figures of a hotel as a letter to its manager. No guest is named. */
export function weeklyText(hotel: string, view: HotelView): { readonly subject: string; readonly text: string } {
  const { day, currency, cancellations, guests } = view;
  const count = (value: number) => Math.round(value).toLocaleString('en');
  const amount = (value: number | null) => (value === null ? '–' : `${count(value)} ${currency}`.trim());
  const figures = ({ sold, occupancy, revenue, adr, revpar }: Figures) =>
    `${count(sold)} rooms, ${occupancy === null ? '–' : `${count(occupancy * 100)} %`}, ${amount(revenue)}, ADR ${amount(adr)}, RevPAR ${amount(revpar)}`;
  const known = (some: number, all: number) => (some === all ? '' : ` (${some} of ${all} nights known)`);
  const lost = ({ reservations, room_nights, revenue }: typeof cancellations.week) =>
    `${count(reservations)} bookings, ${count(room_nights)} room nights, ${amount(revenue)}`;

  const week = view.nights.filter(({ night }) => night < addDays(day, 7));
  const weekKnown = week.filter((one) => one.known);
  const current = view.months.findIndex(({ month }) => day.startsWith(month));
  const months = view.months
    .slice(Math.max(0, current - 1), current + 2)
    .flatMap(({ month, nights, known_nights, last_year, budget, ...month_figures }) => [
      `${month}: ${figures(month_figures)}${known(known_nights, nights)}`,
      ...(last_year === null ? [] : [`  the year before: ${figures(last_year)}`]),
      ...(budget === null ? [] : [`  budget: ${amount(budget)}`]),
    ]);
  const pace = view.pace.map(
    ({ from, known: isKnown, now, week_ago }) =>
      `30 nights from ${from}: ${count(now.rooms)} rooms, ${amount(now.revenue)}; a week ago ${count(week_ago.rooms)} rooms, ${amount(week_ago.revenue)}${isKnown ? '' : ' (not all nights known)'}`,
  );
  const lines = [
    `${hotel}, the week from ${day}`,
    '',
    `Next 7 nights: ${figures(totalOf(weekKnown))}${known(weekKnown.length, week.length)}`,
    `Arrivals with guests who were here before: ${guests.returning} of ${guests.returning + guests.new + guests.unknown}`,
    '',
    ...months,
    '',
    'On the books',
    ...pace,
    '',
    `Cancelled in 7 days: ${lost(cancellations.week)}`,
    `No-shows in 7 days: ${lost(cancellations.no_shows)}`,
  ];
  return { subject: `${hotel}: the week from ${day}`, text: lines.join('\n') };
}

function totalOf(nights: readonly Figures[]): Figures {
  const sum = (values: readonly number[]) => values.reduce((total, one) => total + one, 0);
  const [sold, revenue] = [sum(nights.map((one) => one.sold)), sum(nights.map((one) => one.revenue))];
  const isCounted = nights.every(({ rooms_available }) => rooms_available !== null);
  const rooms_available = isCounted ? sum(nights.map((one) => one.rooms_available ?? 0)) : null;
  return {
    rooms_available,
    sold,
    revenue,
    occupancy: rooms_available ? sold / rooms_available : null,
    adr: sold > 0 ? revenue / sold : null,
    revpar: rooms_available ? revenue / rooms_available : null,
  };
}
