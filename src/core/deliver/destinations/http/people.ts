import type { Guest } from '../../../canonical/reservation.ts';
import { sharedAmong } from '../../../persons/identifiers.ts';
import { samePerson } from '../../../persons/same-person.ts';
import { guestsOf } from '../../consent.ts';
import type { ConsentChange, Delivery, MessageData } from '../../message.ts';
import { type History, historyOf } from './stay.ts';

/**
 * A guest as templates see it. Vendors identify people by an address: the e-mail address, or the phone number of a guest without
 * one. An alias address of a booking site does not count as the person's address.
 */
export interface Person extends Guest {
  /** The address by which a vendor knows this person. */
  readonly key?: string;
  /** The e-mail address, unless it is an alias. */
  readonly own_email?: string;
  /** The phone number, if it is the key. */
  readonly phone_key?: string;
  /** The guest id with its integration: guest ids repeat between integrations. */
  readonly scoped_id?: string;
  /** From `extra.language`, where a connector maps it. */
  readonly language?: string;
  readonly consent_change?: ConsentChange;
  /** The address that the destination has for this person, if it was another one. */
  readonly previous?: Addresses;
  /** No earlier version that the destination has names this address. */
  readonly is_new?: boolean;
  /** The address belongs to somebody else too, so nothing else is said. */
  readonly is_shared?: true;
  /** The number is new, changed or gone, and no other person has it: it may identify this one. */
  readonly phone_changed?: true;
  /** What all stays of the person add up to; not for an address of several people. */
  readonly history?: History;
  /** Fields without a value that the person had in the version that the destination has. */
  readonly lost?: ReadonlySet<string>;
}

type Addresses = Pick<Person, 'key' | 'own_email' | 'phone_key'>;

/**
 * The erased guests; not one whose address somebody else on the booking still has, such as a child with its parent's. Nobody if they are
 * forgotten: the guests of the message are those who stay.
 */
export function erasedPeople({ message, erased = [] }: Delivery): Person[] {
  const kept = new Set(guestsOf(message.type, message.data).flatMap((guest) => keyOf(guest) ?? []));
  return erased
    .filter((guest) => isIdentified(guest) && !kept.has(keyOf(guest) ?? ''))
    .map((guest) => personOf(guest, message.integration));
}

/** Some entries only say which texts name the guest. */
const isIdentified = ({ first_name, last_name, guest_id, email, phone }: Guest): boolean =>
  [first_name, last_name, guest_id, email, phone].some((value) => value !== undefined);

/** Each guest of a message, in its order. */
export function peopleOf(delivery: Delivery): Person[] {
  const { message } = delivery;
  const named = guestsOf(message.type, message.data);
  const earlier = (delivery.earlier?.() ?? []).map((version) => guestsOf(message.type, version));
  const isSame = message.type === 'guest' ? () => true : sameIn([named, ...earlier]);
  return named.map((guest) => {
    const change = delivery.consentChange?.(guest);
    const key = keyOf(guest);
    const isKnown = earlier.some((guests) => guests.some((one) => keyOf(one) === key));
    const news = {
      ...(change !== undefined && { consent_change: change }),
      ...(delivery.earlier && key !== undefined && !isKnown && { is_new: true }),
    };
    if (key !== undefined && delivery.isShared?.(key) && !delivery.isOwner?.(guest, key))
      return { ...sharedPerson(guest), ...news };
    const previous = previousOf(guest, named, earlier, isSame);
    const person = personOf(guest, message.integration);
    const before = earlierOf(guest, earlier, isSame);
    const { phone } = guest;
    const isOwn =
      phone === undefined || !(delivery.isShared?.(phone) || named.some((one) => one !== guest && one.phone === phone));
    return {
      ...person,
      ...(before !== undefined && { lost: lostBy(person, personOf(before, message.integration)) }),
      ...(previous !== undefined && { previous: addressesOf(previous) }),
      ...(delivery.stays && {
        history: historyOf(delivery.stays(guest), dayOf(delivery.changedAt), guest.date_of_birth),
      }),
      ...(person.own_email !== undefined && isOwn && phone !== before?.phone && { phone_changed: true as const }),
      ...news,
    };
  });
}

/** Further contacts of a guest who withdrew: nothing is said about them but that. */
export const otherContactsOf = ({ knownAs }: Delivery, guest: Person, isMoving: boolean): Person[] =>
  (knownAs?.(guest, isMoving) ?? []).map((one) => {
    const { is_shared: _, ...contact } = sharedPerson({ ...one, marketing_consent: false });
    return { ...contact, consent_change: 'withdrawn' };
  });

const dayOf = (instant: number): string => new Date(instant).toISOString().slice(0, 10);

