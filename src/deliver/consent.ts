import type { Guest } from '../canonical/reservation.ts';
import type { EntityType } from '../terms.ts';
import type { MessageData } from './message.ts';

/**
 * What a marketing destination may know. It gets guests with marketing_consent only; one that it was given before and that
 * withdrew is named once more, by what it knows the guest by, with marketing_consent false and nothing else.
 *
 * `given` is the record as it was when this destination last took a version, so a withdrawal is told even if the version
 * that first held it was dropped or filtered out.
 */
export function withConsent(
  type: EntityType,
  data: MessageData,
  given: MessageData | undefined,
):
  | { readonly kind: 'all'; readonly data: MessageData }
  | { readonly kind: 'withdrawn'; readonly data: MessageData }
  | { readonly kind: 'none' } {
  if (type === 'guest') {
    if (data.marketing_consent === true) return { kind: 'all', data };
    if (given?.marketing_consent !== true) return { kind: 'none' };
    return { kind: 'withdrawn', data: { id: data.id, ...withdrawal(given) } };
  }
  const now = data.guests ?? [];
  const consenting = now.filter((guest) => guest.marketing_consent === true);
  const withdrawn = (given?.guests ?? [])
    .filter((guest) => guest.marketing_consent === true)
    .filter((guest) => !consenting.some((other) => isSame(guest, other)))
    .filter((guest) => now.some((other) => other.marketing_consent !== true && isSame(guest, other)))
    .map(withdrawal);
  if (consenting.length > 0) return { kind: 'all', data: { ...data, guests: [...consenting, ...withdrawn] } };
  if (withdrawn.length === 0) return { kind: 'none' };
  const { id, check_in, check_out, status } = data;
  const stay = { ...(check_in && { check_in }), ...(check_out && { check_out }), ...(status && { status }) };
  return { kind: 'withdrawn', data: { id, ...stay, guests: withdrawn, rooms: [], charges: [] } };
}

/** What is told of a record beside an erasure: nothing of guests who did not agree. */
export function onlyConsenting(type: EntityType, data: MessageData): MessageData {
  if (type === 'guest') return data.marketing_consent === true ? data : { id: data.id };
  return { ...data, guests: (data.guests ?? []).filter((guest) => guest.marketing_consent === true) };
}

function withdrawal({ guest_id, email, phone }: Guest | MessageData): Guest {
  return {
    ...(guest_id !== undefined && { guest_id }),
    ...(email !== undefined && { email }),
    ...(phone !== undefined && { phone }),
    marketing_consent: false,
  };
}

/** Inside one reservation any of these is enough: taking one guest for another here only tells a withdrawal too many. */
function isSame(a: Guest, b: Guest): boolean {
  if (a.guest_id !== undefined && b.guest_id !== undefined) return a.guest_id === b.guest_id;
  if (a.email !== undefined && a.email === b.email) return true;
  if (a.phone !== undefined && a.phone === b.phone) return true;
  return a.last_name !== undefined && a.last_name === b.last_name && a.first_name === b.first_name;
}
