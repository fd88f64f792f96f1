import type { Guest } from '../../canonical/reservation.ts';
import { withoutErasedGuests } from '../../persons/erased-guests.ts';
import type { Delivery, Message } from '../message.ts';

/** Thrown for a record whose value the format cannot hold: only this record is refused. The message quotes no value. */
export class UnfitValue extends Error {
  override readonly name = 'UnfitValue';
}

/** How the content of a file is made from deliveries. */
export interface Format<Row = unknown> {
  readonly extension: string;
  /** A delivery in the form kept in memory until its file is full, and its approximate size in bytes. */
  encode(delivery: Delivery): { readonly row: Row; readonly size: number };
  /** The whole file. */
  file(rows: readonly Row[]): Uint8Array | string;
  /** The rows of a file that `file` wrote. */
  read(bytes: Uint8Array): Promise<readonly Row[]>;
  /** What was written. */
  message(row: Row): Message;
  /** The row without the erased guests; undefined if there is nothing to erase in it. */
  erase(row: Row, erasure: Delivery): Row | undefined;
}

type Version = Readonly<Record<'type' | 'integration' | 'id' | 'epoch' | 'version', unknown>>;

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
