import type { Guest } from '../canonical/reservation.ts';
import { fullNameKey } from './names.ts';

/** What leads to a guest's profile: the partner's id, an e-mail address that is not an alias, a phone number. Strongest first. */
const keyKinds = ['guest_id', 'email', 'phone'] as const;
export type GuestKeyKind = (typeof keyKinds)[number];

export interface GuestKey {
  readonly kind: GuestKeyKind;
  readonly value: string;
}

export function guestKeys(guest: Guest): GuestKey[] {
  return keyKinds.flatMap((kind) => {
    const value = guest[kind];
    return value === undefined || value === '' || (kind === 'email' && guest.email_proxy) ? [] : [{ kind, value }];
  });
}

/** A key as text, for lookups. */
export const keyText = ({ kind, value }: GuestKey): string => `${kind}:${value}`;

export const keyTexts = (guest: Guest): string[] => guestKeys(guest).map(keyText);

/**
 * The id of a new profile, derived from its strongest key and its name. It stays when the guest's details change. `digest` hides the key,
 * because ids appear in logs. Undefined for a guest without a key: nothing could find the profile again.
 */
export function newProfileId(
  integration: string,
  guest: Guest,
  isTaken: (id: string) => boolean,
  digest: (text: string) => string,
): string | undefined {
  const [strongest] = guestKeys(guest);
  if (strongest === undefined) return undefined;
  const basis = [integration, strongest.kind, strongest.value, fullNameKey(guest) ?? ''];
  for (let count = 0; ; count++) {
    const id = `gst_${digest(JSON.stringify(count === 0 ? basis : [...basis, count])).slice(0, 24)}`;
    if (!isTaken(id)) return id;
  }
}
