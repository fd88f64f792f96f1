import type { CSSProperties } from 'react';
import type { HotelReport } from '../../api/types.ts';
import { plural } from '../../parts/format.ts';

type Night = HotelReport['nights'][number];

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const dayOf = (night: string) => new Date(`${night}T00:00:00Z`);
const long = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long', timeZone: 'UTC' });
const month = new Intl.DateTimeFormat('en-GB', { month: 'short', timeZone: 'UTC' });

/** Weeks from Monday to Sunday; the first and the last may have gaps. */
function weeksOf(nights: readonly Night[]): (Night | undefined)[][] {
  const before = nights[0] ? (dayOf(nights[0].night).getUTCDay() + 6) % 7 : 0;
  const all: (Night | undefined)[] = [...Array.from({ length: before }, () => undefined), ...nights];
  return Array.from({ length: Math.ceil(all.length / 7) }, (_, week) =>
    Array.from({ length: 7 }, (__, day) => all[week * 7 + day]),
  );
}

/** A calendar of occupancy, darker where more is sold; of rooms sold, if the number of rooms is not known. */
export function Nights({ nights }: { nights: readonly Night[] }) {
  const most = Math.max(1, ...nights.map(({ sold }) => sold));
  return (
    <table className="nights" aria-label="The next 90 nights">
      <thead>
        <tr>
          {weekdays.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeksOf(nights).map((week) => (
          <tr key={week.find((one) => one)?.night}>
            {week.map((one, day) =>
              one ? <Cell key={one.night} night={one} most={most} /> : <td key={weekdays[day]} />,
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Cell({
  night: { night, known, sold, last_year, rooms_available, forecast },
  most,
}: {
  night: Night;
  most: number;
}) {
  const at = dayOf(night);
  const share = rooms_available ? sold / rooms_available : undefined;
  const heat = Math.min(1, share ?? sold / most);
  const words = [
    long.format(at),
    known ? `${plural(sold, 'room')} sold${rooms_available === null ? '' : ` of ${rooms_available}`}` : 'not known',
    ...(forecast === null ? [] : [`${forecast} expected`]),
    ...(last_year === null ? [] : [`${last_year.sold} a year ago`]),
  ].join(', ');
  return (
    <td
      title={words}
      style={{ '--heat': `${Math.round(heat * 70)}%` } as CSSProperties}
      data-over={share !== undefined && share > 1}
      data-unknown={!known}
    >
      <span className="date" aria-hidden="true">
        {at.getUTCDate()}
        {at.getUTCDate() === 1 && ` ${month.format(at)}`}
      </span>
      <span aria-hidden="true" className="num">
        {!known && sold === 0 ? '–' : share === undefined ? sold : `${Math.round(100 * share)}%`}
      </span>
      <span className="visually-hidden">{words}</span>
    </td>
  );
}
