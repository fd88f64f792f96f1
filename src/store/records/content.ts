import { hash } from 'node:crypto';
import { encodeRecord } from '../../canonical/encode.ts';
import type { Guest, Reservation } from '../../canonical/reservation.ts';
import { jsonbText, parseJson } from '../../kit/json.ts';
import type { Content } from '../../reconcile/content.ts';
import type { Message } from '../../reconcile/incoming.ts';

export function contentOf(record: Reservation | Guest): Content {
  const encoded = encodeRecord(record);
  const text = jsonbText(encoded);
  return { record, text, json: () => parseJson(text), isVerbatim: text === encoded, hash: sha256(text) };
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

/** One call instead of a hash object: about a microsecond less per record. */
const sha256 = (text: string): string => hash('sha256', text, 'hex');
