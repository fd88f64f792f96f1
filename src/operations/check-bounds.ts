import type { Reservation } from '../canonical/reservation.ts';
import { addDays, daysIn, type Window } from '../intake/pull/window/windows.ts';
import type { LocalDate } from '../terms.ts';

type Stay = Pick<Reservation, 'id' | 'check_in' | 'check_out'>;

/** The stays that the partner lists for a range; undefined without an answer. */
export type ListStays = (range: Window) => Promise<readonly Stay[] | undefined>;

/** Around a day on which the partner lists nothing. */
const daysAround = 3;

/**
 * Finds a partner whose range does not include its first or its last day: it lists a known stay for two days and not for its own day alone.
 * The stay comes from the answer that is at hand, or from the days around. Undefined if both days are included, or nothing is known.
 */
export async function excludedBounds(
  list: ListStays,
  asked: Window,
  listed: readonly Stay[],
): Promise<string | undefined> {
  const isOneDay = daysIn(asked) === 1;
  if (isOneDay && listed.length > 0) return undefined;
  const around = { from: addDays(asked.from, -daysAround), to: addDays(asked.to, daysAround) };
  const known = listed.length > 0 ? listed : await list(around);
  const [stay] = known?.toSorted((a, b) => nights(b) - nights(a)) ?? [];
  if (stay === undefined) return undefined;
  const shows = async (from: LocalDate, to: LocalDate) =>
    (await list({ from, to }))?.some(({ id }) => id === stay.id) ?? false;
  const days = [stay.check_in, stay.check_out];
  for (const day of days) if (await shows(day, day)) return undefined;
  for (const day of days) {
    if (await shows(addDays(day, -1), day)) return startExcluded;
    // For one night, a list by arrival without its last day equals one by departure without its first.
    if (await shows(day, addDays(day, 1)))
      return nights(stay) === 1 && day === stay.check_in ? oneExcluded : endExcluded;
    if (await shows(addDays(day, -1), addDays(day, 1))) return `${startExcluded} ${endExcluded}`;
  }
  return undefined;
}

const nights = ({ check_in: from, check_out: to }: Stay): number => daysIn({ from, to }) - 1;

const startExcluded =
  'The partner leaves out the first day of a range: send {window.before} instead of {window.from}, or every window loses a day.';
const oneExcluded =
  'The partner leaves out the first or the last day of a range, and stays of one night do not show which: send {window.before} instead of {window.from} or {window.after} instead of {window.to}, whichever makes a dry run of one day list its stays.';
const endExcluded =
  'The partner leaves out the last day of a range: send {window.after} instead of {window.to}, or every window loses a day.';
