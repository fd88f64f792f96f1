import type { Status } from '../canonical/status.ts';
import { daysOf } from './formats.ts';
import type { Match } from './match.ts';

const times: readonly Status[] = ['checked_out', 'checked_in', 'confirmed'];

/**
 * What unknown status codes mean, by the stays that have them. On the day of the sample, guests who left have stays in the past, guests in
 * house have stays of that day, and confirmed ones come later. The day is the first one after the last booking that fits most codes. If no
 * day shows all three, nothing is said; a meaning that a known spelling has is not given to another.
 */
export function statusesByTime(
  spellings: readonly (string | undefined)[],
  known: (spelling: string) => Status | undefined,
  reservation: ReadonlyMap<string, Match>,
): ReadonlyMap<string, Status> {
  const days = (field: string) => daysOf(reservation.get(field)?.leaf.values ?? []).map((day) => day ?? Number.NaN);
  const [arrivals, departures] = [days('check_in'), days('check_out')];
  const timeOf = (at: number, today: number): Status =>
    (departures[at] ?? 0) <= today ? 'checked_out' : (arrivals[at] ?? 0) > today ? 'confirmed' : 'checked_in';
  const lastBooking = Math.max(0, ...days('booking_date').filter((day) => day > 0));
  const codes = [...new Set(spellings.flatMap((spelling) => spelling ?? []))];
  const taken = new Set(codes.map(known));
  const meaningsOn = (today: number): ReadonlyMap<string, Status> =>
    new Map(
      codes.flatMap((code) => {
        const own = spellings.flatMap((spelling, at) => (spelling === code ? [at] : []));
        const [meaning, other] = new Set(own.map((at) => timeOf(at, today)));
        const isFree = known(code) === undefined ? !taken.has(meaning) : known(code) === meaning;
        return meaning !== undefined && other === undefined && isFree ? [[code, meaning] as const] : [];
      }),
    );
  const [best] = arrivals
    .filter((day) => day >= lastBooking)
    .sort((a, b) => a - b)
    .map(meaningsOn)
    .filter((found) => times.every((time) => [...found.values()].includes(time)))
    .sort((a, b) => b.size - a.size);
  return best ?? new Map();
}
