import type { Brand } from '../../brand/brand.ts';
import { decodeRecord } from '../../canonical/encode.ts';
import type { Guest, Reservation } from '../../canonical/reservation.ts';
import { guestKeys, keyTexts } from '../../persons/identifiers.ts';
import { ProfileIndex } from '../../persons/profile-index.ts';
import { type Consent, newerConsent } from '../../reconcile/consent.ts';
import type { RecordState, Statement } from '../../reconcile/forms.ts';
import { type AlikeProfile, aboutProfile, chooseProfile, equalGuests, withConsent } from '../../reconcile/profile.ts';
import { isNewer, type Moment } from '../../reconcile/says.ts';
import { consentsIn, type StoredViews } from '../../reconcile/stored-views.ts';
import type { EpochMs } from '../../terms.ts';
import { type Pool, type Tx, transaction } from '../db/pool.ts';
import { take } from '../records/take.ts';
import { updateStates } from '../records/write.ts';
import { joinProfiles, pairsOfTwo } from './join-profiles.ts';
import { type LateBooking, lateBookings, type OlderGuest } from './late-bookings.ts';
import { bookingsOf, linkBookings } from './profile-bookings.ts';
import { profileIds } from './profile-id.ts';
import { lockProfiles, type Profile, profilesLike } from './profile-lookup.ts';
import { addPairs, type ProfilePair } from './profile-pairs.ts';

/** One version of a reservation whose guests get profiles. */
export interface ReservationVersion {
  readonly id: string;
  readonly version: number;
  readonly guests: Reservation['guests'];
}

/** A guest of a reservation version, with the time of the version. */
interface Met {
  readonly guest: Guest;
  readonly place: number;
  readonly from: ReservationVersion;
  readonly at: Moment;
}

/**
 * Merges the guests of these reservations into the profiles of their brand, in one transaction. Batches of a brand are serialized,
 * so that a new guest gets one profile. If the profile already has all values of a guest, nothing is written. Returns what guests stated
 * after these reservations, although the reservations arrived later.
 */
export async function assembleProfiles(
  pool: Pool,
  target: Brand,
  reservations: readonly ReservationVersion[],
): Promise<readonly LateBooking[]> {
  const { integration } = target;
  if (reservations.every(({ guests }) => guests.every((guest) => guestKeys(guest).length === 0))) return [];
  return transaction(pool, async (tx) => {
    await lockProfiles(tx, integration);
    const met = await inOrder(tx, integration, reservations);
    const consents = await readConsents(tx, integration, reservations);
    const bookings = await bookingsOf(
      tx,
      integration,
      reservations.map(({ id }) => id),
    );
    const guests = met.map(({ guest }) => guest);
    const profiles = new ProfileIndex(await profilesLike(tx, integration, guests, bookings.profileIds));
    const newId = await profileIds(tx, integration, guests);
    const made = new Made();
    for (const one of met) {
      const { guest, from, at } = one;
      const candidates = [...profiles.sharing(guest), ...bookings.of(from.id).flatMap((id) => profiles.get(id) ?? [])];
      // Two elements of one list are two persons.
      const free = [...new Set(candidates)].filter(({ id }) => !made.isUsed(from, id));
      const isOwn = (id: string) => bookings.has(from.id, id);
      const own = free.filter(({ id }) => isOwn(id));
      const list = othersAt(guest, from.guests);
      let choice = chooseProfile(guest, free, isOwn, [list]);
      if (choice.kind === 'known' && choice.others.length > 0) {
        await linkBookings(tx, integration, made.links(bookings.has));
        const two = await pairsOfTwo(tx, integration, [choice.profile, ...choice.others]);
        choice = chooseProfile(guest, free, isOwn, [list, ...two]);
      }
      // Where nothing tells the persons of a booking apart, it keeps its profiles.
      const kept = choice.kind === 'new' ? chooseProfile(guest, own, isOwn) : choice;
      if (kept.kind === 'known') choice = kept;
      if (choice.kind === 'none') continue;
      const known = choice.kind === 'known' ? choice.profile : undefined;
      const id = known?.id ?? (await newId(guest));
      if (id === undefined) continue;
      made.use(from, id, choice.kind === 'new' ? choice.alike : []);
      if (choice.kind === 'known') made.joins.push(...choice.others.map((other) => ({ kept: id, other: other.id })));
      const stated = consents.of(one) ?? statedBy(guest, at[0]);
      const consent = newerConsent(known?.consent, stated);
      const last = known?.consent?.own;
      if (last && last.at > (stated?.at ?? at[0]) && last.value !== (guest.marketing_consent ?? null)) {
        const { value, source, at: statedAt } = last;
        const update = {
          guest: value === null ? {} : { marketing_consent: value },
          present: new Set(['marketing_consent']),
        };
        made.late.push({ id: from.id, guest, profileId: id, update, source, at: statedAt });
      }
      // A booking under another key of a merged profile keeps it.
      const isPinned = keyTexts(guest).some((key) => known?.pins?.has(key));
      if (known && isNewer(known.moment, at) && !isPinned)
        made.older.push({ id: from.id, guest, profileId: id, at: at[0] });
      profiles.set(made.next(one, { id, known, guest: choice.guest, consent }));
    }
    if (made.statements.length > 0) await take(tx, target, made.statements);
    const restated = [...made.restated].map(([id, state]) => ({ statement: { type: 'guest' as const, id }, state }));
    if (restated.length > 0) await updateStates(tx, integration, restated);
    await linkBookings(tx, integration, made.links(bookings.has));
    await addPairs(tx, integration, made.pairs);
    await joinProfiles(tx, target, made.joins);
    return [...made.late, ...(await lateBookings(tx, integration, made.older))];
  });
}