/**
 * The vendor has one contact for an address of several people: what is stated about one of them may not stand beside another's. Only the one
 * who booked, if it is always the same, is described there.
 */
function sharedPerson(guest: Guest): Person {
  const { own_email: email, phone_key: phone } = addressesOf(guest);
  const { marketing_consent: consent } = guest;
  const kept = {
    ...(email !== undefined && { email }),
    ...(phone !== undefined && { phone }),
    ...(consent !== undefined && { marketing_consent: consent }),
  };
  return { ...kept, ...addressesOf(kept), is_shared: true };
}

/**
 * The guest to whom the stay belongs in the version that the destination has, if it belongs to somebody else now; not a guest whose
 * address only changed.
 */
export function formerOf(
  { message, earlier }: Delivery,
  lead: Person | undefined,
  isWanted: (person: Person) => boolean,
): Addresses | undefined {
  const [before] = earlier?.() ?? [];
  if (before === undefined) return undefined;
  const former = guestsOf(message.type, before)
    .map((guest) => personOf(guest, message.integration))
    .find(isWanted);
  const isSameKey = former?.key === undefined || [lead?.key, lead?.previous?.key].includes(former.key);
  return isSameKey ? undefined : addressesOf(former);
}

/** The guest who owns an address that several guests of a booking share: the first one, who booked, also if the order changes later. */
export function ownerOf(sharing: readonly Person[], { message, earlier }: Delivery): Person | undefined {
  const [first] = sharing;
  if (first?.key === undefined || sharing.length === 1) return first;
  const oldest = (earlier?.() ?? [])
    .map((version: MessageData) => guestsOf(message.type, version).find((guest) => keyOf(guest) === first.key))
    .findLast((guest) => guest !== undefined);
  const isSame = oldest && sameIn([[...sharing, oldest]]);
  return (isSame && sharing.find((guest) => isSame(guest, oldest))) ?? first;
}

function personOf(guest: Guest, integration: string): Person {
  const language = guest.extra?.language;
  return {
    ...guest,
    ...addressesOf(guest),
    ...(guest.guest_id !== undefined && { scoped_id: `${integration}:${guest.guest_id}` }),
    ...(typeof language === 'string' && { language }),
  };
}

function addressesOf(guest: Guest): Addresses {
  const key = keyOf(guest);
  const email = ownEmailOf(guest);
  return {
    ...(key !== undefined && { key }),
    ...(email !== undefined && { own_email: email }),
    ...(email === undefined && guest.phone !== undefined && { phone_key: guest.phone }),
  };
}

const ownEmailOf = ({ email, email_proxy: isAlias }: Guest): string | undefined => (isAlias ? undefined : email);
const keyOf = (guest: Guest): string | undefined => ownEmailOf(guest) ?? guest.phone;

/** The newest version in which the person has an address decides. An address that another guest has by now is not given up. */
function previousOf(
  guest: Guest,
  named: readonly Guest[],
  earlier: readonly (readonly Guest[])[],
  isSame: IsSame,
): Guest | undefined {
  const key = keyOf(guest);
  if (key === undefined) return undefined;
  for (const guests of earlier) {
    if (guests.some((one) => keyOf(one) === key)) return undefined;
    const before = guests.find((one) => keyOf(one) !== undefined && isSame(one, guest));
    if (before === undefined) continue;
    return named.some((one) => keyOf(one) === keyOf(before)) ? undefined : before;
  }
  return undefined;
}

/** The earlier guest whose values the vendor has: the last one with this address, else the same guest under another address. */
function earlierOf(guest: Guest, earlier: readonly (readonly Guest[])[], isSame: IsSame): Guest | undefined {
  const key = keyOf(guest);
  const hadKey = (one: Guest) => key !== undefined && keyOf(one) === key;
  for (const guests of earlier) {
    const same = guests.find(hadKey) ?? guests.find((one) => isSame(one, guest));
    if (same !== undefined) return same;
  }
  return undefined;
}

/** A key that is not used any more is not lost: the person has another one. */
const lostBy = (now: Person, before: Person): ReadonlySet<string> =>
  new Set(Object.keys(before).filter((field) => !keys.has(field) && !Object.hasOwn(now, field)));
const keys: ReadonlySet<string> = new Set(['key', 'phone_key']);

type IsSame = (a: Guest, b: Guest) => boolean;

/** Within one booking, across versions. A guest record is about one person in all its versions. */
function sameIn(versions: readonly (readonly Guest[])[]): IsSame {
  const between = { isOneReservation: true, isShared: sharedAmong(versions.flat()) };
  return (a, b) => samePerson(a, b, between).is === 'same';
}
