import type { HotelReport } from '../../api/types.ts';
import { number, percent, plural } from '../../parts/format.ts';
import { money } from './money.ts';

type Figure = readonly [label: string, value: string | number, detail: string];

/** A day that nobody asked the partner for has no zeros. */
const withUnknown =
  (isKnown: boolean) =>
  (figure: Figure): Figure =>
    isKnown || !/today|tonight/.test(figure[0]) ? figure : [figure[0], '–', 'not known'];

/** Today and tonight, and what the last days lost. */
export function Today({ report }: { report: HotelReport }) {
  const { currency, guests, nights } = report;
  const { arrivals, departures, in_house } = report.today;
  const { week, week_before, no_shows } = report.cancellations;
  const tonight = nights[0];
  const known = guests.returning + guests.new;
  const rooms = tonight?.rooms_available;
  const amount = (value: number | null | undefined) => (value == null ? '–' : money(value, currency));
  const figures: readonly Figure[] = [
    [
      'Arrivals today',
      arrivals.reservations,
      `${arrivals.done} arrived · ${plural(arrivals.people, 'person', 'people')}`,
    ],
    ['Departures today', departures.reservations, `${departures.done} left · ${plural(departures.rooms, 'room')}`],
    [
      'In house tonight',
      in_house.rooms,
      `${rooms ? `${percent(in_house.rooms / rooms)} of ${rooms} rooms` : plural(in_house.rooms, 'room')} · ${plural(in_house.people, 'person', 'people')}`,
    ],
    ['Room revenue tonight', amount(tonight?.revenue), `${amount(tonight?.last_year?.revenue)} a year ago`],
    ['ADR tonight', amount(tonight?.adr), `RevPAR ${amount(tonight?.revpar)}`],
    [
      'Cancelled in 7 days',
      week.reservations,
      `${plural(week.room_nights, 'room night')}, ${amount(week.revenue)} · ${week_before.reservations} the week before`,
    ],
    [
      'No-shows in 7 days',
      no_shows.reservations,
      `${plural(no_shows.room_nights, 'room night')}, ${amount(no_shows.revenue)}`,
    ],
    [
      'Returning guests',
      known === 0 ? '–' : percent(guests.returning / known),
      known === 0 && guests.unknown > 0
        ? 'the guests who arrive have no profiles yet'
        : `${guests.returning} of ${known} arrivals in 7 days`,
    ],
  ];
  return (
    <div className="figures four">
      {figures.map(withUnknown(tonight?.known !== false)).map(([label, value, detail]) => (
        <div key={label} className="figure">
          <span className="label">{label}</span>
          <span className="value">{typeof value === 'number' ? number(value) : value}</span>
          <span className="muted small">{detail}</span>
        </div>
      ))}
    </div>
  );
}
