import type { Guest } from '../../core/canonical/reservation.ts';
import { sharedAmong } from '../../core/persons/identifiers.ts';
import { fullNames } from '../../core/persons/names.ts';
import { samePerson } from '../../core/persons/same-person.ts';
import { Traces } from './traces.ts';

/**
 * One person, for an erasure or an access request: the keys that the request named, and those found through them. People change their
 * address and number, so an older version of a booking may have other keys of the same person than the request.
 *
 *   requested   an e-mail address or phone number names everyone who has it; a guest id names one guest of one brand
 *   found       everybody who is the same person as one of them (`persons/same-person.ts`)
 */
export class Person {
  readonly #integration: string | undefined;
  readonly #emails: ReadonlySet<string>;
  readonly #phones: ReadonlySet<string>;
  readonly #guestIds: ReadonlySet<string>;
  /** The person as found so far, by brand: a guest id says nothing in another one. */
  readonly #looks = new Map<string, { readonly guest: Guest; readonly integration: string }>();
  /** Everything to look for in records and payloads. */
  readonly #addresses = new Set<string>();
  readonly #numbers = new Set<string>();
  readonly #ids = new Map<string, string>();
  readonly #documents = new Set<string>();
  readonly #names = new Map<string, Guest>();

  constructor(request: {
    readonly emails?: readonly string[];
    readonly phones?: readonly string[];
    readonly guestIds?: readonly string[];
    /** Only in this brand. */
    readonly integration?: string | undefined;
  }) {
    const { emails = [], phones = [], guestIds = [], integration } = request;
    this.#integration = integration;
    this.#emails = new Set(emails);
    this.#phones = new Set(phones);
    this.#guestIds = new Set(guestIds);
    for (const email of emails) this.#addresses.add(email);
    for (const phone of phones) this.#numbers.add(phone);
    for (const id of guestIds) if (integration !== undefined) this.#ids.set(idKey(integration, id), id);
  }

