import type { Guest } from '../canonical/reservation.ts';
import { hmac, type Key, type Keyring } from '../kit/crypto.ts';

/** An address or number that was asked to be erased: in all brands, or in one. */
export function askedIdentity(kind: 'email' | 'phone', value: string, integration: string | undefined): string {
  return `${integration ?? ''} ${kind}:${value}`;
}

export function guestIdIdentity(guestId: string, integration: string): string {
  return `${integration} guest_id:${guestId}`;
}

/**
 * What a guest is known by, as texts to be hashed. A phone alone is shared by families and desks: it counts only where it was
 * asked for; together with the name it is remembered of everyone who is erased.
 */
export function identitiesOf(guest: Guest, integration: string): string[] {
  const found = rememberedOf(guest, integration);
  for (const brand of [undefined, integration]) {
    for (const address of [guest.email, guest.email_raw?.trim().toLowerCase()]) {
      if (address) found.push(askedIdentity('email', address, brand));
    }
    if (guest.phone) found.push(askedIdentity('phone', guest.phone, brand));
  }
  return found;
}

/** What is remembered of a guest beside what was asked for: within the brand in which it was found. */
export function rememberedOf(guest: Guest, integration: string): string[] {
  const found: string[] = [];
  if (guest.guest_id) found.push(guestIdIdentity(guest.guest_id, integration));
  if (guest.document_number)
    found.push(`${integration} document:${guest.document_type ?? ''}:${guest.document_number}`);
  const name = `${guest.first_name ?? ''} ${guest.last_name ?? ''}`.trim().toLowerCase();
  if (guest.phone && name !== '') found.push(`${integration} phone and name:${guest.phone}:${name}`);
  return found;
}

const derived = new WeakMap<Key, Buffer>();

/** Only whoever has the workspace's key can try whether somebody is among the erased. */
export function hashIdentity(key: Key, identity: string): string {
  const own = derived.get(key) ?? hmac('sha256', key.bytes, 'erased guests');
  derived.set(key, own);
  return hmac('sha256', own, identity).toString('hex');
}

/** Under every key at hand: what was erased under an older key stays erased. */
export function hashesOf(keyring: Keyring, identities: readonly string[]): string[] {
  return keyring.flatMap((key) => identities.map((identity) => hashIdentity(key, identity)));
}
