import type { Guest } from '../../canonical/reservation.ts';
import { withoutErasedGuests } from '../../persons/erased-guests.ts';
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

/** The guests that stay after an erasure; undefined if all of them do. An erasure that names nobody is about everybody. */
export function guestsAfter<Of extends Guest>(guests: readonly Of[], { erased }: Delivery): Of[] | undefined {
  const kept = erased === undefined ? [] : withoutErasedGuests(guests, erased);
  return kept.length === guests.length ? undefined : kept;
}
