import type { Figures, HotelView } from './hotel.ts';

/** The figures of a hotel as a letter to its manager. No guest is named. */
export function weeklyText(hotel: string, view: HotelView): { readonly subject: string; readonly text: string } {
  const { day, currency, cancellations, guests } = view;
  const count = (value: number) => Math.round(value).toLocaleString('en');
  const amount = (value: number | null) => (value === null ? '–' : `${count(value)} ${currency}`.trim());
  const figures = ({ sold, occupancy, revenue, adr, revpar }: Figures) =>
    `${count(sold)} ${sold === 1 ? 'room' : 'rooms'}, ${occupancy === null ? '–' : `${count(occupancy * 100)} %`}, ${amount(revenue)}, ADR ${amount(adr)}, RevPAR ${amount(revpar)}`;
  const lost = ({ reservations, room_nights, revenue }: typeof cancellations.week) =>
    `${count(reservations)} bookings, ${count(room_nights)} room nights, ${amount(revenue)}`;

  const current = view.months.findIndex(({ month }) => day.startsWith(month));
  const months = view.months
    .slice(Math.max(0, current - 1), current + 2)
    .flatMap(({ month, nights, known_nights, last_year, budget, ...month_figures }) => [
      `${month}: ${known_nights === 0 ? 'not known' : figures(month_figures)}${[0, nights].includes(known_nights) ? '' : ` (${known_nights} of ${nights} nights known)`}`,
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
    ...view.nights.slice(0, 7).map((one) => `${one.night}: ${one.known ? figures(one) : 'not known'}`),
    `Arrivals of 7 days with guests who were here before: ${guests.returning} of ${guests.returning + guests.new + guests.unknown}`,
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
