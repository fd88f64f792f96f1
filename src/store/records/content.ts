import { hash } from 'node:crypto';
import { encodeRecord } from '../../canonical/encode.ts';
import type { Guest, Reservation } from '../../canonical/reservation.ts';
import { jsonbText } from '../../kit/json.ts';
import type { Message } from '../../reconcile/incoming.ts';

/** A record as it is stored. */
export interface Content {
  readonly record: Reservation | Guest;
  readonly text: string;
  /** The text contains every field of the record. */
  readonly isVerbatim: boolean;
  readonly hash: string;
}

export function contentOf(record: Reservation | Guest): Content {
  const encoded = encodeRecord(record);
  const text = jsonbText(encoded);
  return { record, text, isVerbatim: text === encoded, hash: sha256(text) };
}

/** Two pulled rows with the same hash have the same values, the same empty and the same unreadable fields. */
export function statementHash({ text, hash: own }: Content, message: Message | undefined): string {
  if (message === undefined || message.source !== 'pull') return own;
  const parts = [
    ...(message.isOnlySource ? [] : message.empties()),
    ...[...message.unread].map((field) => `?${field}`),
  ];
  return parts.length === 0 ? own : sha256(`${text}\n${parts.join(' ')}`);
}

/** A record that left: a rule drops it. Its content stays, and no hash equals its empty one, so that it is a change if it comes back. */
export const removedContent = (record: Reservation): Content => ({ ...contentOf(record), hash: '' });

export const isRemoved = ({ version, hash: own }: { readonly version: number; readonly hash: string }): boolean =>
  version > 0 && own === '';

/** The hash to store beside the record's own; undefined if they are equal. */
export const unlessOwnHash = ({ hash: own }: Content, other: string): string | undefined =>
  own === other ? undefined : other;

export function statusOf(record: Reservation | Guest): string | undefined {
  return 'status' in record ? record.status : undefined;
}

/** One call instead of a hash object: about a microsecond less per record. */
const sha256 = (text: string): string => hash('sha256', text, 'hex');
