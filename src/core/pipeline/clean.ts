import type { Note } from '../../terms.ts';
import type { Plan } from '../brand/compile.ts';
import type { Reservation } from '../canonical/reservation.ts';
import { normalizeReservation } from '../normalize/normalize.ts';

export interface Said {
  readonly record: Reservation;
  readonly notes: readonly Note[];
}

export function cleaned({ region }: Plan, reservation: Reservation, before: readonly Note[], isMerged = false): Said {
  const { reservation: record, notes } = normalizeReservation(reservation, region, isMerged);
  return { record, notes: notes.length === 0 ? before : [...before, ...notes] };
}