  isMeant(guest: Guest, integration: string): boolean {
    if (this.#integration !== undefined && this.#integration !== integration) return false;
    if (addressesOf(guest).some((address) => this.#emails.has(address))) return true;
    if (guest.phone !== undefined && this.#phones.has(guest.phone)) return true;
    if (guest.guest_id !== undefined && this.#integration !== undefined && this.#guestIds.has(guest.guest_id))
      return true;
    return [...this.#looks.values()].some(
      (look) => samePerson(look.guest, guest, { areTwoSystems: look.integration !== integration }).is === 'same',
    );
  }

  /**
   * The guests of one reservation, in all its versions, that are this person. A guest who is meant in one version is followed through the
   * others: by guest id, by name, by address or number.
   */
  among(versions: readonly (readonly Guest[])[], integration: string): Set<Guest> {
    const all = versions.flatMap((guests) => guests.map((guest, position) => ({ guest, position })));
    const byKey = new Map<string, typeof all>();
    for (const one of all) {
      for (const key of linkKeys(one.guest)) byKey.getOrInsertComputed(key, () => []).push(one);
    }
    const isShared = sharedAmong(all.map(({ guest }) => guest));
    const isSame = (a: (typeof all)[number], b: (typeof all)[number]) =>
      samePerson(a.guest, b.guest, { isOneReservation: true, isOnePlace: a.position === b.position, isShared }).is ===
      'same';
    const meant = new Set<Guest>();
    const open = all.filter(({ guest }) => this.isMeant(guest, integration));
    for (const { guest } of open) meant.add(guest);
    for (let one = open.pop(); one !== undefined; one = open.pop()) {
      for (const key of linkKeys(one.guest)) {
        for (const other of byKey.get(key) ?? []) {
          if (meant.has(other.guest) || !isSame(one, other)) continue;
          meant.add(other.guest);
          open.push(other);
        }
        // Each key is followed once: with many guests of one name the cost stays linear.
        byKey.set(
          key,
          (byKey.get(key) ?? []).filter((other) => !meant.has(other.guest)),
        );
      }
    }
    for (const guest of bareNames(versions, meant)) meant.add(guest);
    return meant;
  }

  /** Adds the other keys of this guest. True if there is something new to search for. */
  absorb(guest: Guest, integration: string): boolean {
    const before = this.#addresses.size + this.#numbers.size + this.#ids.size;
    if (Object.keys(guest).length > 0)
      this.#looks.set(`${integration} ${JSON.stringify(guest)}`, { guest, integration });
    for (const address of addressesOf(guest)) this.#addresses.add(address);
    if (guest.phone !== undefined) this.#numbers.add(guest.phone);
    if ((guest.document_number?.length ?? 0) >= fewestInDocument) this.#documents.add(guest.document_number ?? '');
    const { first_name, last_name } = guest;
    if (first_name && last_name) this.#names.set(nameOf(guest), { first_name, last_name });
    if (guest.guest_id !== undefined) this.#ids.set(idKey(integration, guest.guest_id), guest.guest_id);
    return this.#addresses.size + this.#numbers.size + this.#ids.size > before;
  }

  /** The search keys of records in which this person may be. */
  lookups(): { readonly key: string; readonly integration: string | undefined }[] {
    const integration = this.#integration;
    return [
      ...[...this.#addresses].flatMap((address) =>
        ['email', 'alias', 'email_raw'].map((kind) => ({ key: `${kind}:${address}`, integration })),
      ),
      ...[...this.#numbers].map((number) => ({ key: `phone:${number}`, integration })),
      ...[...this.#ids].map(([scoped, id]) => ({
        key: `guest_id:${id}`,
        integration: scoped.slice(0, -id.length - 1),
      })),
    ];
  }

  /** The keys from the request. A text with one of them names this person, also in a booking of other guests. */
  requested(): Guest[] {
    return keysAsGuests(this.#emails, this.#phones, []);
  }

  /** All keys, to find this person in the texts of records in which the person is a guest. */
  keys(): Guest[] {
    return keysAsGuests(this.#addresses, this.#numbers, this.#documents);
  }

  /** The texts in a payload that name this person. */
  traces(): Traces {
    return new Traces(
      [...this.#addresses, ...this.#documents],
      [...this.#numbers],
      [...this.#names.values()],
      [...this.#ids.values()],
    );
  }
}

const keysAsGuests = (emails: Iterable<string>, phones: Iterable<string>, documents: Iterable<string>): Guest[] => [
  ...[...emails].map((email) => ({ email })),
  ...[...phones].map((phone) => ({ phone })),
  ...[...documents].map((document_number) => ({ document_number })),
];

/** Shorter numbers are also found in amounts and dates. */
const fewestInDocument = 6;

const idKey = (integration: string, id: string): string => `${integration} ${id}`;

function addressesOf({ email, email_raw: raw }: Guest): string[] {
  return [email, raw?.trim().toLowerCase()].filter((address) => address !== undefined && address !== '') as string[];
}

export const nameOf = ({ first_name: first = '', last_name: last = '' }: Guest): string =>
  `${first} ${last}`.trim().toLowerCase();

/**
 * Guests of whom a version has the last name only, if it is the last name of a guest who is meant and of nobody else in that version: a
 * newer row may have lost the rest.
 */
function bareNames(versions: readonly (readonly Guest[])[], meant: ReadonlySet<Guest>): Guest[] {
  const lastName = ({ last_name: last = '' }: Guest): string => last.toLowerCase();
  const names = new Set([...meant].map(lastName).filter((name) => name !== ''));
  return versions.flatMap((guests) => {
    const [one, ...others] = guests.filter((guest) => names.has(lastName(guest)));
    const isBare = one !== undefined && one.first_name === undefined && guestIsKeyless(one);
    return isBare && others.length === 0 && !guests.some((guest) => meant.has(guest)) ? [one] : [];
  });
}

const guestIsKeyless = (guest: Guest): boolean =>
  guest.guest_id === undefined && guest.phone === undefined && addressesOf(guest).length === 0;

/** What two versions of one guest may have in common. */
function linkKeys(guest: Guest): string[] {
  return [
    ...(guest.guest_id === undefined ? [] : [`id ${guest.guest_id}`]),
    ...addressesOf(guest).map((address) => `email ${address}`),
    ...(guest.phone === undefined ? [] : [`phone ${guest.phone}`]),
    ...fullNames(guest).map((name) => `name ${name}`),
  ];
}
