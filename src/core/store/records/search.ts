import type { EntityType, Json } from '../../../terms.ts';
import { foldName } from '../../persons/fold.ts';
import { type Pool, rowsOf } from '../db/pool.ts';
import { anyKey, keyedRecords, keyPrefix } from './search-keys.ts';

export interface SearchHit {
  readonly integration: string;
  readonly type: EntityType;
  readonly id: string;
  readonly version: number;
  readonly changed_at: Date;
  readonly data: Json;
  /** What matched: id, confirmation_number, email, alias, phone, guest_id, last_name, extra, check_in; `newest` without a search text. */
  readonly matched: string;
  /** Destinations that do not have the newest version yet. */
  readonly undelivered: number;
  /** Destinations that have it or wait for it; not those that it has left. */
  readonly receivers: number;
  readonly open_dead_letters: number;
  /** What the partner said and a hold keeps back. */
  readonly held: number;
}

export interface SearchFilter {
  readonly type: EntityType;
  readonly text?: string | undefined;
  /** The text as an e-mail address and as phone numbers, in the form that records have. A national number may be several. */
  readonly email?: string | undefined;
  readonly phones?: readonly string[] | undefined;
  readonly integrations?: readonly string[] | undefined;
  readonly status?: string | undefined;
  readonly before?: { readonly changedAt: string; readonly id: string; readonly integration: string } | undefined;
  readonly limit: number;
}

/** In milliseconds, the precision of a cursor. Ties are common, since a page is one transaction. */
const order = `(date_trunc('milliseconds', r.changed_at), r.id, r.integration)`;
const newestFirst = `date_trunc('milliseconds', r.changed_at) desc, r.id desc, r.integration desc`;

/** Without a text, what changed last; with one, everything that it can mean. Every search uses an index. */
export async function searchRecords(db: Pool, filter: SearchFilter): Promise<SearchHit[]> {
  const text = filter.text?.trim() ?? '';
  const hits: ReturnType<typeof matching> = text === '' ? newest(filter) : matching(filter, text);
  return rowsOf(db)<SearchHit>(
    `with hits as materialized (${hits.sql})
     select r.integration, r.type, r.id, r.version, r.changed_at, r.data, h.matched,
            (select count(*)::int from outbox o where o.integration = r.integration and o.type = r.type and o.id = r.id
                and o.destination not like 'innbound:%' and (o.next_version <= o.last_version or o.held_by is not null)) as undelivered,
            (select count(*)::int from outbox o where o.integration = r.integration and o.type = r.type and o.id = r.id
                and o.destination not like 'innbound:%' and not o.removed and (o.delivered_version > 0 or o.due_at is not null)) as receivers,
            (select count(*)::int from dead_letters d where d.integration = r.integration and d.type = r.type
                and d.id = r.id and d.state = 'open') as open_dead_letters,
            coalesce(cardinality(r.held), 0) as held
       from hits h
      cross join lateral (select * from records where integration = h.integration and type = $1 and id = h.id limit 1) r
      where r.version > 0 and ($2::text[] is null or r.integration = any($2)) and ($3::text is null or r.data ->> 'status' = $3)
        ${hits.filter ?? ''}
      order by h.rank, ${newestFirst} limit $4`,
    [filter.type, filter.integrations, filter.status, filter.limit, ...hits.values],
  );
}

/** How many changes are searched for the newest records of one page: a record that changes often appears often. */
const depth = 20_000;

function newest(filter: SearchFilter): { sql: string; values: unknown[] } {
  return {
    sql: `select t.integration, t.id, 'newest' as matched, 0 as rank
            from (select distinct r.integration, r.id, r.changed_at
                    from (select integration, type, id from history
                           where diff is not null and type = $1 and ($2::text[] is null or integration = any($2))
                             and ($5::timestamptz is null or at < $5 + interval '1 ms')
                           order by at desc limit ${depth}) c
                    join records r on r.integration = c.integration and r.type = c.type and r.id = c.id
                   where $5::timestamptz is null or ${order} < ($5, $6::text, $7::text)) r
                cross join lateral (select r.integration, r.id) t
           order by ${newestFirst} limit $4 * 4`,
    values: [filter.before?.changedAt, filter.before?.id, filter.before?.integration],
  };
}

