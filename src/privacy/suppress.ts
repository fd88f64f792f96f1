import { withoutMentions } from '../canonical/mentions.ts';
import type { Guest, Reservation } from '../canonical/reservation.ts';
import type { Keyring } from '../kit/crypto.ts';
import type { Json, Note, Origins } from '../terms.ts';
import { hashesOf, identitiesInPayload, identitiesOf } from './identity.ts';
import { speaksOfGuests, withoutGuests } from './strip.ts';

interface Element {
  readonly values: object;
  readonly as?: object | undefined;
}

/** The parts of a message that this room reads: guests, by their canonical fields. */
interface PassingMessage {
  readonly raw: Json;
  readonly notes: readonly Note[];
  readonly origins: () => Origins;
  says(): {
    readonly values: { readonly [field: string]: Json };
    readonly lists: { readonly [Name in 'guests' | 'rooms' | 'charges']?: readonly Element[] | undefined };
  };
}

/** The parts of an incoming record that this room reads. */
export type Passing = { readonly message?: PassingMessage } & PassingKind;

type PassingKind =
  | {
      readonly kind: 'record';
      readonly incoming: {
        readonly type: 'reservation' | 'guest';
        readonly id: string;
        readonly record: Reservation | Guest;
        readonly raw: Json;
        readonly notes: readonly Note[];
        readonly origins: () => Origins;
        readonly retraceable?: boolean;
      };
    }
  | { readonly kind: 'dropped'; readonly raw: Json }
  | { readonly kind: 'dead'; readonly deadLetter: { readonly raw: Json; readonly detail: Json } };

/** Removes erased guests from incoming records: implements the store's erasure port with the workspace's keys. */
export function suppression(keyring: Keyring) {
  const known = (integration: string, guest: Guest) => hashesOf(keyring, identitiesOf(guest, integration));
  const inRaw = (raw: Json, integration: string) => hashesOf(keyring, identitiesInPayload(raw, integration));
  const guestsOf = (record: Reservation | Guest): readonly Guest[] => ('guests' in record ? record.guests : [record]);
  return {
    hashesOf(passing: Passing, integration: string): readonly string[] {
      if (passing.kind === 'record') {
        return guestsOf(passing.incoming.record).flatMap((guest) => known(integration, guest));
      }
      const said = saidGuests(passing.message).flatMap((guest) => known(integration, guest));
      return [...said, ...inRaw(passing.kind === 'dropped' ? passing.raw : passing.deadLetter.raw, integration)];
    },
    strip<P extends Passing>(passing: P, integration: string, erased: ReadonlySet<string>): P {
      const isErased = (guest: Guest) => known(integration, guest).some((hash) => erased.has(hash));
      const { message } = passing;
      const says = saidGuests(message).some(isErased);
      const stripped = says && message ? { message: stripMessage(message, isErased) } : undefined;
      if (passing.kind === 'record') {
        const record = stripRecord(passing, isErased);
        return (stripped === undefined ? record : { ...record, ...stripped }) as P;
      }
      const raw = passing.kind === 'dropped' ? passing.raw : passing.deadLetter.raw;
      if (!says && !inRaw(raw, integration).some((hash) => erased.has(hash))) return passing;
      if (passing.kind === 'dropped') return { ...passing, raw: null, ...stripped };
      return { ...passing, deadLetter: { ...passing.deadLetter, raw: null, detail: { erased: true } }, ...stripped };
    },
  };
}

const saidGuests = (message: PassingMessage | undefined): readonly Guest[] =>
  (message?.says().lists.guests ?? []).flatMap(({ values, as }) => [values as Guest, ...(as ? [as as Guest] : [])]);

/** The message without erased guests, who stay as empty elements. `extra` may repeat guest data under any key. */
function stripMessage(message: PassingMessage, isErased: (guest: Guest) => boolean): PassingMessage {
  const { origins } = message;
  return {
    ...message,
    raw: null,
    ...{ retraceable: false },
    notes: message.notes.filter(({ field }) => !speaksOfGuests(field)),
    origins: () => Object.fromEntries(Object.entries(origins()).filter(([field]) => !speaksOfGuests(field))),
    says: () => {
      const statement = message.says();
      const { values, lists } = statement;
      const guests = lists.guests?.map((item) =>
        isErased(item.values as Guest) || (item.as !== undefined && isErased(item.as as Guest)) ? { values: {} } : item,
      );
      const extra = Object.entries(values).filter(([field]) => field.startsWith('extra'));
      const guestsSaid = saidGuests(message);
      const named = guestsSaid.filter(isErased);
      const { rooms, charges } = lists;
      const texts = (items: typeof rooms) =>
        items?.map((item) => ({ ...item, values: withoutMentions(item.values, named) }));
      const whole = { guests: guestsSaid, extra: Object.fromEntries(extra) } as unknown as Reservation;
      const keepsExtra = extra.length > 0 && 'extra' in withoutGuests(whole, isErased).reservation;
      const kept = Object.entries(withoutMentions(values, named)).filter(
        ([field]) => keepsExtra || !field.startsWith('extra'),
      );
      const left = {
        ...lists,
        guests,
        ...(rooms && { rooms: texts(rooms) }),
        ...(charges && { charges: texts(charges) }),
      };
      return { ...statement, values: Object.fromEntries(kept), lists: left };
    },
  };
}

function stripRecord(passing: Extract<Passing, { kind: 'record' }>, isErased: (guest: Guest) => boolean): Passing {
  const { incoming } = passing;
  if (!('guests' in incoming.record)) {
    if (!isErased(incoming.record)) return passing;
    // A profile consists of its guest only.
    const { incoming: _, ...rest } = passing;
    return { ...rest, kind: 'dropped', id: incoming.id, reason: 'The guest was erased.', raw: null } as Passing;
  }
  const { reservation, erased } = withoutGuests(incoming.record, isErased);
  if (erased.length === 0) return passing;
  const { origins } = incoming;
  return {
    ...passing,
    incoming: {
      ...incoming,
      record: reservation,
      raw: null,
      retraceable: false,
      notes: incoming.notes.filter(({ field }) => !speaksOfGuests(field)),
      origins: () => Object.fromEntries(Object.entries(origins()).filter(([field]) => !speaksOfGuests(field))),
    },
  };
}
