import type { Guest, Reservation } from '../canonical/reservation.ts';
import type { Json } from '../terms.ts';

/** A record as it is stored. */
export interface Content {
  readonly record: Reservation | Guest;
  readonly text: string;
  /** The text as JSON. */
  json(): Json;
  /** The text contains every field of the record. */
  readonly isVerbatim: boolean;
  readonly hash: string;
}

/** How the store writes a record. */
export type ContentOf = (record: Reservation | Guest) => Content;

/** A record that left: a rule drops it. Its content stays, and no hash equals its empty one, so that it is a change if it comes back. */
export const removedContent = (content: Content): Content => ({ ...content, hash: '' });

export const isRemoved = ({ version, hash: own }: { readonly version: number; readonly hash: string }): boolean =>
  version > 0 && own === '';

export function statusOf(record: Reservation | Guest): string | undefined {
  return 'status' in record ? record.status : undefined;
}
