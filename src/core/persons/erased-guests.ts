import { sharedAmong } from './identifiers.ts';
import { compareNames, kindOf } from './names.ts';
import { type Mention, samePerson } from './same-person.ts';

const identifying = ['guest_id', 'email', 'phone', 'date_of_birth', 'document_number'] as const;

/**
 * The guests of an older version of a reservation who stay after an erasure. Leaving an erased person's data behind is the graver mistake, so
 * a guest goes who is the same person as one of `erased`, or may be: without another name, and without a key, birth date or document that
 * differs. A guest who is different from the erased person stays, whatever they share.
 */
export function withoutErasedGuests<Of extends Mention>(guests: readonly Of[], erased: readonly Mention[]): Of[] {
  const between = { isOneReservation: true, isShared: sharedAmong([...guests, ...erased]) };
  return guests.filter((guest) => {
    const decisions = erased.map((one) => samePerson(one, guest, between).is);
    if (decisions.includes('same')) return false;
    return decisions.includes('different') || !erased.some((one) => mayBe(one, guest));
  });
}

function mayBe(erased: Mention, guest: Mention): boolean {
  if (Object.keys(guest).length === 0) return false;
  if (kindOf(guest) !== undefined && compareNames(erased, guest).last === 'incompatible') return false;
  return identifying.every((field) => (guest[field] ?? erased[field]) === (erased[field] ?? guest[field]));
}
