import type { Guest } from '../canonical/reservation.ts';
import {
  areOneGeneration,
  compareNames,
  isChangedSurname,
  type Kind,
  kindOf,
  listedNames,
  type NameLikeness,
  sexOf,
} from './names.ts';

/** What is known about a person at one place: a guest of a booking, a profile, a guest event. */
export type Mention = Pick<
  Guest,
  | 'guest_id'
  | 'title'
  | 'first_name'
  | 'last_name'
  | 'email'
  | 'email_proxy'
  | 'phone'
  | 'date_of_birth'
  | 'document_type'
  | 'document_number'
>;

/** How two mentions relate to each other beyond what they say. */
export interface Between {
  /** Both are about guests of the same reservation. */
  readonly isOneReservation?: boolean;
  /** Both stand at the same place of the same list. */
  readonly isOnePlace?: boolean;
  /** Guest ids of two systems say nothing about each other. By default both mentions come from one system. */
  readonly areTwoSystems?: boolean;
  /** Whether different persons of the brand have this address, number or full name; or different companies, or either, without a kind. */
  readonly isShared?: (text: string, kind?: Kind) => boolean;
}

export type Comparison =
  | { readonly is: 'same'; readonly because: SameReason }
  | { readonly is: 'different'; readonly because: DifferentReason }
  | { readonly is: 'unknown'; readonly because: 'shared_address' | 'other_last_name' | 'no_evidence' };

export type SameReason = 'guest_id' | 'email' | 'phone' | 'name_in_reservation' | 'name_and_birth_date' | 'place';
type DifferentReason = 'guest_id' | 'names' | 'birth_date' | 'document' | 'first_name' | 'title';

/**
 * The one decision about identity: are these two mentions the same person? Different persons share nothing; unknown merges nothing and
 * changes nobody's consent. Symmetric. The rules in order:
 *
 *   same        equal guest id of one system, unless first and last name are both incompatible (then different)
 *   different   two guest ids of one system, two birth dates, two documents of one type, two first names that are not compatible, a company
 *               and a person, Herr and Frau without a first name
 *   unknown     in two bookings, the same name with Jr, Sr or a number in one of them only, without an equal birth date
 *   same        equal e-mail or phone that is not shared, under compatible names
 *               equal e-mail that is not shared, under the same first name: the surname changed
 *               equal full name within one reservation, or with an equal birth date anywhere
 *               the place in the list, if one side has no name and nothing that both state differs
 *   unknown     everything else
 */
export function samePerson(a: Mention, b: Mention, between: Between = {}): Comparison {
  const names = compareNames(a, b);
  if (
    !between.areTwoSystems &&
    isStated(a.guest_id) &&
    isStated(b.guest_id) &&
    systemOf(a.guest_id) === systemOf(b.guest_id)
  ) {
    if (a.guest_id !== b.guest_id) return different('guest_id');
    const isSomebodyElse = names.first === 'incompatible' && names.last === 'incompatible';
    return isSomebodyElse ? different('names') : same('guest_id');
  }
  if (differ(a.date_of_birth, b.date_of_birth)) return different('birth_date');
  if (hasOtherDocument(a, b)) return different('document');
  if (names.first === 'incompatible') return different('first_name');
  if (names.first === 'missing' && differ(sexOf(a), sexOf(b))) return different('title');
  const isOtherGeneration = names.first !== 'missing' && !areOneGeneration(a, b);
  if (isOtherGeneration && !between.isOneReservation && !areEqual(a.date_of_birth, b.date_of_birth)) {
    return { is: 'unknown', because: 'other_last_name' };
  }
  return byAddress(a, b, names, between) ?? byName(a, b, names, between);
}

function byAddress(a: Mention, b: Mention, names: NameLikeness, between: Between): Comparison | undefined {
  const isShared = (address = '') => isSharedBy(a, b, address, between);
  const hasEmail = areEqual(emailOf(a, between), emailOf(b, between));
  const hasPhone = areEqual(a.phone, b.phone);
  const isCompatible = names.last !== 'incompatible';
  if (hasEmail && !isShared(a.email) && (isCompatible || isChangedSurname(a, b))) return same('email');
  if (hasPhone && !isShared(a.phone) && isCompatible) return same('phone');
  return undefined;
}

function byName(a: Mention, b: Mention, names: NameLikeness, between: Between): Comparison {
  if (names.full === 'equal') {
    const isOfSeveral = [...listedNames(a), ...listedNames(b)].some((name) => isSharedBy(a, b, name, between));
    if (between.isOneReservation && !isOfSeveral) return same('name_in_reservation');
    if (areEqual(a.date_of_birth, b.date_of_birth)) return same('name_and_birth_date');
  }
  const isNameless = kindOf(a) === undefined || kindOf(b) === undefined;
  const isContradicted = differ(emailOf(a, between), emailOf(b, between)) || differ(a.phone, b.phone);
  if (between.isOnePlace && isNameless && !isContradicted) return same('place');
  if (names.last === 'incompatible') return { is: 'unknown', because: 'other_last_name' };
  const isShared = areEqual(a.email, b.email) || areEqual(a.phone, b.phone);
  return { is: 'unknown', because: isShared ? 'shared_address' : 'no_evidence' };
}

/** Somebody without a name may be a person or a company. */
const isSharedBy = (a: Mention, b: Mention, text: string, { isShared }: Between): boolean =>
  isShared?.(text, kindOf(a) === kindOf(b) ? kindOf(a) : undefined) === true;

/** An alias address identifies one booking: between two bookings it says nothing. */
const emailOf = ({ email, email_proxy: isAlias }: Mention, { isOneReservation }: Between): string | undefined =>
  isAlias && !isOneReservation ? undefined : email;

function hasOtherDocument(a: Mention, b: Mention): boolean {
  const typeOf = ({ document_type: type = '' }: Mention) => type.toLowerCase();
  const numberOf = ({ document_number: number }: Mention) => number?.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();
  return typeOf(a) === typeOf(b) && differ(numberOf(a), numberOf(b));
}

/** A brand that moved to another system has ids of both: those of the new one follow its name and a tilde. */
const systemOf = (id: string): string => /^[a-z0-9_-]{1,60}(?=~)/.exec(id)?.[0] ?? '';

const isStated = (value: string | undefined): value is string => value !== undefined && value !== '';
const areEqual = (a: string | undefined, b: string | undefined): boolean => isStated(a) && a === b;
const differ = (a: string | undefined, b: string | undefined): boolean => isStated(a) && isStated(b) && a !== b;

const same = (because: SameReason): Comparison => ({ is: 'same', because });
const different = (because: DifferentReason): Comparison => ({ is: 'different', because });
