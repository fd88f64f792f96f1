import type { Status } from '../../../src/canonical/status.ts';
import { daysOf } from './formats.ts';
import type { Match } from './match.ts';

const times: readonly Status[] = ['checked_out', 'checked_in', 'confirmed'];

/**
 * What unknown status codes mean, by the stays that have them. On the day of the sample, guests who left have stays in the past, guests in
 * house have stays of that day, and confirmed ones come later; one record of a code in four may differ, such as a block of the owner. The
 * day is the first one that fits most codes, if possible after the last booking. If no day shows all three, nothing is said; a meaning
 * that a known spelling has is not given to another.
 */
export function statusesByTime(
  spellings: readonly (string | undefined)[],
  known: (spelling: string) => Status | undefined,
  reservation: ReadonlyMap<string, Match>,
): ReadonlyMap<string, Status> {
  const days = (field: string) => daysOf(reservation.get(field)?.leaf.values);
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
        const meaning = times.find(
          (time) => own.filter((at) => timeOf(at, today) === time).length >= own.length * 0.75,
        );
        const isFree = known(code) === undefined ? !taken.has(meaning) : known(code) === meaning;
        return meaning !== undefined && isFree ? [[code, meaning] as const] : [];
      }),
    );
  const [best] = arrivals
    .toSorted((a, b) => Number(b >= lastBooking) - Number(a >= lastBooking) || a - b)
    .map(meaningsOn)
    .filter((found) => times.every((time) => [...found.values()].includes(time)))
    .sort((a, b) => b.size - a.size);
  return best ?? new Map();
}
