import type { Guest } from '../canonical/reservation.ts';
import { keyTexts } from './identifiers.ts';
import { fullNames } from './names.ts';
import type { Candidate } from './profile-match.ts';

/** More profiles with one key are not compared: an address that so many have is shared. The store reads as many. */
const mostOfKey = 50;

/** Profiles by what may show that a guest is the same person: a guest is compared with those that share it, not with all of the batch. */
export class ProfileIndex<Profile extends Candidate> {
  readonly #profiles = new Map<string, Profile>();
  readonly #ids = new Map<string, Set<string>>();

  constructor(profiles: readonly Profile[]) {
    for (const profile of profiles) this.set(profile);
  }

  get(id: string): Profile | undefined {
    return this.#profiles.get(id);
  }

  /** Keys that the profile had before still find it; `chooseProfile` decides. */
  set(profile: Profile): void {
    this.#profiles.set(profile.id, profile);
    for (const key of [...lookupsOf(profile.guest), ...(profile.pins ?? [])])
      this.#ids.getOrInsertComputed(key, () => new Set()).add(profile.id);
  }

  sharing(guest: Guest): Profile[] {
    const ids = new Set(
      lookupsOf(guest).flatMap((key) => this.#ids.get(key)?.values().take(mostOfKey).toArray() ?? []),
    );
    return [...ids].flatMap((id) => this.#profiles.get(id) ?? []);
  }
}

/** A full name and a birth date together identify a person anywhere. */
const lookupsOf = (guest: Guest): string[] => [
  ...keyTexts(guest),
  ...(guest.date_of_birth === undefined ? [] : fullNames(guest).map((name) => `born ${guest.date_of_birth} ${name}`)),
];
