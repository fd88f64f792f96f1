import type { Guest } from '../canonical/reservation.ts';
import { type Candidate, guestKeys, keyText } from './guest-match.ts';

/** Profiles by their keys: a guest is compared with those that share one, not with all of the batch. */
export class ProfileIndex<Profile extends Candidate> {
  readonly #profiles = new Map<string, Profile>();
  readonly #ids = new Map<string, Set<string>>();

  constructor(profiles: readonly Profile[]) {
    for (const profile of profiles) this.set(profile);
  }

  get(id: string): Profile | undefined {
    return this.#profiles.get(id);
  }

  /** Keys that the profile had before still find it; matchProfile decides. */
  set(profile: Profile): void {
    this.#profiles.set(profile.id, profile);
    for (const key of [...guestKeys(profile.guest).map(keyText), ...(profile.pins ?? [])]) {
      const ids = this.#ids.get(key);
      if (ids === undefined) this.#ids.set(key, new Set([profile.id]));
      else ids.add(profile.id);
    }
  }

  sharing(guest: Guest): Profile[] {
    const ids = new Set(guestKeys(guest).flatMap((key) => [...(this.#ids.get(keyText(key)) ?? [])]));
    return [...ids].flatMap((id) => this.#profiles.get(id) ?? []);
  }
}
