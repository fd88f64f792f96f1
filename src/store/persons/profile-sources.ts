import { decodeRecord } from '../../canonical/encode.ts';
import type { Guest } from '../../canonical/reservation.ts';
import { keyTexts } from '../../persons/identifiers.ts';
import { type Consent, newerConsent } from '../../reconcile/consent.ts';
import { mergeProfile } from '../../reconcile/profile.ts';
import { consentsIn, type StoredViews } from '../../reconcile/stored-views.ts';
import type { Tx } from '../db/pool.ts';
import { anyKey, keyedRecords } from '../records/search-keys.ts';
import { versionOf, versionsAfter } from '../records/versions.ts';

/** The state of a profile before a merge; undefined if that version is no longer kept. */
export async function stateBefore(tx: Tx, integration: string, id: string, cause: string): Promise<Guest | undefined> {
  const { rows } = await tx.query<{ version: number; newest: number; data: string; made: string | null }>(
    `select m.version, r.version as newest, r.data::text as data, ${versionsAfter('r', 'm.version')} as made
       from (select case outcome when 'unchanged' then version else version - 1 end as version from history
              where integration = $1 and type = 'guest' and id = $2 and cause = 'guest' and cause_id = $3
              order by entry_id desc limit 1) m
       join records r on r.integration = $1 and r.type = 'guest' and r.id = $2`,
    [integration, id, cause],
  );
  const data = rows[0] && versionOf(rows[0].version, { version: rows[0].newest, data: rows[0].data }, rows[0].made);
  return data === undefined ? undefined : decodeRecord('guest', data);
}

/** The guests in stored reservations that have one of these keys and none of the others, newest last. */
export async function fromReservations(
  tx: Tx,
  integration: string,
  keys: readonly string[],
  others: readonly string[],
): Promise<{ readonly guest: Guest; readonly consent: Consent | undefined }> {
  const { rows } = await tx.query<{ data: string; views: StoredViews | null; ms: number; seq: number }>(
    `select r.data::text as data, r.views, (extract(epoch from r.effective_at) * 1000)::float8 as ms, r.seq
       from (select id from ${keyedRecords('$2')} k where integration = $1) k
       join records r on r.integration = $1 and r.type = 'reservation' and r.id = k.id and r.version > 0
      order by r.effective_at, r.seq`,
    [integration, anyKey('reservation', keys)],
  );
  let found: { guest: Guest; consent: Consent | undefined } = { guest: {}, consent: undefined };
  for (const { data, views, ms, seq } of rows) {
    const reservation = decodeRecord('reservation', data);
    const consents = consentsIn(reservation, views ?? undefined, [ms, seq]);
    for (const [position, guest] of reservation.guests.entries()) {
      const own = keyTexts(guest);
      if (!own.some((key) => keys.includes(key)) || own.some((key) => others.includes(key))) continue;
      found = { guest: mergeProfile(found.guest, guest), consent: newerConsent(found.consent, consents[position]) };
    }
  }
  return found;
}
