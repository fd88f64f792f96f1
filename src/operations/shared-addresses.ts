import { sharedAmong } from '../persons/shared.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { rolledBack } from '../store/db/pool.ts';
import { profilesByKeys } from '../store/persons/profile-lookup.ts';
import { commonKeys } from '../store/persons/shared-keys.ts';

/** An address or number under which different persons are known: it identifies nobody by itself. */
export interface SharedAddress {
  readonly email?: string;
  readonly phone?: string;
  readonly persons: number;
  readonly bookings: number;
}

/** Those with the most profiles are examined. */
const mostExamined = 200;

/** Computed from the profiles: an address is in the list as long as different persons have it. */
export function sharedAddresses({ pool }: Pick<Runtime, 'pool'>, integration: string): Promise<SharedAddress[]> {
  return rolledBack(pool, async (tx) => {
    const common = await commonKeys(tx, integration, mostExamined);
    const profiles = await profilesByKeys(tx, integration, common);
    const isShared = sharedAmong(profiles.map(({ guest }) => guest));
    return common
      .filter(({ value }) => isShared(value))
      .map(({ kind, value, profiles: persons, bookings }) => ({ [kind]: value, persons, bookings }));
  });
}
