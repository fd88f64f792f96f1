import { lastDigits } from '../../core/canonical/mentions.ts';
import type { Guest } from '../../core/canonical/reservation.ts';
import { fullNames, listedNames } from '../../core/persons/names.ts';
import { hmacSha256, type Key, type Keyring } from '../../kit/crypto.ts';
import type { Json } from '../../terms.ts';
import { nameOf } from './person.ts';
import { addressesIn, documentsIn, numbersIn } from './strip.ts';

/** An e-mail address or phone number from an erasure request, for all brands or for one. */
export function askedIdentity(kind: 'email' | 'phone', value: string, integration: string | undefined): string {
  return `${integration ?? ''} ${kind}:${value}`;
}

/** An address that a request may have named, for all brands or for this one. */
export const askedAddresses = (address: string, integration: string): string[] =>
  [undefined, integration].map((brand) => askedIdentity('email', address, brand));

export function guestIdIdentity(guestId: string, integration: string): string {
  return `${integration} guest_id:${guestId}`;
}

/**
 * Everything that identifies a guest, as texts to be hashed. Families and front desks share phone numbers, so a phone number alone
 * identifies a guest only if the erasure request named it; together with the name it always does.
 */
export function identitiesOf(guest: Guest, integration: string, reservationId?: string): string[] {
  const identities = foundIdentities(guest, integration);
  if (reservationId !== undefined) identities.push(...namedIn(reservationId, guest, integration, [hasId(guest)]));
  for (const brand of [undefined, integration]) {
    for (const address of [guest.email, guest.email_raw?.trim().toLowerCase()]) {
      if (address) identities.push(askedIdentity('email', address, brand));
    }
    if (guest.phone) identities.push(askedIdentity('phone', guest.phone, brand));
  }
  return identities;
}

/** Identities kept for a guest in addition to those of the request. They apply within the guest's brand. */
export function rememberedOf(guest: Guest, integration: string, reservationId?: string): string[] {
  const ways = hasId(guest) ? [false] : [false, true];
  return [
    ...foundIdentities(guest, integration),
    ...(reservationId === undefined ? [] : namedIn(reservationId, guest, integration, ways)),
    ...payloadIdentities(guest, integration),
  ];
}

const hasId = ({ guest_id: id }: Guest): boolean => id !== undefined && id !== '';

/**
 * Within one reservation the name, as it was, identifies a guest: another source may send the name only, and booking sites send new alias
 * addresses. Two different guest ids are two people, so a guest who was erased under an id is not recognised under another one.
 */
function namedIn(reservationId: string, guest: Guest, integration: string, withId: readonly boolean[]): string[] {
  const inReservation = (has: boolean) =>
    `${integration} name${has ? ' with an id' : ''} in reservation:${reservationId}`;
  return namesOf(guest).flatMap((name) => withId.map((has) => `${inReservation(has)}:${name}`));
}

/** The name as it was sent, and without accents, titles and order: with Jr or Sr, if a relative has the same one. */
const namesOf = (guest: Guest): string[] => [nameOf(guest), ...listedNames(guest)].filter((name) => name !== '');

function foundIdentities(guest: Guest, integration: string): string[] {
  const identities: string[] = [];
  if (guest.guest_id) identities.push(guestIdIdentity(guest.guest_id, integration));
  if (guest.document_number)
    identities.push(`${integration} document:${guest.document_type ?? ''}:${guest.document_number}`);
  for (const name of namesOf(guest)) {
    for (const phone of [guest.phone, guest.phone_raw?.replace(/\D/g, '')]) {
      if (phone) identities.push(`${integration} phone and name:${phone}:${name}`);
    }
    for (const address of [guest.email, guest.email_raw?.trim().toLowerCase()]) {
      if (address) identities.push(`${integration} email and name:${address}:${name}`);
    }
  }
  for (const name of guest.date_of_birth ? fullNames(guest) : []) {
    identities.push(`${integration} birth date and name:${guest.date_of_birth}:${name}`);
  }
  return identities;
}

/**
 * What recognises a person in a payload that never became a record. No name can be compared there, so a payload of a relative who
 * shares the address or number is not kept either.
 */
export function payloadIdentities(guest: Guest, integration: string | undefined): string[] {
  const { email, phone, document_number: document } = guest;
  return [
    ...(email ? [inPayload('email', email, integration)] : []),
    ...(phone ? [inPayload('phone', lastDigits(phone), integration)] : []),
    ...(document ? [inPayload('document', document.toLowerCase(), integration)] : []),
  ];
}

/** The identities of everybody whom a payload may name. */
export function identitiesInPayload(raw: Json, integration: string): string[] {
  const addresses = addressesIn(raw);
  return [undefined, integration].flatMap((brand) => [
    ...addresses.map((address) => askedIdentity('email', address, brand)),
    ...addresses.map((address) => inPayload('email', address, brand)),
    ...numbersIn(raw).map((digits) => inPayload('phone', digits, brand)),
    ...documentsIn(raw).map((document) => inPayload('document', document, brand)),
  ]);
}

const inPayload = (kind: 'email' | 'phone' | 'document', value: string, integration = ''): string =>
  `${integration} ${kind} in a payload:${value}`;

/** Without the hash keys, which are sealed in the store, nobody can test whether a person was erased. */
export function hashIdentity(key: Key, identity: string): string {
  return hmacSha256(hmacSha256(key.bytes, 'erased guests'), identity).toString('hex');
}

/** Hashes under every key of the ring, so that an erasure under an older key stays effective. */
export function hashesOf(keyring: Keyring, identities: readonly string[]): string[] {
  const distinct = [...new Set(identities)];
  return keyring.flatMap((key) => distinct.map((identity) => hashIdentity(key, identity)));
}
