import { isEmptyGuest } from '../canonical/check.ts';
import { noteOf } from '../canonical/notes.ts';
import type { Guest, Reservation } from '../canonical/reservation.ts';
import { withoutRepeated } from '../persons/repeated.ts';
import type { Note } from '../terms.ts';
import { cleanEmail, cleanId, cleanNames, cleanNationality, cleanPhone } from './clean-fields.ts';
import { Cleaning } from './cleaning.ts';

export interface NormalizeContext {
  /** The integration's country: the region of a local phone number if the guest's nationality does not decide it. */
  readonly country?: string | undefined;
}

/**
 * Cleans ids, names, e-mail addresses and phone numbers of a checked record's guests. Each change leaves a note. An unchanged record is
 * returned as the same object; normalizing twice equals once.
 */
export function normalizeReservation(
  reservation: Reservation,
  context: NormalizeContext,
): { reservation: Reservation; notes: Note[] } {
  const notes: Note[] = [];
  const country = context.country?.toUpperCase();
  let guests: Guest[] | undefined;
  const emptied: Guest[] = [];
  for (let index = 0; index < reservation.guests.length; index++) {
    const guest = reservation.guests[index] as Guest;
    const done = cleaned(new Cleaning(guest, index, notes), country);
    if (done === guest) continue;
    guests ??= [...reservation.guests];
    guests[index] = done;
    if (isEmptyGuest(done)) emptied.push(done);
  }
  // A guest with only a placeholder as name is left out. One that was empty before is an erased guest; its place stays.
  const named = emptied.length === 0 ? guests : guests?.filter((guest) => !emptied.includes(guest));
  const stated = named ?? reservation.guests;
  const persons = withoutRepeated(stated);
  if (persons !== stated)
    notes.push(noteOf('guest_repeated', 'guests', { before: stated.length, after: persons.length }));
  return { reservation: persons === reservation.guests ? reservation : { ...reservation, guests: persons }, notes };
}

/** One guest outside a reservation, from a guest.updated event. */
export function normalizeGuest(guest: Guest, context: NormalizeContext): { guest: Guest; notes: Note[] } {
  const notes: Note[] = [];
  return { guest: cleaned(new Cleaning(guest, undefined, notes), context.country?.toUpperCase()), notes };
}

function cleaned(cleaning: Cleaning, country: string | undefined): Guest {
  cleanId(cleaning);
  cleanNationality(cleaning);
  const regions = { nationality: cleaning.guest.nationality, country };
  cleanNames(cleaning, regions);
  cleanEmail(cleaning);
  cleanPhone(cleaning, regions);
  return cleaning.outcome();
}
