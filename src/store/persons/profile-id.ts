import { createHash } from 'node:crypto';
import type { Guest } from '../../canonical/reservation.ts';
import { newProfileId } from '../../persons/identifiers.ts';
import type { Tx } from '../db/pool.ts';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Gives the id for a new profile; undefined for a guest without a key. */
export type NewProfileId = (guest: Guest) => Promise<string | undefined>;

/**
 * Ids for new profiles of these guests. No id is given twice: the profile that has it may be merged into another one, have another address
 * by now, or be one of many at a shared address. Usually one query for all guests.
 */
export async function profileIds(tx: Tx, integration: string, guests: readonly Guest[]): Promise<NewProfileId> {
  const first = new Set(guests.flatMap((guest) => newProfileId(integration, guest, () => false, digest) ?? []));
  const taken = await storedIds(tx, integration, [...first]);
  return async (guest) => {
    for (;;) {
      const id = newProfileId(integration, guest, (one) => taken.has(one), digest);
      if (id === undefined) return undefined;
      taken.add(id);
      if (first.has(id) || (await storedIds(tx, integration, [id])).size === 0) return id;
    }
  };
}

async function storedIds(tx: Tx, integration: string, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from records where integration = $1 and type = 'guest' and id = any($2)`,
    [integration, ids],
  );
  return new Set(rows.map(({ id }) => id));
}