/** The profile of a guest as it is known, and what the guest makes of it. */
interface Choice extends Pick<Profile, 'id' | 'guest'> {
  readonly known: Profile | undefined;
  readonly consent: Consent | undefined;
}

/** What a batch writes. */
class Made {
  readonly statements: Statement[] = [];
  readonly restated = new Map<string, RecordState>();
  readonly late: LateBooking[] = [];
  readonly older: OlderGuest[] = [];
  readonly pairs: ProfilePair[] = [];
  readonly joins: { readonly kept: string; readonly other: string }[] = [];
  readonly #used = new Map<ReservationVersion, Set<string>>();

  isUsed(from: ReservationVersion, id: string): boolean {
    return this.#used.get(from)?.has(id) === true;
  }

  use(from: ReservationVersion, id: string, alike: readonly AlikeProfile[]): void {
    const ids = this.#used.get(from) ?? new Set();
    this.#used.set(from, ids.add(id));
    this.pairs.push(...alike.map((other) => ({ ids: [id, other.id] as const, evidence: other.evidence })));
  }

  /** The profile after this guest. A guest who is older than the profile only adds a consent. */
  next({ from, at }: Met, { id, known, guest, consent }: Choice): Profile {
    const isLate = known !== undefined && isNewer(known.moment, at);
    const record = withConsent(isLate ? known.guest : guest, consent);
    const { version = 0, pins } = known ?? {};
    const isSame = known !== undefined && equalGuests(known.guest, record);
    const moment = isLate || isSame ? known.moment : at;
    const profile = { id, version, guest: record, moment, consent, ...(pins && { pins }) };
    if (isSame) {
      // A repeated consent changes only its time, which decides against a statement that arrives late.
      const isRestated = consent !== undefined && consent !== known.consent;
      if (isRestated) this.restated.set(id, { moment, views: { consent } });
      return profile;
    }
    this.restated.delete(id);
    const arrival = {
      mode: 'pull',
      effectiveAt: at[0],
      seq: at[1],
      cause: 'guest',
      causeId: `reservation ${from.id}`,
    } as const;
    const raw = { key: id, value: { reservation_id: from.id, version: from.version } };
    this.statements.push(aboutProfile(id, arrival, { record, raw, consent }));
    return profile;
  }

