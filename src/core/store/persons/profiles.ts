import type { EpochMs } from '../../../terms.ts';
import type { Brand } from '../../brand/brand.ts';
import type { Guest } from '../../canonical/reservation.ts';
import { guestKeys, keyTexts } from '../../persons/identifiers.ts';
import { ProfileIndex } from '../../persons/profile-index.ts';
import { samePerson } from '../../persons/same-person.ts';
import { type Consent, newerConsent } from '../../reconcile/consent.ts';
import { isNewer, type Time } from '../../reconcile/content.ts';
import type { RecordState, Statement } from '../../reconcile/forms.ts';
import {
  type AlikeProfile,
  aboutProfile,
  chooseProfile,
  equalGuests,
  statedAt,
  statedFor,
  type TimedGuest,
  withConsent,
} from '../../reconcile/profile.ts';
import { type Pool, type Tx, transaction } from '../db/pool.ts';
import { ingest } from '../records/ingest.ts';
import { updateStates } from '../records/write.ts';
import { mergeInto } from './edit-profiles.ts';
import { addPairs, bookingsOf, bookingsWith, linkBookings, type ProfilePair } from './profile-bookings.ts';
import { fromReservations } from './profile-edit.ts';
import { lockProfiles, type Profile, profileIds, profilesById, profilesLike } from './profile-lookup.ts';
import {
  type DecidedConsent,
  effectiveTimes,
  type LateBooking,
  lateBookings,
  type OlderGuest,
  type ReservationVersion,
  readConsents,
  statedBy,
  undecidedBookings,
} from './stated.ts';

/** A guest of a reservation version, with the time of the version. */
interface Met {
  readonly guest: Guest;
  readonly place: number;
  readonly from: ReservationVersion;
  readonly at: Time;
  /** The version was made by processing a message again. */
  readonly isAgain: boolean;
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
    const bookings = await bookingsOf(tx, integration, reservations);
    const guests = met.map(({ guest }) => guest);
    const profiles = new ProfileIndex(await profilesLike(tx, integration, guests, bookings.profileIds));
    const newId = await profileIds(tx, integration, guests);
    const made = new Made();
    for (const one of met) {
      const { guest, from, at, isAgain } = one;
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
      const stated = consents.of(one) ?? statedBy(guest, at[0], from.id);
      const consent = newerConsent(known?.consent, stated);
      const last = decisionFor(guest, known?.consent, consent, stated?.at ?? at[0]);
      if (last !== undefined) {
        const { value, at: statedAt, source } = last;
        const update = {
          guest: value === null ? {} : { marketing_consent: value },
          present: new Set(['marketing_consent']),
        };
        made.late.push({ id: from.id, guest, profileId: id, update, source, at: statedAt });
      }
      // A booking under another key of a merged profile keeps it.
      const isPinned = keyTexts(guest).some((key) => known?.pins?.has(key));
      if (known && isNewer(known.time, at) && !isPinned)
        made.older.push({ id: from.id, guest, profileId: id, at: at[0] });
      const decided = consent?.value ?? null;
      if (consent && decided !== null && (known?.consent?.value ?? decided) !== decided)
        made.decided.push({ profileId: id, guest, at: consent.until ?? consent.at, value: decided });
      const fallback =
        isAgain && known ? await fromReservations(tx, integration, keyTexts(known.guest), []) : undefined;
      profiles.set(made.next(one, { id, known, guest: choice.guest, consent, fallback: fallback?.guest }));
    }
    if (made.statements.length > 0) await ingest(tx, target, made.statements);
    const restated = [...made.restated].map(([id, state]) => ({ statement: { type: 'guest' as const, id }, state }));
    if (restated.length > 0) await updateStates(tx, integration, restated);
    await linkBookings(tx, integration, made.links(bookings.has));
    await addPairs(tx, integration, made.pairs);
    await joinProfiles(tx, target, made.joins);
    const decided = await undecidedBookings(tx, integration, made.decided);
    return byMessage([...made.late, ...decided, ...(await lateBookings(tx, integration, made.older))]);
  });
}

/** What one message says about a guest of a booking is one statement. */
function byMessage(all: readonly LateBooking[]): readonly LateBooking[] {
  const groups = Map.groupBy(all, ({ id, profileId, at }) => JSON.stringify([id, profileId, at])).values();
  return [...groups].flatMap((group) => {
    const [one] = group;
    if (one === undefined || group.length === 1) return group;
    const guest: Guest = Object.assign({}, ...group.map(({ update }) => update.guest));
    const present = new Set(group.flatMap(({ update }) => [...update.present]));
    const seq = group.find((each) => each.seq !== undefined)?.seq;
    return [{ ...one, update: { guest, present }, seq }];
  });
}