/** So that an index by brand serves a search over all brands. */
const brands = `integration = any(coalesce($2, array(select distinct name from documents where kind = 'integration')))`;

/** The most records that one meaning of the text finds. */
const most = 1000;

/** A shorter beginning of a name matches too many: it counts only as a whole last name. */
const shortestBeginning = 3;

interface Meaning {
  readonly matched: string;
  readonly rank: number;
  readonly query: string;
}

/** Every meaning of the text is one query of the index of keys; a date in it is the arrival of all that is found. */
function matching(filter: SearchFilter, text: string): { sql: string; values: unknown[]; filter?: string } {
  const { arrival, words } = readWords(text);
  const meanings = meaningsOf(filter, text, words);
  return {
    sql: `select distinct on (integration, id) integration, id, matched, rank from (
            select integration, id, 'id' as matched, 1 as rank from records
             where ${brands} and type = $1 and id = $5
            union all
            select k.integration, k.id, m.matched, m.rank
              from json_to_recordset($6) as m (matched text, rank int, query text)
             cross join lateral (
               select integration, id from ${keyedRecords('m.query')} k
                where ($2::text[] is null or integration = any($2)) and ($7::date is null or arrival = $7) limit ${most}) k
            union all
            select * from (select integration, id, 'check_in', 3 from records
                            where arrival = $7 and $8 and type = $1 and ${brands} limit ${most}) a
          ) t order by integration, id, rank`,
    ...(arrival !== undefined && { filter: 'and r.arrival = $7' }),
    values: [text, JSON.stringify(meanings), arrival, spokenIn(words).length === 0],
  };
}

function meaningsOf({ type, email, phones = [] }: SearchFilter, text: string, words: readonly string[]): Meaning[] {
  const spoken = spokenIn(words);
  const exact = (key: string): Meaning => ({
    matched: key.slice(0, key.indexOf(':')),
    rank: 3,
    query: anyKey(type, [key]) as string,
  });
  const byName = namesIn(words).flatMap(({ last, first }): Meaning[] => {
    const named = (rank: number, query: string) => ({ matched: 'last_name', rank, query });
    const followed = keyPrefix(type, `last_name:${last}, ${first}`);
    if (first !== '') return [named(4, followed)];
    const isLong = [...last].length >= shortestBeginning;
    return [
      named(4, `${anyKey(type, [`last_name:${last}`])} | ${followed}`),
      ...(isLong ? [named(5, keyPrefix(type, `last_name:${last}`))] : []),
    ];
  });
  return [
    { matched: 'confirmation_number', rank: 2, query: keyPrefix(type, `confirmation_number:${text.toLowerCase()}`) },
    exact(`guest_id:${text}`),
    ...(spoken.length === 1 ? [exact(`extra:${spoken[0]}`)] : []),
    ...(email === undefined ? [] : [exact(`email:${email}`), exact(`alias:${email}`)]),
    ...phones.map((phone) => exact(`phone:${phone}`)),
    ...byName,
  ];
}

/** All words are a last name or its beginning; or the first ones or the last ones are, and the others begin the first name. */
function namesIn(words: readonly string[]): { readonly last: string; readonly first: string }[] {
  const split = words.slice(1).flatMap((_, i) => {
    const [before, after] = [words.slice(0, i + 1).join(' '), words.slice(i + 1).join(' ')];
    return [
      { last: before, first: after },
      { last: after, first: before },
    ];
  });
  return words.length === 0 ? [] : [{ last: words.join(' '), first: '' }, ...split];
}

const spokenIn = (words: readonly string[]) => words.filter((word) => !labels.has(word));

/** Words that people put before a number. */
const labels: ReadonlySet<string> = new Set([
  'room',
  'booking',
  'number',
  'no',
  'no.',
  'nr',
  'nr.',
  'ref',
  'ref.',
  '#',
]);

/** Words as they are compared, and the arrival date if one of them is a date. */
function readWords(text: string): { arrival: string | undefined; words: readonly string[] } {
  const all = text
    .split(/[\s,]+/)
    .filter((word) => word !== '')
    .slice(0, 6);
  const arrival = all.find((word) => /^\d{4}-\d{2}-\d{2}$/.test(word));
  const words = all.filter((word) => word !== arrival).map((word) => foldName(word).replace(/^(\p{L})\.$/u, '$1'));
  return { arrival, words };
}
