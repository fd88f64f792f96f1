import { mentions } from '../../../core/canonical/mentions.ts';
import { decodeRecord, type Guest, type Reservation } from '../../../core/canonical/reservation.ts';
import { statedGuest } from '../../../core/canonical/stated-guest.ts';
import type { Time } from '../../../core/reconcile/content.ts';
import { contentsIn, type StoredClaims } from '../../../core/reconcile/stored-claims.ts';
import { columnsOf } from '../../../core/store/db/columns.ts';
import type { Tx } from '../../../core/store/db/pool.ts';
import { anyKey, keyedRecords } from '../../../core/store/records/search-keys.ts';
import { versionsAfter, versionsBefore } from '../../../core/store/records/versions.ts';
import type { EntityType } from '../../../terms.ts';
import type { Person } from '../../privacy/person.ts';

/** A record that contains the person, or did in an earlier version, with all kept versions. */
export interface FoundRecord {
  readonly integration: string;
  readonly type: EntityType;
  readonly id: string;
  readonly version: number;
  readonly time: Time;
  /** A rule drops it now; see `removedContent`. */
  readonly record: Reservation | Guest;
  /** The claims of each source, stored beside the record. */
  readonly claims: StoredClaims | undefined;
  readonly versions: readonly {
    readonly version: number;
    readonly record: Reservation | Guest;
  }[];
  /** The guests of the record and its versions that are the person. */
  readonly meant: ReadonlySet<Guest>;
  /** What names the person in the texts of this record. */
  readonly named: readonly Guest[];
}

interface Search {
  readonly integration: string | undefined;
  /** What an earlier search of the same transaction found: this one reads these records and what was stored since then. */
  readonly earlier?: readonly FoundRecord[];
  readonly locks?: boolean;
}

/**
 * Finds every record of a person. A version of a booking may have another address of the person than the request, and that address may
 * lead to further bookings, so the search repeats until it finds nothing new. Without an earlier search it reads all versions once per
 * round: an erasure is rare and must be thorough. The store does not decide who is the same person: the privacy room does.
 */
export async function findRecords(tx: Tx, person: Person, search: Search): Promise<FoundRecord[]> {
  const records = new Map<string, Omit<FoundRecord, 'named'>>();
  let texts: Candidate[] = [];
  for (let isNews = true; isNews; ) {
    isNews = false;
    texts = [];
    for (const candidate of await readCandidates(tx, person, search)) {
      const versions = [
        ...candidate.versions.map((one) => guestsOf(one.record)),
        guestsOf(candidate.record),
        ...guestsInClaims(candidate.claims),
        ...guestsPinned(candidate),
      ];
      const among = person.among(versions, candidate.integration);
      // All versions of a profile are one person, whatever their address.
      const meant = candidate.type === 'guest' && among.size > 0 ? new Set(versions.flat()) : among;
      const key = `${candidate.integration} ${candidate.type} ${candidate.id}`;
      if (meant.size === 0) {
        if (isInTexts(candidate, person.requested())) texts.push(candidate);
        continue;
      }
      records.set(key, { ...candidate, meant });
      for (const guest of meant) if (person.absorb(guest, candidate.integration)) isNews = true;
    }
  }
  return [
    ...[...records.values()].map((one) => ({ ...one, named: [...one.meant, ...person.keys()] })),
    ...texts.map((one) => ({ ...one, meant: new Set<Guest>(), named: person.requested() })),
  ];
}

/** A booking of other guests may name the person in a text: who booked, whom to call. */
function isInTexts({ type, record, versions, claims = {} }: Candidate, named: readonly Guest[]): boolean {
  if (type === 'guest') return false;
  const records = [record, ...versions.map((one) => one.record)].map((one) => ({ ...one, guests: [] }));
  const ofSources = contentsIn(claims).map((said) => ({ ...said, lists: { ...said.lists, guests: [] } }));
  return [...records, ...ofSources].some((one) => mentions(JSON.stringify(one), named));
}

const guestsOf = (record: Reservation | Guest): readonly Guest[] =>
  'guests' in record ? record.guests : [record as Guest];

/** The guests as each source names them and knew them before, possibly with another address than the record has. */
const guestsInClaims = (claims: StoredClaims | undefined): (readonly Guest[])[] =>
  contentsIn(claims).flatMap(({ lists }) => {
    const items = lists.guests ?? [];
    return [items.map(({ values }) => statedGuest(values)), items.map(({ as = {} }) => statedGuest(as))];
  });

