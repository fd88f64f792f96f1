import { mentions, withoutMentions } from '../../core/canonical/mentions.ts';
import type { Guest, Reservation } from '../../core/canonical/reservation.ts';
import { statedGuest } from '../../core/canonical/stated-guest.ts';
import type { Content, ContentItem } from '../../core/reconcile/content.ts';
import type { Erased, ErasurePort } from '../../core/reconcile/erasure-port.ts';
import type { Statement } from '../../core/reconcile/forms.ts';
import type { Keyring } from '../../kit/crypto.ts';
import type { Json, Note } from '../../terms.ts';
import { askedAddresses, hashesOf, hashIdentity, identitiesInPayload, identitiesOf, rememberedOf } from './identity.ts';
import { addressesIn, extraMentions, mayHoldGuestData, withoutGuests } from './strip.ts';

/** Removes erased guests from what arrives, with the workspace's keys. */
export function suppression(keyring: Keyring): ErasurePort {
  const identify = (statement: Statement, integration: string) => {
    const reservationId = reservationOf(statement);
    return (guest: Guest) => hashesOf(keyring, identitiesOf(guest, integration, reservationId));
  };
  const inRaw = (raw: Json, integration: string) => hashesOf(keyring, identitiesInPayload(raw, integration));
  const asked = (address: string, integration: string) => hashesOf(keyring, askedAddresses(address, integration));
  return {
    hashesOf(statement, integration) {
      const reservationId = reservationOf(statement);
      const rememberedIdentities = guestsIn(statement).flatMap((guest) =>
        identitiesOf(guest, integration, reservationId),
      );
      const raw = rawOf(statement);
      const others =
        statement.record !== undefined
          ? addressesIn(raw).flatMap((address) => askedAddresses(address, integration))
          : identitiesInPayload(raw, integration);
      return hashesOf(keyring, [...rememberedIdentities, ...others]);
    },
    others(statement, integration, erased) {
      const reservationId = reservationOf(statement);
      const hashes = identify(statement, integration);
      return guestsIn(statement).flatMap((guest) => {
        const by = hashes(guest).find((hash) => erased.has(hash));
        if (by === undefined) return [];
        const identities = rememberedOf(guest, integration, reservationId);
        return [{ by, hashes: identities.map((identity) => hashIdentity(keyring[0], identity)) }];
      });
    },
    strip(statement, integration, erased: Erased) {
      const hashes = identify(statement, integration);
      const isErased = (guest: Guest) => hashes(guest).some((hash) => erased.has(hash));
      const isAsked = (address: string) => asked(address, integration).some((hash) => erased.has(hash));
      const raw = rawOf(statement);
      // Payloads name people who are no guests of the record, such as the one who booked.
      const others = addressesIn(raw).filter(isAsked);
      const named = [...guestsIn(statement).filter(isErased), ...others.map((email) => ({ email }))];
      const isRecord = statement.record !== undefined;
      if (named.length === 0 && (isRecord || !inRaw(raw, integration).some((hash) => erased.has(hash))))
        return statement;
      return stripped(statement, isErased, named);
    },
  };
}

const rawOf = ({ failure, raw }: Statement): Json => failure?.raw ?? raw.value;

const guestsOf = (record: Reservation | Guest): readonly Guest[] => ('guests' in record ? record.guests : [record]);

const reservationOf = ({ type, id }: Statement): string | undefined =>
  type === 'reservation' && id !== '' ? id : undefined;

function guestsIn({ record, guests = [], content }: Statement): readonly Guest[] {
  return [...(record ? guestsOf(record) : []), ...guests, ...(content?.lists.guests ?? []).flatMap(guestsOfItem)];
}

const guestsOfItem = ({ values, as }: ContentItem): Guest[] => [values, ...(as ? [as] : [])].map(statedGuest);

/** The statement without erased guests, who stay as empty elements, and without texts about anybody in `named`. */
function stripped(statement: Statement, isErased: (guest: Guest) => boolean, named: readonly Guest[]): Statement {
  const { type, record, content, failure, origins, notes, guests } = statement;
  // A profile consists of its guest only.
  const isGone = type === 'guest' && guestsIn(statement).some(isErased);
  const left = record && 'guests' in record ? withoutGuests(record, isErased, named) : record;
  const own = Object.entries(origins ?? {}).filter(([field]) => !mayHoldGuestData(field));
  const plain = {
    ...statement,
    raw: { key: statement.raw.key, value: null },
    notes: notesWithout(notes, named),
    origins: Object.fromEntries(own),
    ...(guests && { guests: [] }),
    ...(content && { content: contentWithout(content, isErased, named) }),
    ...(failure && { failure: { ...failure, raw: null, detail: { erased: true } } }),
  };
  if (!isGone) return { ...plain, record: left };
  return { ...plain, record: undefined, consent: undefined, dropped: 'The guest was erased.' };
}

const notesWithout = (notes: readonly Note[], guests: readonly Guest[]): Note[] =>
  notes.filter((one) => !mayHoldGuestData(one.field) && !mentions(JSON.stringify(one), guests));

/** `extra` may repeat guest data under any key. */
function contentWithout(content: Content, isErased: (guest: Guest) => boolean, named: readonly Guest[]): Content {
  const { guests, rooms, charges } = content.lists;
  const texts = (items: readonly ContentItem[]) =>
    items.map((item) => ({ ...item, values: withoutMentions(item.values, named) }));
  const lists = {
    ...(guests && { guests: guests.map((item) => (guestsOfItem(item).some(isErased) ? { values: {} } : item)) }),
    ...(rooms && { rooms: texts(rooms) }),
    ...(charges && { charges: texts(charges) }),
  };
  const isExtra = ([field]: [string, Json]) => field.startsWith('extra');
  const dropsExtra = extraMentions(Object.fromEntries(Object.entries(content.values).filter(isExtra)), named);
  const values = Object.entries(withoutMentions(content.values, named)).filter((one) => !dropsExtra || !isExtra(one));
  return { ...content, values: Object.fromEntries(values), lists };
}
