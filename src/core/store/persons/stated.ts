import type { EpochMs } from '../../../terms.ts';
import { decodeRecord, type Guest, type Reservation } from '../../canonical/reservation.ts';
import { type Consent, ofBooking } from '../../reconcile/consent.ts';
import type { Source, Time } from '../../reconcile/content.ts';
import { agreement, type GuestUpdate, withdrawal } from '../../reconcile/guest-update.ts';
import { consentsIn, type StoredClaims } from '../../reconcile/stored-claims.ts';
import { columnsOf } from '../db/columns.ts';
import { rowsOf, type Tx } from '../db/pool.ts';
import { versionOf, versionsAfter } from '../records/versions.ts';
import { bookingsWith } from './profile-bookings.ts';

/** One version of a reservation whose guests get profiles. */
export interface ReservationVersion {
  readonly id: string;
  readonly version: number;
  readonly guests: Reservation['guests'];
}

/** What a guest's own event states, for a reservation that is older and arrived later. */
export interface LateBooking {
  readonly id: string;
  readonly guest: Guest;
  readonly profileId: string;
  readonly update: GuestUpdate;
  readonly source: Source;
  readonly at: EpochMs;
  /** The number of the event: the booking gets the claim that the event would have made. */
  readonly seq?: number | undefined;
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
    seq: number;
    newest: { version: number; data: string };
    made: string | null;
  }>(
    `select t.n::int - 1 as n, e.version, array(select json_object_keys(e.origins)) as fields,
            (extract(epoch from e.effective_at) * 1000)::float8 as ms, e.seq,
            json_build_object('version', r.version, 'data', r.data::text) as newest, ${versionsAfter('e', 'e.version')} as made
       from unnest($2::text[], $3::float8[]) with ordinality as t (id, ms, n)
       join history e on e.integration = $1 and e.id = t.id and e.type = 'guest'
                     and e.diff is not null and e.origins is not null and e.effective_at > to_timestamp(t.ms / 1000)
       join records r on r.integration = $1 and r.id = t.id and r.type = 'guest'
      order by e.effective_at, e.seq`,
    [integration, ...columnsOf(older, 'profileId', 'at')],
  );
  return rows.flatMap(({ n, version, fields, ms, seq, newest, made }) => {
    const one = older[n];
    const text = versionOf(version, newest, made);
    const present = new Set(fields.filter((field) => field !== 'marketing_consent'));
    if (one === undefined || text === undefined || present.size === 0) return [];
    return [{ ...one, update: { guest: decodeRecord('guest', text), present }, source: 'guest', at: ms, seq }];
  });
}

/** A decision about a person's consent that some of the bookings do not show yet. */
export type DecidedConsent = Omit<OlderGuest, 'id'> & { readonly value: boolean };

/** What was decided about persons, for those of their bookings that read otherwise: yes of somebody who refused, or no by an earlier decision. */
export async function undecidedBookings(
  tx: Tx,
  integration: string,
  decided: readonly DecidedConsent[],
): Promise<readonly LateBooking[]> {
  if (decided.length === 0) return [];
  const rows = await rowsOf(tx)<{ id: string; profileId: string }>(
    `select r.id, p.id as "profileId" from unnest($2::text[], $3::boolean[]) as p (id, value)
      cross join lateral (${bookingsWith('p.id')}) b
       join records r on r.integration = $1 and r.type = 'reservation' and r.id = b.reservation_id and r.version > 0
      where case when p.value then r.claims -> 'profile' is not null and r.data::text like '%"marketing_consent":false%'
                 else r.data::text like '%"marketing_consent":true%' end
      order by r.id`,
    [integration, ...columnsOf(decided, 'profileId', 'value')],
  );
  return rows.flatMap(({ id, profileId }) => {
    const of = decided.find((one) => one.profileId === profileId);
    return of === undefined ? [] : [{ ...of, id, update: of.value ? agreement : withdrawal, source: 'profile' }];
  });
}

export const statedBy = ({ marketing_consent: value }: Guest, at: EpochMs, booking?: string): Consent | undefined =>
  value === undefined ? undefined : { value, source: 'pull', at, ...(booking !== undefined && { booking }) };

/** The source and time of the guests' consent in these reservations, if the stored version is still the same. */
export async function readConsents(
  tx: Tx,
  integration: string,
  reservations: readonly ReservationVersion[],
): Promise<{ of(met: { readonly from: ReservationVersion; readonly place: number }): Consent | undefined }> {
  const stated = reservations.filter(({ guests }) => guests.some((guest) => guest.marketing_consent !== undefined));
  if (stated.length === 0) return { of: () => undefined };
  const { rows } = await tx.query<{
    id: string;
    version: number;
    data: string;
    claims: StoredClaims | null;
    ms: number;
    seq: number;
  }>(
    `select r.id, r.version, r.data::text as data, r.claims, (extract(epoch from r.effective_at) * 1000)::float8 as ms, r.seq
       from unnest($2::text[], $3::int[]) as t (id, version)
       join records r on r.integration = $1 and r.type = 'reservation' and r.id = t.id and r.version = t.version
      where r.id = any($2::text[])`,
    [integration, ...columnsOf(stated, 'id', 'version')],
  );
  const consents = new Map(
    rows.map(({ id, version, data, claims, ms, seq }) => [
      `${id} ${version}`,
      consentsIn(decodeRecord('reservation', data), claims ?? undefined, [ms, seq], true).map(
        (one) => one && ofBooking(one, id),
      ),
    ]),
  );
  return { of: ({ from: { id, version }, place }) => consents.get(`${id} ${version}`)?.[place] };
}

/** When these versions were stated, by id and version; none whose entry is past its retention. */
export async function effectiveTimes(
  tx: Tx,
  integration: string,
  reservations: readonly Pick<ReservationVersion, 'id' | 'version'>[],
): Promise<Map<string, { readonly at: Time; readonly isAgain: boolean }>> {
  const { rows } = await tx.query<{ id: string; version: number; ms: number; seq: number; isAgain: boolean }>(
    `select r.id, r.version, (extract(epoch from r.effective_at) * 1000)::float8 as ms, r.seq, r.cause = 'reprocess' as "isAgain"
       from unnest($2::text[], $3::int[]) as t (id, version)
       join history r on r.integration = $1 and r.type = 'reservation' and r.id = t.id and r.version = t.version
      where r.id = any($2::text[]) and r.diff is not null`,
    [integration, ...columnsOf(reservations, 'id', 'version')],
  );
  return new Map(rows.map(({ id, version, ms, seq, isAgain }) => [`${id} ${version}`, { at: [ms, seq], isAgain }]));
}
