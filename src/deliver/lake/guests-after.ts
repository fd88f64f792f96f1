import type { Guest } from '../../canonical/reservation.ts';
import type { Delivery } from '../message.ts';

interface Version {
  readonly type: unknown;
  readonly integration: unknown;
  readonly id: unknown;
  readonly epoch: unknown;
  readonly version: unknown;
}

/** An older version of the record that the erasure is about. The epoch outranks the version: after a restore versions repeat. */
export function isOlderThan({ type, integration, id, epoch, version }: Version, { message }: Delivery): boolean {
  if (type !== message.type || integration !== message.integration || id !== message.data.id) return false;
  const epochsApart = Number(epoch ?? 1) - (message.epoch ?? 1);
  return epochsApart < 0 || (epochsApart === 0 && Number(version) < message.version);
}

const identifying = ['guest_id', 'email', 'phone', 'first_name', 'last_name'] as const;
type Known = Pick<Guest, (typeof identifying)[number]>;

/** The guests that stay after an erasure; undefined if all of them do. An erasure that names nobody is about everybody. */
export function guestsAfter<Of extends Known>(guests: readonly Of[], { erased }: Delivery): Of[] | undefined {
  const kept = guests.filter((guest) => erased !== undefined && !erased.some((one) => isSame(one, guest)));
  return kept.length === guests.length ? undefined : kept;
}

/**
 * Within one reservation a full name is enough: an older version may hold nothing else of the guest. So is everything that a row has of
 * a guest, if the destination drops the rest: a guest without any name or address may be the erased one.
 */
const isSame = (erased: Known, guest: Known): boolean =>
  (erased.guest_id !== undefined && erased.guest_id === guest.guest_id) ||
  (erased.email !== undefined && erased.email === guest.email) ||
  (erased.phone !== undefined && erased.phone === guest.phone) ||
  (erased.last_name !== undefined && erased.last_name === guest.last_name && erased.first_name === guest.first_name) ||
  (Object.keys(guest).length > 0 &&
    identifying.every((field) => guest[field] === undefined || guest[field] === erased[field]));
