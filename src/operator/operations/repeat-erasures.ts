import type { Guest, Reservation } from '../../core/canonical/reservation.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { askedIdentity, guestIdIdentity, hashesOf } from '../privacy/identity.ts';
import { addressesIn } from '../privacy/strip.ts';
import { eachStoredText, type StoredText } from '../store/backup.ts';
import { eraseGuest } from './erase-guest.ts';
import type { EraseRequest } from './guest-request.ts';

/**
 * Erases the guests again who were erased after the backup was made. Only keyed hashes of them are known: whoever is found in the restored
 * rows under one of them is erased by the key that matched.
 */
export async function repeatErasures(
  runtime: Runtime,
  hashes: readonly string[],
  by: string,
  onText: (read: number) => void,
): Promise<number> {
  if (hashes.length === 0) return 0;
  const erased = new Set(hashes);
  const isErased = (identity: string) => hashesOf(runtime.keys.hashKeys, [identity]).some((hash) => erased.has(hash));
  const requests = new Map<string, EraseRequest>();
  const seen = new Set<string>();
  const compare = (identity: string, request: EraseRequest) => {
    if (seen.has(identity)) return;
    seen.add(identity);
    if (isErased(identity)) requests.set(JSON.stringify(request), request);
  };
  let read = 0;
  await eachStoredText(runtime.pool, (texts) => {
    for (const { integration, text, record } of texts) {
      for (const brand of [undefined, integration]) {
        const where = brand === undefined ? {} : { integration };
        for (const email of addressesIn(text)) compare(askedIdentity('email', email, brand), { email, ...where });
        for (const { phone } of record ? guestsIn(text) : []) {
          if (phone) compare(askedIdentity('phone', phone, brand), { phone, ...where });
        }
      }
      for (const { guest_id } of record ? guestsIn(text) : []) {
        if (guest_id) compare(guestIdIdentity(guest_id, integration), { guest_id, integration });
      }
    }
    read += texts.length;
    onText(read);
  });
  for (const request of requests.values()) await eraseGuest(runtime, request, by);
  return requests.size;
}

/** Only their keys are read, which are texts in every record. */
function guestsIn(text: StoredText['text']): readonly Pick<Guest, 'phone' | 'guest_id'>[] {
  const record = JSON.parse(text) as Reservation | Guest;
  return 'guests' in record ? record.guests : [record];
}
