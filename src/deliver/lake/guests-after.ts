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

type Known = Pick<Guest, 'guest_id' | 'email' | 'phone' | 'first_name' | 'last_name'>;

/** The guests that stay after an erasure; undefined if all of them do. An erasure that names nobody is about everybody. */
export function guestsAfter<Of extends Known>(guests: readonly Of[], { erased }: Delivery): Of[] | undefined {
  const kept = guests.filter((guest) => erased !== undefined && !erased.some((one) => sharesKey(one, guest)));
  return kept.length === guests.length ? undefined : kept;
}

/** Within one reservation a full name is enough: an older version may hold nothing else of the guest. */
const sharesKey = (a: Known, b: Known): boolean =>
  (a.guest_id !== undefined && a.guest_id === b.guest_id) ||
  (a.email !== undefined && a.email === b.email) ||
  (a.phone !== undefined && a.phone === b.phone) ||
  (a.last_name !== undefined && a.last_name === b.last_name && a.first_name === b.first_name);