  links(isKnown: (reservation: string, profile: string) => boolean) {
    return [...this.#used].flatMap(([{ id: reservation }, ids]) =>
      [...ids].filter((profile) => !isKnown(reservation, profile)).map((profile) => ({ reservation, profile })),
    );
  }
}

/**
 * The guests in the order in which they were stated, in a list those with the most keys first: the others may mean more of its profiles. None
 * of versions whose entry is past its retention.
 */
async function inOrder(tx: Tx, integration: string, reservations: readonly ReservationVersion[]): Promise<Met[]> {
  const times = await effectiveTimes(tx, integration, reservations);
  return reservations
    .flatMap((from) => {
      const at = times.get(`${from.id} ${from.version}`);
      const list = at === undefined ? [] : from.guests.map((guest, place) => ({ guest, place, from, at }));
      return list.sort((a, b) => guestKeys(b.guest).length - guestKeys(a.guest).length);
    })
    .sort((a, b) => byTime(a.at, b.at));
}

/** The guest, and others of the list at one of the guest's addresses. One with the same addresses may be a copy of the guest. */
function othersAt(guest: Guest, list: readonly Guest[]): Set<Guest> {
  const keys = keyTexts(guest);
  const isAtOne = (others: readonly string[]) => others.some((key) => keys.includes(key)) && `${others}` !== `${keys}`;
  return new Set([guest, ...list.filter((other) => isAtOne(keyTexts(other)))]);
}

const byTime = (a: Moment, b: Moment): number => (isNewer(b, a) ? -1 : isNewer(a, b) ? 1 : 0);

export const statedBy = ({ marketing_consent: value }: Guest, at: EpochMs): Consent | undefined =>
  value === undefined ? undefined : { value, source: 'pull', at };

/** The source and time of the guests' consent in these reservations, if the stored version is still the same. */
export async function readConsents(
  tx: Tx,
  integration: string,
  reservations: readonly ReservationVersion[],
): Promise<{ of(met: Pick<Met, 'from' | 'place'>): Consent | undefined }> {
  const stated = reservations.filter(({ guests }) => guests.some((guest) => guest.marketing_consent !== undefined));
  if (stated.length === 0) return { of: () => undefined };
  const { rows } = await tx.query<{
    id: string;
    version: number;
    data: string;
    views: StoredViews | null;
    ms: number;
    seq: number;
  }>(
    `select r.id, r.version, r.data::text as data, r.views, (extract(epoch from r.effective_at) * 1000)::float8 as ms, r.seq
       from unnest($2::text[], $3::int[]) as t (id, version)
       join records r on r.integration = $1 and r.type = 'reservation' and r.id = t.id and r.version = t.version
      where r.id = any($2::text[])`,
    [integration, stated.map(({ id }) => id), stated.map(({ version }) => version)],
  );
  const found = new Map(
    rows.map(({ id, version, data, views, ms, seq }) => [
      `${id} ${version}`,
      consentsIn(decodeRecord('reservation', data), views ?? undefined, [ms, seq]),
    ]),
  );
  return { of: ({ from: { id, version }, place }) => found.get(`${id} ${version}`)?.[place] };
}

/** When these versions were stated, by id and version; none whose entry is past its retention. */
export async function effectiveTimes(
  tx: Tx,
  integration: string,
  reservations: readonly Pick<ReservationVersion, 'id' | 'version'>[],
): Promise<Map<string, Moment>> {
  const { rows } = await tx.query<{ id: string; version: number; ms: number; seq: number }>(
    `select r.id, r.version, (extract(epoch from r.effective_at) * 1000)::float8 as ms, r.seq
       from unnest($2::text[], $3::int[]) as t (id, version)
       join history r on r.integration = $1 and r.type = 'reservation' and r.id = t.id and r.version = t.version
      where r.id = any($2::text[]) and r.diff is not null`,
    [integration, reservations.map(({ id }) => id), reservations.map(({ version }) => version)],
  );
  return new Map(rows.map(({ id, version, ms, seq }) => [`${id} ${version}`, [ms, seq]]));
}
