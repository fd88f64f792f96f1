import { type Guest, type Reservation, recordText } from '../../../core/canonical/reservation.ts';
import { claimsWithout } from '../../../core/reconcile/claims-without.ts';
import { difference } from '../../../core/reconcile/difference.ts';
import { aboutRecord } from '../../../core/reconcile/profile.ts';
import type { StoredClaims } from '../../../core/reconcile/stored-claims.ts';
import { columnsOf } from '../../../core/store/db/columns.ts';
import { changed, rowsOf, type Tx, together } from '../../../core/store/db/pool.ts';
import { erasureLock, keepIdentifiers } from '../../../core/store/erasure/erased.ts';
import { enqueue } from '../../../core/store/outbox/enqueue.ts';
import { writeHistory } from '../../../core/store/records/history.ts';
import { anyKey, keyedRecords } from '../../../core/store/records/search-keys.ts';
import { type ChangeStep, type Target, writeRecords } from '../../../core/store/records/write.ts';
import type { Keyring } from '../../../kit/crypto.ts';
import { jsonbText, parseJson } from '../../../kit/json.ts';
import type { Json } from '../../../terms.ts';
import type { Person } from '../../privacy/person.ts';
import { type FoundRecord, findRecords } from './find.ts';

/** What an erasure needs besides the person. */
interface EraseRules {
  readonly keyring: Keyring;
  readonly strip: (
    reservation: Reservation,
    isErased: (guest: Guest) => boolean,
    known: readonly Guest[],
  ) => Reservation;
  /** Hashes (hex) to keep for a guest that was found, so that the guest is not stored again. */
  readonly remember: (guest: Guest, integration: string, reservationId: string | undefined) => readonly string[];
}

export interface PersonErasure {
  readonly erasureId: string;
  readonly person: Person;
  readonly integration?: string | undefined;
  /** Hashes (hex) of the keys in the request. */
  readonly hashes: readonly string[];
  /** It will be rolled back, so intake need not wait for it. */
  readonly isPreview?: boolean;
}

/**
 * Removes a person from every record and from every version of it, and keeps hashes so that the person is not stored again. Excludes
 * intake: batches in progress finish before it, later ones find the hashes. The long search through all versions comes before that;
 * what intake stores meanwhile is found by a second, short search.
 */
export async function eraseFromRecords(
  tx: Tx,
  { erasureId, person, integration, hashes, isPreview = false }: PersonErasure,
  rules: EraseRules,
  targetOf: (integration: string) => Target,
): Promise<{ readonly records: readonly FoundRecord[]; readonly versions: number; readonly receipts: number }> {
  const earlier = await findRecords(tx, person, { integration });
  if (!isPreview) await tx.query(`select pg_advisory_xact_lock(${erasureLock})`);
  const records = await findRecords(tx, person, { integration, earlier, locks: true });
  const identities = records.flatMap(({ meant, integration: brand, type, id }) =>
    [...meant].flatMap((guest) => rules.remember(guest, brand, type === 'reservation' ? id : undefined)),
  );
  await remember(tx, erasureId, [...new Set([...hashes, ...identities])]);
  for (const brand of new Set(records.map((record) => record.integration))) {
    const mine = records.filter((record) => record.integration === brand);
    await rewriteNewest(tx, targetOf(brand), mine, { erasureId, person, rules });
  }
  await deleteHeldWhole(tx, person, integration);
  await removeProfiles(tx, records);
  const versions = await rewriteVersions(tx, records, rules);
  const receipts = await emptyEntries(tx, records, erasureId);
  return { records, versions, receipts };
}