/**
 * What a booking does not know of its guest's consent: what the guest said after it, or a no that counts although the booking says yes. Who
 * comes back to a booking after a no reads no, whatever its row repeats.
 */
function decisionFor(
  { marketing_consent: value }: Guest,
  known: Consent | undefined,
  consent: Consent | undefined,
  statedAt: EpochMs,
): Pick<Consent, 'value' | 'at' | 'source'> | undefined {
  const own = known?.own;
  if (own && own.at > statedAt && own.value !== (value ?? null)) return { ...own, source: 'guest' };
  if (value !== true || consent?.value !== false) return undefined;
  return { value: false, at: consent.until ?? consent.at, source: 'profile' };
}

/** The profile of a guest as it is known, and what the guest makes of it. */
interface Choice extends Pick<Profile, 'id' | 'guest'> {
  readonly known: Profile | undefined;
  readonly consent: Consent | undefined;
  /** Of a version that was made by processing a message again: what the guest's bookings say now. */
  readonly fallback: Guest | undefined;
}

/** What a batch writes. */
class Made {
  readonly statements: Statement[] = [];
  readonly restated = new Map<string, RecordState>();
  readonly late: LateBooking[] = [];
  readonly older: OlderGuest[] = [];
  /** Whose consent is decided otherwise since this batch. */
  readonly decided: DecidedConsent[] = [];
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

  /** The profile after this guest, who may be older than it. */
  next({ from, at }: Met, { id, known, guest, consent, fallback }: Choice): Profile {
    const present = known && statedFor(known.guest, guest);
    const folded = known && present ? statedAt(known, guest, present, at, fallback) : { guest, time: at };
    const record = withConsent(folded.guest, consent);
    const { version = 0, pins } = known ?? {};
    const isSame = known !== undefined && equalGuests(known.guest, record);
    const { time, times }: TimedGuest = isSame ? known : folded;
    const profile = { id, version, guest: record, time, times, consent, ...(pins && { pins }) };
    if (isSame) {
      // A repeated consent changes only its time, which decides against a statement that arrives late.
      const isRestated = consent !== undefined && consent !== known.consent;
      if (isRestated) this.restated.set(id, { time, claims: { consent, ...(times && { times }) } });
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
    this.statements.push(
      aboutProfile(id, arrival, { record: known ? guest : record, raw, consent, present, fallback }),
    );
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
      const time = times.get(`${from.id} ${from.version}`);
      const list = time === undefined ? [] : from.guests.map((guest, place) => ({ guest, place, from, ...time }));
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

const byTime = (a: Time, b: Time): number => (isNewer(b, a) ? -1 : isNewer(a, b) ? 1 : 0);

/**
 * Merges profiles that a guest showed to be one person: one booking had the phone only, another one the e-mail address, and a third one has
 * both. So it does not matter which of them arrives first. An operator can undo it like any merge.
 */
async function joinProfiles(
  tx: Tx,
  target: Brand,
  pairs: readonly { readonly kept: string; readonly other: string }[],
): Promise<void> {
  const merged = new Set<string>();
  for (const { kept: into, other: from } of pairs) {
    if (merged.has(into) || merged.has(from)) continue;
    const profiles = await profilesById(tx, target.integration, [into, from]);
    const [kept, other] = [into, from].map((id) => profiles.find((one) => one.id === id));
    if (kept === undefined || other === undefined || samePerson(kept.guest, other.guest).is === 'different') continue;
    if ((await pairsOfTwo(tx, target.integration, [kept, other])).length > 0) continue;
    const at = Math.max(kept.time[0], other.time[0]);
    await mergeInto(tx, target, other, kept, 'A booking with the addresses of both', at);
    merged.add(from);
  }
}

/** Which of these profiles are two persons: two elements of one list are, and two of which an operator said so. */
async function pairsOfTwo(tx: Tx, integration: string, profiles: readonly Profile[]): Promise<Set<Guest>[]> {
  const { rows } = await tx.query<{ pair: string[] }>(
    `select array[a, b] as pair from unnest($2::text[]) a join unnest($2::text[]) b on a < b
      where exists ((${bookingsWith('a')}) intersect (${bookingsWith('b')}))
         or exists (select from profile_pairs where integration = $1 and one = a and other = b and different_since is not null)`,
    [integration, profiles.map(({ id }) => id)],
  );
  return rows.map(({ pair }) => new Set(profiles.filter(({ id }) => pair.includes(id)).map(({ guest }) => guest)));
}
