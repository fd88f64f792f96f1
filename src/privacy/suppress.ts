import { withoutMentions } from '../canonical/mentions.ts';
import type { Guest, Reservation } from '../canonical/reservation.ts';
import { statedGuest } from '../canonical/stated-guest.ts';
import type { Keyring } from '../kit/crypto.ts';
import type { Message, Prepared } from '../reconcile/incoming.ts';
import type { SaidItem } from '../reconcile/statement.ts';
import type { Json } from '../terms.ts';
import { hashesOf, identitiesInPayload, identitiesOf } from './identity.ts';
import { extraMentions, mayHoldGuestData, withoutGuests } from './strip.ts';

/** Removes erased guests from incoming records: implements the store's erasure port with the workspace's keys. */
export function suppression(keyring: Keyring) {
  const known = (integration: string, guest: Guest) => hashesOf(keyring, identitiesOf(guest, integration));
  const inRaw = (raw: Json, integration: string) => hashesOf(keyring, identitiesInPayload(raw, integration));
  const guestsOf = (record: Reservation | Guest): readonly Guest[] => ('guests' in record ? record.guests : [record]);
  return {
    hashesOf(prepared: Prepared, integration: string): readonly string[] {
      if (prepared.kind === 'record') {
        return guestsOf(prepared.incoming.record).flatMap((guest) => known(integration, guest));
      }
      const said = saidGuests(prepared.message).flatMap((guest) => known(integration, guest));
      return [...said, ...inRaw(prepared.kind === 'dropped' ? prepared.raw : prepared.deadLetter.raw, integration)];
    },
    strip(prepared: Prepared, integration: string, erased: ReadonlySet<string>): Prepared {
      const isErased = (guest: Guest) => known(integration, guest).some((hash) => erased.has(hash));
      const { message } = prepared;
      const says = saidGuests(message).some(isErased);
      const stripped = says && message ? { message: stripMessage(message, isErased) } : undefined;
      if (prepared.kind === 'record') {
        const record = stripRecord(prepared, isErased);
        return stripped === undefined ? record : { ...record, ...stripped };
      }
      const raw = prepared.kind === 'dropped' ? prepared.raw : prepared.deadLetter.raw;
      if (!says && !inRaw(raw, integration).some((hash) => erased.has(hash))) return prepared;
      if (prepared.kind === 'dropped') return { ...prepared, raw: null, ...stripped };
      return { ...prepared, deadLetter: { ...prepared.deadLetter, raw: null, detail: { erased: true } }, ...stripped };
    },
  };
}

const saidGuests = (message: Message | undefined): readonly Guest[] =>
  (message?.says().lists.guests ?? []).flatMap(guestsOfItem);

const guestsOfItem = ({ values, as }: SaidItem): Guest[] => [values, ...(as ? [as] : [])].map(statedGuest);

/** The message without erased guests, who stay as empty elements. `extra` may repeat guest data under any key. */
function stripMessage(message: Message, isErased: (guest: Guest) => boolean): Message {
  const { origins } = message;
  return {
    ...message,
    raw: null,
    retraceable: false,
    notes: message.notes.filter(({ field }) => !mayHoldGuestData(field)),
    origins: () => Object.fromEntries(Object.entries(origins()).filter(([field]) => !mayHoldGuestData(field))),
    says: () => {
      const statement = message.says();
      const { guests, rooms, charges } = statement.lists;
      const named = guests?.flatMap(guestsOfItem).filter(isErased) ?? [];
      const texts = (items: readonly SaidItem[]) =>
        items.map((item) => ({ ...item, values: withoutMentions(item.values, named) }));
      const lists = {
        ...(guests && { guests: guests.map((item) => (guestsOfItem(item).some(isErased) ? { values: {} } : item)) }),
        ...(rooms && { rooms: texts(rooms) }),
        ...(charges && { charges: texts(charges) }),
      };
      const isExtra = ([field]: [string, Json]) => field.startsWith('extra');
      const dropsExtra = extraMentions(Object.fromEntries(Object.entries(statement.values).filter(isExtra)), named);
      const values = Object.entries(withoutMentions(statement.values, named)).filter(
        (one) => !dropsExtra || !isExtra(one),
      );
      return { ...statement, values: Object.fromEntries(values), lists };
    },
  };
}

function stripRecord(prepared: Prepared & { kind: 'record' }, isErased: (guest: Guest) => boolean): Prepared {
  const { incoming } = prepared;
  if (!('guests' in incoming.record)) {
    if (!isErased(incoming.record)) return prepared;
    // A profile consists of its guest only.
    const { arrival, message } = prepared;
    const reason = 'The guest was erased.';
    return { kind: 'dropped', arrival, id: incoming.id, reason, raw: null, ...(message && { message }) };
  }
  const { reservation, erased } = withoutGuests(incoming.record, isErased);
  if (erased.length === 0) return prepared;
  const { origins } = incoming;
  return {
    ...prepared,
    incoming: {
      ...incoming,
      record: reservation,
      raw: null,
      retraceable: false,
      notes: incoming.notes.filter(({ field }) => !mayHoldGuestData(field)),
      origins: () => Object.fromEntries(Object.entries(origins()).filter(([field]) => !mayHoldGuestData(field))),
    },
  };
}
