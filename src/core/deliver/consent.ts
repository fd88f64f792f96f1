import type { EntityType } from '../../terms.ts';
import { decodeRecord, type Guest } from '../canonical/reservation.ts';
import { sharedAmong } from '../persons/identifiers.ts';
import { samePerson } from '../persons/same-person.ts';
import type { ConsentChange, MessageData } from './message.ts';

/**
 * Marketing consent has three states: true, false and unknown (absent). Unknown changes nothing: it neither subscribes nor
 * unsubscribes anybody. Only a false that is newer than the last true is a withdrawal.
 *
 * A destination with `consent: marketing` gets only guests with true. A guest who withdrew is sent once more: the identifiers that
 * the destination knows, marketing_consent false, and nothing else.
 *
 * The history holds the versions of a record that the destination has, newest first. If some are past their retention and the others
 * state nothing, a false counts as a withdrawal: the destination may hold the guest. So it does after a true in a version that was sent
 * without success and dropped, because it may have arrived.
 */
export class ConsentHistory {
  readonly #type: EntityType;
  readonly #versions: readonly (() => MessageData)[];
  readonly #dropped: readonly (() => MessageData)[];
  readonly #isPastRetention: boolean;
  #isShared: ((address: string) => boolean) | undefined;

  constructor(
    type: EntityType,
    texts: readonly string[] = [],
    deliveredVersion = 0,
    droppedTexts: readonly string[] = [],
  ) {
    this.#type = type;
    this.#versions = texts.map((text) => decodedOnce(type, text));
    this.#dropped = droppedTexts.map((text) => decodedOnce(type, text));
    this.#isPastRetention = texts.length < deliveredVersion;
  }

  /** The guest as of the last version that states true or false; versions that leave it unknown are passed over. */
  lastStated(guest: Guest): Guest | undefined {
    return this.#lastStatedIn(this.#versions, guest);
  }

  /** The guest whom a withdrawal is about, with the identifiers that the destination knows or may know. */
  withdrawing(guest: Guest): Guest {
    return this.#lastStatedIn(this.#dropped, guest) ?? this.lastStated(guest) ?? guest;
  }

  /** The versions that the destination has, newest first. */
  get versions(): readonly MessageData[] {
    return this.#versions.map((version) => version());
  }

