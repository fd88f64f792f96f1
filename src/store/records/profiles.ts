import type { Guest, Reservation } from '../../canonical/reservation.ts';
import { type Consent, consentsIn, newerConsent } from '../../reconcile/consent.ts';
import { type Candidate, guestKeys, keyText } from '../../reconcile/guest-match.ts';
import type { Prepared } from '../../reconcile/incoming.ts';
import { chooseProfile, equalGuests, identifiable, withConsent } from '../../reconcile/profile.ts';
import { ProfileIndex } from '../../reconcile/profile-index.ts';
import { isOlder } from '../../reconcile/reconcile.ts';
import type { StoredViews } from '../../reconcile/said.ts';
import type { EpochMs } from '../../terms.ts';
import { type Pool, type Tx, transaction } from '../db/pool.ts';
import { type ApplyTarget, applyPrepared } from './apply.ts';
import { lockProfiles, profilesByKeys } from './profile-lookup.ts';
import { moveSaid, type SaidState } from './said-state.ts';
import { readReservation } from './stored-record.ts';

/** One version of a reservation whose guests get profiles. */
export interface ReservationVersion {
  readonly id: string;
  readonly version: number;
  readonly guests: Reservation['guests'];
}

/** A reservation that is older than what its guest's own event states about consent. */
export interface LateBooking {
  readonly id: string;
  readonly profile: Candidate;
  readonly consent: NonNullable<Consent['own']>;
}

/**
 * Merges the guests of these reservations into the profiles of their brand, in one transaction. Batches of a brand are serialized,
 * so that a new guest gets one profile. If the profile already has all values of a guest, nothing is written. Returns the profiles whose
 * guest stated another consent after these reservations, although the reservations arrived later.
 */
export async function assembleProfiles(
  pool: Pool,
  target: ApplyTarget,
  reservations: readonly ReservationVersion[],
  newId: (guest: Guest) => string | undefined,
): Promise<readonly LateBooking[]> {
  const met = reservations.flatMap((one) => identifiable(one).map((guest) => ({ guest, from: one })));
  if (met.length === 0) return [];
  return transaction(pool, async (tx) => {
    await lockProfiles(tx, target.integration);
    const times = await effectiveTimes(tx, target.integration, reservations);
    const consents = await readConsents(tx, target.integration, reservations);
    const keys = met.flatMap(({ guest }) => guestKeys(guest));
    const profiles = new ProfileIndex(await profilesByKeys(tx, target.integration, keys));
    const prepared: Prepared[] = [];
    const restated = new Map<string, SaidState>();
    const late: LateBooking[] = [];
    const inOrder = met
      .map((one) => ({ ...one, at: times.get(`${one.from.id} ${one.from.version}`) }))
      .filter((one) => one.at !== undefined)
      .sort((a, b) => (a.at && b.at ? byTime(a.at, b.at) : 0));
    for (const { guest, from, at } of inOrder) {
      if (at === undefined) continue;
      const choice = chooseProfile(guest, profiles.sharing(guest));
      if (choice.kind === 'none') continue;
      const id = choice.kind === 'known' ? choice.id : newId(guest);
      const known = id === undefined ? undefined : profiles.get(id);
      const stated = consents.of(from, guest) ?? statedAt(guest, at.effectiveAt);
      const consent = newerConsent(known?.consent, stated);
      if (id === undefined) continue;
      const own = known?.consent?.own;
      if (own && own.at > (stated?.at ?? at.effectiveAt) && own.value !== (guest.marketing_consent ?? null)) {
        late.push({ id: from.id, profile: known, consent: own });
      }
      const isLate = known !== undefined && isOlder(at, known);
      const record = withConsent(isLate ? known.guest : choice.guest, consent);
      const { version = 0, pins } = known ?? {};
      const isSame = known !== undefined && equalGuests(known.guest, record);
      const { effectiveAt, seq } = isLate || isSame ? known : at;
      profiles.set({ id, version, guest: record, effectiveAt, seq, consent, ...(pins && { pins }) });
      if (isSame) {
        // A repeated consent changes only its time, which decides against a statement that arrives late.
        const isRestated = consent !== undefined && consent !== known.consent;
        if (isRestated) restated.set(id, { effectiveAt, seq, said: { consent }, pulledHash: undefined });
        continue;
      }
      restated.delete(id);
      prepared.push({
        kind: 'record',
        arrival: { mode: 'pull', ...at, cause: 'guest', causeId: `reservation ${from.id}` },
        incoming: {
          type: 'guest',
          id,
          record,
          raw: { reservation_id: from.id, version: from.version },
          notes: [],
          origins: () => ({}),
          ...(consent && { consent }),
        },
      });
    }
    if (prepared.length > 0) await applyPrepared(tx, target, prepared);
    if (restated.size > 0) await moveSaid(tx, target.integration, 'guest', restated);
    return late;
  });
}

