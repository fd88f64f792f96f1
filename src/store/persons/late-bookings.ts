import { decodeRecord } from '../../canonical/encode.ts';
import type { Guest } from '../../canonical/reservation.ts';
import type { GuestUpdate } from '../../reconcile/guest-update.ts';
import type { Source } from '../../reconcile/says.ts';
import type { EpochMs } from '../../terms.ts';
import type { Tx } from '../db/pool.ts';
import { versionOf, versionsAfter } from '../records/versions.ts';

/** What a guest's own event states, for a reservation that is older and arrived later. */
export interface LateBooking {
  readonly id: string;
  readonly guest: Guest;
  readonly profileId: string;
  readonly update: GuestUpdate;
  readonly source: Source;
  readonly at: EpochMs;
}

/** A guest of a reservation, at whose time the profile had a newer state. */
export type OlderGuest = Omit<LateBooking, 'update' | 'source'>;

/** The fields that events of these guests stated after their reservations, the oldest event first. Consent has a rule of its own. */
export async function lateBookings(
  tx: Tx,
  integration: string,
  older: readonly OlderGuest[],
): Promise<readonly LateBooking[]> {
  if (older.length === 0) return [];
  const { rows } = await tx.query<{
    n: number;
    version: number;
    fields: string[];
    ms: number;
    newest: { version: number; data: string };
    made: string | null;
  }>(
    `select t.n::int - 1 as n, e.version, array(select json_object_keys(e.origins)) as fields,
            (extract(epoch from e.effective_at) * 1000)::float8 as ms,
            json_build_object('version', r.version, 'data', r.data::text) as newest, ${versionsAfter('e', 'e.version')} as made
       from unnest($2::text[], $3::float8[]) with ordinality as t (id, ms, n)
       join history e on e.integration = $1 and e.id = t.id and e.type = 'guest'
                     and e.diff is not null and e.origins is not null and e.effective_at > to_timestamp(t.ms / 1000)
       join records r on r.integration = $1 and r.id = t.id and r.type = 'guest'
      order by e.effective_at, e.seq`,
    [integration, older.map(({ profileId }) => profileId), older.map(({ at }) => at)],
  );
  return rows.flatMap(({ n, version, fields, ms, newest, made }) => {
    const one = older[n];
    const text = versionOf(version, newest, made);
    const present = new Set(fields.filter((field) => field !== 'marketing_consent'));
    if (one === undefined || text === undefined || present.size === 0) return [];
    return [{ ...one, update: { guest: decodeRecord('guest', text), present }, source: 'push', at: ms }];
  });
}