  /** The guest in every version. */
  all(guest: Guest): readonly Guest[] {
    return this.versions.flatMap((version) => guestsOf(this.#type, version).filter((one) => this.#isSame(one, guest)));
  }

  change(guest: Guest): ConsentChange | undefined {
    const { marketing_consent: now } = guest;
    if (now === undefined) return undefined;
    const before = this.lastStated(guest)?.marketing_consent;
    if (now === false) {
      const mayHaveArrived = this.#lastStatedIn(this.#dropped, guest)?.marketing_consent === true;
      const mayBeKnown = before === undefined && this.#isPastRetention;
      return before === true || mayHaveArrived || mayBeKnown ? 'withdrawn' : undefined;
    }
    if (before === now) return undefined;
    return this.all(guest).length > 0 ? 'given' : 'first';
  }

  #lastStatedIn(versions: readonly (() => MessageData)[], guest: Guest): Guest | undefined {
    for (const version of versions) {
      const known = guestsOf(this.#type, version()).find(
        (one) => one.marketing_consent !== undefined && this.#isSame(one, guest),
      );
      if (known) return known;
    }
    return undefined;
  }

  /** A guest record is about one person in all its versions. */
  #isSame(a: Guest, b: Guest): boolean {
    if (this.#type === 'guest') return true;
    this.#isShared ??= sharedAmong(this.versions.flatMap((version) => guestsOf(this.#type, version)));
    return samePerson(a, b, { isOneReservation: true, isShared: this.#isShared }).is === 'same';
  }
}

function decodedOnce(type: EntityType, text: string): () => MessageData {
  let decoded: MessageData | undefined;
  return () => {
    decoded ??= decodeRecord(type, text) as MessageData;
    return decoded;
  };
}

/** Whether somebody else who agrees to marketing has this address. */
type IsAgreed = (address: string) => boolean;

/** What a destination with `consent: marketing` gets of a record. */
export function withConsent(
  type: EntityType,
  data: MessageData,
  history: ConsentHistory,
  isAgreed: IsAgreed,
):
  | { readonly kind: 'all'; readonly data: MessageData }
  | { readonly kind: 'withdrawn'; readonly data: MessageData }
  | { readonly kind: 'none' } {
  const consenting = guestsOf(type, data).filter((guest) => guest.marketing_consent === true);
  if (consenting.length > 0) {
    if (type === 'guest') return { kind: 'all', data };
    return { kind: 'all', data: { ...data, guests: [...consenting, ...withdrawalsIn(type, data, history, isAgreed)] } };
  }
  const withdrawn = onlyWithdrawals(type, data, history, isAgreed);
  return withdrawn === undefined ? { kind: 'none' } : { kind: 'withdrawn', data: withdrawn };
}

/** A withdrawal names the person's own addresses: not one that another person who agrees has too. */
function withdrawalsIn(type: EntityType, data: MessageData, history: ConsentHistory, isAgreed: IsAgreed): Guest[] {
  const now = guestsOf(type, data);
  const agreed = new Set(now.filter(agrees).flatMap(({ email, phone }) => [email, phone]));
  const isAnothers = (address: string | undefined) =>
    address !== undefined && (agreed.has(address) || isAgreed(address));
  return now
    .filter((guest) => history.change(guest) === 'withdrawn')
    .map((guest) => {
      const { email, phone, ...rest } = history.withdrawing(guest);
      return withdrawal({ ...rest, ...(!isAnothers(email) && { email }), ...(!isAnothers(phone) && { phone }) });
    })
    .filter(({ guest_id, email, phone }) => [guest_id, email, phone].some((value) => value !== undefined));
}

const agrees = ({ marketing_consent }: Guest): boolean => marketing_consent === true;

/** Nothing of the record but the guests who withdrew; undefined if there are none. */
export function onlyWithdrawals(
  type: EntityType,
  data: MessageData,
  history: ConsentHistory,
  isAgreed: IsAgreed,
): MessageData | undefined {
  const withdrawn = withdrawalsIn(type, data, history, isAgreed);
  if (withdrawn.length === 0) return undefined;
  const { id, check_in, check_out, status } = data;
  if (type === 'guest') return { id, ...withdrawn[0] };
  const stay = { ...(check_in && { check_in }), ...(check_out && { check_out }), ...(status && { status }) };
  return { id, ...stay, guests: withdrawn, rooms: [], charges: [] };
}

/** A profile that was merged into another one has no address any more. Its withdrawal names the one that the destination knows. */
export function withKnownAddress(profile: MessageData, history: ConsentHistory): MessageData {
  const hasAddress = profile.email !== undefined || profile.phone !== undefined;
  if (hasAddress || history.change(profile) !== 'withdrawn') return profile;
  return { ...withdrawal(history.withdrawing(profile)), ...profile };
}

/** A consent that a newer statement of the same person contradicts counts as unknown. */
export function withoutOutdated(data: MessageData, isOutdated: (guest: Guest) => boolean): MessageData {
  if (!data.guests?.some(isOutdated)) return data;
  const guests = data.guests.map((guest) => {
    if (!isOutdated(guest)) return guest;
    const { marketing_consent: _, ...rest } = guest;
    return rest;
  });
  return { ...data, guests };
}

/** The rest of a record beside an erasure: only guests who agreed. */
export function onlyConsenting(type: EntityType, data: MessageData): MessageData {
  if (type === 'guest') return data.marketing_consent === true ? data : { id: data.id };
  return { ...data, guests: (data.guests ?? []).filter((guest) => guest.marketing_consent === true) };
}

export const guestsOf = (type: EntityType, data: MessageData): readonly Guest[] =>
  type === 'guest' ? [data] : (data.guests ?? []);

function withdrawal({ guest_id, email, phone }: Guest): Guest {
  return {
    ...(guest_id !== undefined && { guest_id }),
    ...(email !== undefined && { email }),
    ...(phone !== undefined && { phone }),
    marketing_consent: false,
  };
}
