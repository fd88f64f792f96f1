import type { Status } from '../canonical/status.ts';
import { daysOf } from './formats.ts';
import type { Match } from './match.ts';

interface Stay {
  readonly spelling: string;
  readonly from: number;
  readonly to: number;
}

type Time = 'past' | 'present' | 'future' | 'mixed';
const meanings = { past: 'checked_out', present: 'checked_in', future: 'confirmed' } as const;

/**
 * What unknown status codes mean, by the stays that have them. On the day of the sample, guests who left have stays in the past, guests in
 * house have stays of that day, and confirmed ones come later. The day is the first one after the last booking that fits
 * most records. If no day shows all three, nothing is said, and a meaning that a known spelling has is not given to another.
 */
export function statusesByTime(
  spellings: readonly (string | undefined)[],
  known: (spelling: string) => Status | undefined,
  reservation: ReadonlyMap<string, Match>,
): ReadonlyMap<string, Status> {
  const days = (field: string) => daysOf(reservation.get(field)?.leaf.values ?? []);
  const [arrivals, departures] = [days('check_in'), days('check_out')];
  const stays = spellings.flatMap((spelling, at): Stay[] => {
    const [from, to] = [arrivals[at], departures[at]];
    return spelling === undefined || from === undefined || to === undefined ? [] : [{ spelling, from, to }];
  });
  const booked = Math.max(...days('booking_date').map((day) => day ?? 0), 0);
  const times = (today: number) => {
    const found = new Map<string, Time>();
    for (const { spelling, from, to } of stays) {
      const time = to <= today ? 'past' : from > today ? 'future' : 'present';
      const before = found.get(spelling) ?? time;
      found.set(spelling, before === time ? time : 'mixed');
    }
    return found;
  };
  const taken = new Set(stays.map(({ spelling }) => known(spelling)));
  const isFree = (time: Time) => time !== 'mixed' && !taken.has(meanings[time]);
  const fits = (found: ReadonlyMap<string, Time>): number =>
    stays.reduce((sum, { spelling }) => {
      const time = found.get(spelling) ?? 'mixed';
      const meaning = known(spelling);
      if (meaning === undefined) return sum + (!isFree(time) ? 0 : time === 'present' ? 1.1 : 1);
      return sum + (time !== 'mixed' && meanings[time] === meaning ? 1 : meaning === 'cancelled' ? 0 : -1);
    }, 0);
  const [best] = stays
    .map(({ from }) => from)
    .filter((day) => day >= booked)
    .sort((a, b) => a - b)
    .map(times)
    .sort((a, b) => fits(b) - fits(a));
  const shown = new Set(best?.values());
  if (best === undefined || !(['past', 'present', 'future'] as const).every((time) => shown.has(time)))
    return new Map();
  return new Map(
    [...best].flatMap(([spelling, time]) => (time === 'mixed' || !isFree(time) ? [] : [[spelling, meanings[time]]])),
  );
}