const byTime = (a: Moment, b: Moment): number => (isOlder(a, b) ? -1 : isOlder(b, a) ? 1 : 0);

interface Moment {
  readonly effectiveAt: EpochMs;
  readonly seq: number;
}

const statedAt = ({ marketing_consent: value }: Guest, at: EpochMs): Consent | undefined =>
  value === undefined ? undefined : { value, source: 'pull', at };

/** The source and time of the guests' consent in these reservations, if the stored version is still the same. */
async function readConsents(
  tx: Tx,
  integration: string,
  reservations: readonly ReservationVersion[],
): Promise<{ of(from: ReservationVersion, guest: Guest): Consent | undefined }> {
  const stated = reservations.filter(({ guests }) => guests.some((guest) => guest.marketing_consent !== undefined));
  if (stated.length === 0) return { of: () => undefined };
  const { rows } = await tx.query<{
    id: string;
    version: number;
    data: string;
    said: StoredViews | null;
    ms: number;
    seq: number;
  }>(
    `select r.id, r.version, r.data::text as data, r.said, (extract(epoch from r.effective_at) * 1000)::float8 as ms, r.seq
       from unnest($2::text[], $3::int[]) as t (id, version)
       join records r on r.integration = $1 and r.type = 'reservation' and r.id = t.id and r.version = t.version
      where r.id = any($2::text[])`,
    [integration, stated.map(({ id }) => id), stated.map(({ version }) => version)],
  );
  const found = new Map(
    rows.map(({ id, version, data, said, ms, seq }) => {
      const record = readReservation(data);
      return [`${id} ${version}`, { record, consents: consentsIn(record, said ?? undefined, [ms, seq]) }];
    }),
  );
  return {
    of({ id, version }, guest) {
      const stored = found.get(`${id} ${version}`);
      const place = stored?.record.guests.findIndex((one) => sharesKey(one, guest)) ?? -1;
      return stored?.consents[place];
    },
  };
}

function sharesKey(a: Guest, b: Guest): boolean {
  const keys = new Set(guestKeys(a).map(keyText));
  return guestKeys(b).some((key) => keys.has(keyText(key)));
}

/** When these versions were stated, by id and version; none whose receipt is past its retention. */
export async function effectiveTimes(
  tx: Tx,
  integration: string,
  reservations: readonly Pick<ReservationVersion, 'id' | 'version'>[],
): Promise<Map<string, Moment>> {
  const { rows } = await tx.query<{ id: string; version: number; ms: number; seq: number }>(
    `select c.id, c.version, (extract(epoch from r.effective_at) * 1000)::float8 as ms, r.seq
       from unnest($2::text[], $3::int[]) as t (id, version)
       join changes c on c.integration = $1 and c.type = 'reservation' and c.id = t.id and c.version = t.version
       join receipts r on r.integration = c.integration and r.receipt_id = c.receipt_id
      where c.id = any($2::text[])`,
    [integration, reservations.map(({ id }) => id), reservations.map(({ version }) => version)],
  );
  return new Map(rows.map(({ id, version, ms, seq }) => [`${id} ${version}`, { effectiveAt: ms, seq }]));
}
