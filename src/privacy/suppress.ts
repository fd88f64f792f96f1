import { mentions, withoutMentions } from '../canonical/mentions.ts';
import type { Guest, Reservation } from '../canonical/reservation.ts';
import { statedGuest } from '../canonical/stated-guest.ts';
import type { Keyring } from '../kit/crypto.ts';
import type { Message, Prepared } from '../reconcile/incoming.ts';
import type { SaidItem } from '../reconcile/statement.ts';
import type { Json, Note } from '../terms.ts';
import { askedAddresses, hashesOf, hashIdentity, identitiesInPayload, identitiesOf, rememberedOf } from './identity.ts';
import { nameOf } from './person.ts';
import { addressesIn, extraMentions, mayHoldGuestData, withoutGuests } from './strip.ts';

/** Of erased guests. */
type Hashes = Pick<ReadonlySet<string>, 'has'>;

/** Removes erased guests from incoming records: implements the store's erasure port with the workspace's keys. */
export function suppression(keyring: Keyring) {
  const identify = (prepared: Prepared, integration: string) => {
    const reservationId = reservationOf(prepared);
    return (guest: Guest) => hashesOf(keyring, identitiesOf(guest, integration, reservationId));
  };
  const inRaw = (raw: Json, integration: string) => hashesOf(keyring, identitiesInPayload(raw, integration));
  const asked = (address: string, integration: string) => hashesOf(keyring, askedAddresses(address, integration));
  return {
    hashesOf(prepared: Prepared, integration: string): readonly string[] {
      const reservationId = reservationOf(prepared);
      const found = guestsIn(prepared).flatMap((guest) => identitiesOf(guest, integration, reservationId));
      const raw = rawOf(prepared);
      const others =
        prepared.kind === 'record'
          ? addressesIn(raw).flatMap((address) => askedAddresses(address, integration))
          : identitiesInPayload(raw, integration);
      return hashesOf(keyring, [...found, ...others]);
    },
    others(prepared: Prepared, integration: string, erased: Hashes) {
      const reservationId = reservationOf(prepared);
      const hashes = identify(prepared, integration);
      return guestsIn(prepared).flatMap((guest) => {
        const by = hashes(guest).find((hash) => erased.has(hash));
        if (by === undefined) return [];
        const identities = rememberedOf(guest, integration, reservationId);
        return [{ by, hashes: identities.map((identity) => hashIdentity(keyring[0], identity)) }];
      });
    },
    strip(prepared: Prepared, integration: string, erased: Hashes): Prepared {
      const hashes = identify(prepared, integration);
      const isErased = (guest: Guest) => hashes(guest).some((hash) => erased.has(hash));
      const isAsked = (address: string) => asked(address, integration).some((hash) => erased.has(hash));
      const raw = rawOf(prepared);
      // Payloads name people who are no guests of the record, such as the one who booked.
      const others = addressesIn(raw).filter(isAsked);
      const { message } = prepared;
      const said = message === undefined ? guestsIn(prepared) : saidGuests(message);
      const named = [...said.filter(isErased), ...others.map((email) => ({ email }))];
      const stripped = named.length > 0 && message ? { message: stripMessage(message, isErased, named) } : undefined;
      if (prepared.kind === 'record') {
        const record = stripRecord(prepared, isErased, named);
        return stripped === undefined ? record : { ...record, ...stripped };
      }
      if (named.length === 0 && !inRaw(raw, integration).some((hash) => erased.has(hash))) return prepared;
      if (prepared.kind === 'dropped') return { ...prepared, raw: null, ...stripped };
      return { ...prepared, deadLetter: { ...prepared.deadLetter, raw: null, detail: { erased: true } }, ...stripped };
    },
  };
}

function rawOf(prepared: Prepared): Json {
  if (prepared.kind === 'record') return prepared.incoming.raw;
  return prepared.kind === 'dropped' ? prepared.raw : prepared.deadLetter.raw;
}

const guestsOf = (record: Reservation | Guest): readonly Guest[] => ('guests' in record ? record.guests : [record]);

function reservationOf(prepared: Prepared): string | undefined {
  if (prepared.kind === 'dead') return prepared.message?.id ?? prepared.deadLetter.id;
  if (prepared.kind === 'dropped') return prepared.message?.id;
  return prepared.incoming.type === 'reservation' ? prepared.incoming.id : undefined;
}

/** Rules may remove what identifies a guest from the record; the partner's statement, which is stored beside it, still has it. */
function guestsIn(prepared: Prepared): readonly Guest[] {
  const { message } = prepared;
  const stated = message === undefined ? (prepared.guests?.() ?? []) : [];
  if (prepared.kind !== 'record') return [...stated, ...saidGuests(message)];
  const { incoming, isRuled } = prepared;
  return [...guestsOf(incoming.record), ...stated, ...(isRuled ? saidGuests(message) : [])];
}

const notesWithout = (notes: readonly Note[], guests: readonly Guest[]): Note[] =>
  notes.filter((one) => !mayHoldGuestData(one.field) && !mentions(JSON.stringify(one), guests));

const saidGuests = (message: Message | undefined): readonly Guest[] =>
  (message?.says().lists.guests ?? []).flatMap(guestsOfItem);

const guestsOfItem = ({ values, as }: SaidItem): Guest[] => [values, ...(as ? [as] : [])].map(statedGuest);

/**
 * The message without erased guests, who stay as empty elements, and without texts about anybody in `named`. `extra` may repeat guest
 * data under any key.
 */
function stripMessage(message: Message, isErased: (guest: Guest) => boolean, named: readonly Guest[]): Message {
  const { origins } = message;
  return {
    ...message,
    raw: null,
    retraceable: false,
    notes: notesWithout(message.notes, named),
    origins: () => Object.fromEntries(Object.entries(origins()).filter(([field]) => !mayHoldGuestData(field))),
    says: () => {
      const statement = message.says();
      const { guests, rooms, charges } = statement.lists;
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

/** A guest before and after the rules. */
const isOne = (a: Guest, b: Guest): boolean =>
  nameOf(a) !== '' && nameOf(a) === nameOf(b) && (a.guest_id ?? b.guest_id) === (b.guest_id ?? a.guest_id);

/** `named`: erased people as the partner names them. */
function stripRecord(
  prepared: Prepared & { kind: 'record' },
  isErased: (guest: Guest) => boolean,
  named: readonly Guest[],
): Prepared {
  const { incoming } = prepared;
  if (!('guests' in incoming.record)) {
    if (!guestsIn(prepared).some(isErased))
      return named.length === 0 ? prepared : { ...prepared, incoming: { ...incoming, raw: null } };
    // A profile consists of its guest only.
    const { arrival, message } = prepared;
    const { type, id } = incoming;
    const reason = 'The guest was erased.';
    return { kind: 'dropped', arrival, type, id, reason, raw: null, ...(message && { message }) };
  }
  const isGone = (guest: Guest) =>
    isErased(guest) || (prepared.isRuled === true && named.some((one) => isOne(one, guest)));
  const { reservation, erased } = withoutGuests(incoming.record, isGone, named);
  if (erased.length === 0 && named.length === 0) return prepared;
  const { origins } = incoming;
  return {
    ...prepared,
    incoming: {
      ...incoming,
      record: reservation,
      raw: null,
      retraceable: false,
      notes: notesWithout(incoming.notes, [...erased, ...named]),
      origins: () => Object.fromEntries(Object.entries(origins()).filter(([field]) => !mayHoldGuestData(field))),
    },
  };
}
