import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Keyring } from '../kit/crypto.ts';

export interface FeedCursor {
  readonly epoch: number;
  readonly position: number;
  /** Changes after the position were made after this second, by the database's clock. */
  readonly second: number;
}

/**
 * A cursor is a position, signed together with the filters of the request. A cursor from other filters is refused: continuing there
 * would skip what the first filters left out. A forged position could lie where changes are still missing. Readers keep cursors for long, so
 * they are signed with the hash keys, which a rotation of the sealing key keeps.
 */
export function sealCursor(hashKeys: Keyring, { epoch, position, second }: FeedCursor, filter: string): string {
  const signature = sign(hashKeys[0].bytes, [epoch, position, second], filter);
  return `${epoch}.${position}.${second}.${signature.toString('base64url')}`;
}

/** Undefined for a cursor that was not issued for these filters. */
export function openCursor(hashKeys: Keyring, text: string, filter: string): FeedCursor | undefined {
  const [, numbers = '', shown = ''] = /^(\d{1,9}\.\d{1,15}\.\d{1,12})\.([\w-]{22})$/.exec(text) ?? [];
  const signature = Buffer.from(shown, 'base64url');
  const [epoch = 0, position = 0, second = 0] = numbers.split('.').map(Number);
  const isOurs = hashKeys.some(({ bytes }) => {
    const ours = sign(bytes, [epoch, position, second], filter);
    return signature.length === ours.length && timingSafeEqual(signature, ours);
  });
  return isOurs ? { epoch, position, second } : undefined;
}

function sign(key: Buffer, place: readonly number[], filter: string): Buffer {
  const text = JSON.stringify(['feed cursor', ...place, filter]);
  return createHmac('sha256', key).update(text).digest().subarray(0, 16);
}