/** The person of a profile, by each key that an operator assigned to it. */
const guestsPinned = ({ record, pins }: Candidate): (readonly Guest[])[] =>
  pins.map((pin) => {
    const [kind = '', ...value] = pin.split(':');
    return [{ ...(record as Guest), [kind]: value.join(':') }];
  });

type Candidate = Omit<FoundRecord, 'meant' | 'named'> & { readonly pins: readonly string[] };

/** A record carries the time at which its transaction began. No transaction of intake takes this long: each statement has a deadline. */
const longestTransaction = '10 minutes';

/** True for JSON that holds one of the addresses ($3) or numbers ($4). */
const isNamed = (column: string): string =>
  `(lower(${column}::text) like any($3::text[]) or exists (select from unnest($4::text[]) as n where ${column}::text ~ n))`;

/**
 * Records with the person's keys, and records that mention the person in a version, in a source's statement, or in the newest state, of
 * which retention may have removed all versions.
 */
async function readCandidates(
  tx: Tx,
  person: Person,
  { integration, earlier, locks = false }: Search,
): Promise<Candidate[]> {
  const keys = person.lookups();
  const { addresses, numbers } = person.traces();
  const { rows } = await tx.query<{
    integration: string;
    type: EntityType;
    id: string;
    version: number;
    effective_ms: number;
    seq: number;
    data: string;
    claims: StoredClaims | null;
    pins: string[];
    made: string | null;
  }>(
    `with named as (
       select k.integration, k.type, k.id from unnest($10::text[], $2::text[]) as t (query, integration)
        cross join lateral ${keyedRecords('t.query')} k where t.integration is null or k.integration = t.integration
       union
       select p.integration, 'guest', p.profile_id from unnest($1::text[], $2::text[]) as t (key, integration)
         join profile_pins p on p.key = t.key and (t.integration is null or p.integration = t.integration)
       union
       select * from unnest($6::text[], $7::text[], $8::text[])
       union
       select c.integration, c.type, c.id from history c
        where ($5::text is null or c.integration = $5) and ($9::text is null or c.at >= now() - $9::interval)
          and c.diff is not null and ${isNamed('c.diff')}
       union
       select s.integration, s.type, s.id from records s
        where $9::text is null and ($5::text is null or s.integration = $5)
          and (${isNamed('s.data')} or ${isNamed('s.claims')})
       union
       select s.integration, s.type, s.id
         from (select distinct integration, type, id from history
                where $9::text is not null and at >= now() - $9::interval) t
         join records s using (integration, type, id)
        where ($5::text is null or s.integration = $5) and (${isNamed('s.data')} or ${isNamed('s.claims')}))
     select r.integration, r.type, r.id, r.version, (extract(epoch from r.effective_at) * 1000)::bigint as effective_ms, r.seq,
            r.data::text as data, r.claims,
            (select coalesce(array_agg(p.key), '{}') from profile_pins p
              where r.type = 'guest' and p.integration = r.integration and p.profile_id = r.id) as pins,
            ${versionsAfter('r', '0')} as made
       from records r join named using (integration, type, id)
      where r.version > 0
      order by r.integration, r.type, r.id ${locks ? 'for update of r' : ''}`,
    [
      keys.map(({ key }) => key),
      keys.map((key) => key.integration ?? null),
      addresses.map(likePattern),
      numbers,
      integration,
      ...columnsOf(earlier ?? [], 'integration', 'type', 'id'),
      earlier === undefined ? null : longestTransaction,
      keys.map(({ key }) => `${anyKey('reservation', [key])} | ${anyKey('guest', [key])}`),
    ],
  );
  return rows.map(({ effective_ms, seq, data, claims, made, ...row }) => {
    const decode = (text: string): Reservation | Guest => decodeRecord(row.type, text);
    return {
      ...row,
      time: [effective_ms, seq],
      record: decode(data),
      claims: claims ?? undefined,
      versions: [{ version: row.version, data }, ...versionsBefore({ version: row.version, data }, made)]
        .map(({ version, data: text }) => ({ version, record: decode(text) }))
        .reverse(),
    };
  });
}

export const likePattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