/** Bookings that are held as a whole and have one of the person's keys: nothing of them was delivered, so they are deleted. */
async function deleteHeldWhole(tx: Tx, person: Person, integration: string | undefined): Promise<void> {
  const keys = person.lookups().map(({ key }) => key);
  const deleted = await rowsOf(tx)<{ integration: string; id: string }>(
    `delete from records r using ${keyedRecords('$1')} k
      where r.integration = k.integration and r.type = k.type and r.id = k.id and r.version = 0
        and ($2::text is null or r.integration = $2)
     returning r.integration, r.id`,
    [anyKey('reservation', keys), integration],
  );
  if (deleted.length === 0) return;
  await tx.query(
    `update history h set raw = null, notes = '[]' from unnest($1::text[], $2::text[]) as t (integration, id)
      where h.integration = t.integration and h.id = t.id and h.type = 'reservation'`,
    columnsOf(deleted, 'integration', 'id'),
  );
}

async function remember(tx: Tx, erasureId: string, hashes: readonly string[]): Promise<void> {
  await tx.query(
    `insert into erased_guests (hash, erasure_id) select decode(h, 'hex'), $1 from unnest($2::text[]) as h on conflict do nothing`,
    [erasureId, hashes],
  );
}

interface Erasure extends Pick<PersonErasure, 'erasureId' | 'person'> {
  readonly rules: EraseRules;
}

/** Writes the newest state without the person as a new version, so that destinations are notified whom to erase. */
async function rewriteNewest(tx: Tx, target: Target, records: readonly FoundRecord[], erasure: Erasure): Promise<void> {
  const steps = records.map((record) => erasedStep(record, erasure));
  await together([
    writeHistory(tx, target, steps),
    writeRecords(tx, target, steps, () => true),
    enqueue(tx, target, steps),
  ]);
  const kept = records.map((record) => ({
    ...record,
    version: record.version + 1,
    identifiers: identifiersOf(record),
  }));
  await keepIdentifiers(tx, erasure.rules.keyring, kept);
}

function erasedStep(one: FoundRecord, { erasureId, person, rules }: Erasure): ChangeStep {
  const { type, id, time } = one;
  const [effectiveAt, seq] = time;
  const record = stripped(one.record, one, rules);
  const isErased = (guest: Guest) => one.meant.has(guest) || person.isMeant(guest, one.integration);
  const arrival = { mode: 'pull', effectiveAt, seq, cause: 'erasure', causeId: erasureId } as const;
  return {
    statement: aboutRecord(type, id, arrival),
    stored: undefined,
    decision: {
      kind: 'change',
      event: 'erased',
      version: one.version + 1,
      record,
      text: recordText(record),
      state: { time, claims: claimsKeptWithout(one, record, isErased) },
      diff: [],
      notes: [],
      reason: 'A guest was erased.',
    },
  };
}

/** The sources' statements without the person; a profile keeps none. */
function claimsKeptWithout(
  { type, claims, record: was, named, time }: FoundRecord,
  record: Reservation | Guest,
  isErased: (guest: Guest) => boolean,
): StoredClaims | undefined {
  if (type === 'guest' || claims === undefined) return undefined;
  return claimsWithout(claims, was as Reservation, time, isErased, named, 'extra' in record);
}

const identifying = ['first_name', 'last_name', 'guest_id', 'email', 'phone'] as const;
/** They name the person in texts, but are no address to erase by. */
const naming = ['email_raw', 'phone_raw', 'document_number'] as const;

/**
 * Everything that identified the person in any version: a destination may still hold an older address. One entry for each set of
 * identifiers, because a destination may send a request for each. Other keys that texts may hold come with the first set.
 */
function identifiersOf({ meant, named }: FoundRecord): Json {
  const sets = Map.groupBy(meant, (guest) => JSON.stringify(chosen(guest, identifying)));
  if (sets.size === 0) sets.set('{}', []);
  const inTexts = named.filter((guest) => !meant.has(guest)).map(asText);
  return [...sets].flatMap(([identifiers, alike], index) => {
    const all = index === 0 ? [...alike, ...inTexts] : alike;
    const names = naming.map((field) => [...new Set(all.flatMap((guest) => guest[field] ?? []))]);
    return Array.from({ length: Math.max(1, ...names.map(({ length }) => length)) }, (_, i) => ({
      ...JSON.parse(identifiers),
      ...Object.fromEntries(naming.flatMap((field, n) => (names[n]?.[i] === undefined ? [] : [[field, names[n][i]]]))),
    }));
  });
}

/** To be found in texts only: relatives may share an address or number. */
const asText = ({ email, phone, document_number }: Guest): Guest => ({
  ...(email !== undefined && { email_raw: email }),
  ...(phone !== undefined && { phone_raw: phone }),
  ...(document_number !== undefined && { document_number }),
});

const chosen = (guest: Guest, fields: readonly (keyof Guest)[]): Partial<Guest> =>
  Object.fromEntries(fields.flatMap((field) => (guest[field] === undefined ? [] : [[field, guest[field]]])));

function stripped(
  record: Reservation | Guest,
  { type, meant, named }: Pick<FoundRecord, 'type' | 'meant' | 'named'>,
  rules: EraseRules,
): Reservation | Guest {
  if (type === 'guest') return meant.has(record as Guest) ? {} : record;
  return rules.strip(record as Reservation, (guest) => meant.has(guest), named);
}

/** The bookings, pairs and keys of the person's profiles, also of those that were merged into them. */
async function removeProfiles(tx: Tx, records: readonly FoundRecord[]): Promise<void> {
  const profiles = records.filter(({ type }) => type === 'guest');
  const ids = columnsOf(profiles, 'integration', 'id');
  const remove = (table: string, columns: string) =>
    tx.query(
      `with own as (select * from unnest($1::text[], $2::text[]) as t (integration, id)),
            t as (table own union select m.integration, m.merged_from from profile_pins m
                   join own on m.integration = own.integration and m.profile_id = own.id)
       delete from ${table} p using t where p.integration = t.integration and t.id in (${columns})`,
      ids,
    );
  await remove('profile_bookings', 'p.profile_id');
  await remove('profile_pairs', 'p.one, p.other');
  await remove('profile_pins', 'p.profile_id');
}

/** Every kept version, delivered or queued: what leads from one to the next, without the person. */
async function rewriteVersions(tx: Tx, records: readonly FoundRecord[], rules: EraseRules): Promise<number> {
  let count = 0;
  for (const stored of records) {
    let before: Json | undefined;
    for (const { version, record } of stored.versions) {
      const after = parseJson(jsonbText(recordText(stripped(record, stored, rules))));
      // Nothing can be read before the first version that the history leads back to.
      const diff = before === undefined ? [] : difference(before, after);
      count += await changed(tx)(
        `update history set diff = $5::json where integration = $1 and type = $2 and id = $3 and version = $4 and diff is not null`,
        [stored.integration, stored.type, stored.id, version, JSON.stringify(diff)],
      );
      before = after;
    }
  }
  // A text in them may name the person. They are taken from the history again.
  await tx.query(
    `delete from stays s using unnest($1::text[], $2::text[]) as t (integration, id) where s.integration = t.integration and s.id = t.id`,
    columnsOf(records, 'integration', 'id'),
  );
  return count;
}

const emptyEntries = (tx: Tx, records: readonly FoundRecord[], erasureId: string): Promise<number> =>
  changed(tx)(
    `update history r set raw = null, origins = null,
            notes = coalesce((select json_agg(json_build_array(n -> 0, n -> 1, null, null, n -> 4)) from json_array_elements(r.notes) as n
                               where r.type = 'reservation' and n ->> 1 not like all('{guests%,charges%,extra%}')), '[]')
       from unnest($1::text[], $2::text[], $3::text[]) as t (integration, type, id)
      where r.integration = t.integration and r.type = t.type and r.id = t.id and r.cause_id <> $4`,
    [...columnsOf(records, 'integration', 'type', 'id'), erasureId],
  );
