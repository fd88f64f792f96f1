import { foldName } from '../../persons/fold.ts';
import type { EntityType, Json } from '../../terms.ts';
import type { Pool } from '../db/pool.ts';

export interface Found {
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
  readonly open_dead_letters: number;
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
export async function searchRecords(db: Pool, filter: SearchFilter): Promise<Found[]> {
  const text = filter.text?.trim() ?? '';
  const hits: ReturnType<typeof matching> = text === '' ? newest(filter) : matching(filter, text);
  const { rows } = await db.query<Found>(
    `with hits as materialized (${hits.sql})
     select r.integration, r.type, r.id, r.version, r.changed_at, r.data, h.matched,
            (select count(*)::int from outbox o where o.integration = r.integration and o.type = r.type and o.id = r.id
                and o.destination not like 'innbound:%' and (o.next_version <= o.last_version or o.held_by is not null)) as undelivered,
            (select count(*)::int from dead_letters d where d.integration = r.integration and d.type = r.type
                and d.id = r.id and d.state = 'open') as open_dead_letters
       from hits h
      cross join lateral (select * from records where integration = h.integration and type = $1 and id = h.id limit 1) r
      where r.version > 0 and ($2::text[] is null or r.integration = any($2)) and ($3::text is null or r.data ->> 'status' = $3)
        ${hits.filter ?? ''}
      order by h.rank, ${newestFirst} limit $4`,
    [filter.type, filter.integrations ?? null, filter.status ?? null, filter.limit, ...hits.values],
  );
  return rows;
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
    values: [filter.before?.changedAt ?? null, filter.before?.id ?? null, filter.before?.integration ?? null],
  };
}

/**
 * The largest character: sorts after every key that begins with a text. Searched as a range, because the index is not used for `like`
 * with several patterns, nor for one with the `_` of last_name in it: among 300,000 reservations a name took 800 ms.
 */
const last = `chr(1114111)`;

/**
 * Every branch reads keys only, from the index alone. Names, dates and the brands that the caller sees are intersected there: records are
 * read only for the result.
 */
function matching(filter: SearchFilter, text: string): { sql: string; values: unknown[]; filter?: string } {
  const { arrival, words } = readWords(text);
  const spoken = words.filter((word) => !labels.has(word));
  const keys = [
    `guest_id:${text}`,
    ...(spoken.length === 1 ? [`extra:${spoken[0]}`] : []),
    ...(spoken.length === 0 && arrival !== undefined ? [`check_in:${arrival}`] : []),
    ...(filter.email === undefined ? [] : [`email:${filter.email}`, `alias:${filter.email}`]),
    ...(filter.phones ?? []).map((phone) => `phone:${phone}`),
  ];
  const number = `confirmation_number:${text.toLowerCase()}`;
  // A single initial would match too many names.
  const names = words.filter((word) => word.length > 1 || words.length === 1);
  const values: unknown[] = [text, number, keys];
  const parameter = (value: unknown): string => `$${values.push(value) + 4}`;
  const arriving = arrival === undefined ? undefined : parameter(`check_in:${arrival}`);
  const visible = `($2::text[] is null or k.integration = any($2)) and k.type = $1 ${
    arriving === undefined
      ? ''
      : 'and exists (select from arriving a where a.integration = k.integration and a.id = k.id)'
  }`;
  const byName = names.map((name) => {
    const key = parameter(`last_name:${name}`);
    const others = parameter(
      words.filter((word) => word !== name).map((word) => `% ${word.replace(/[\\%_]/g, '\\$&')}%`),
    );
    return `
            (select k.integration, k.id, 'last_name', case when k.key = ${key} or k.key like ${key} || ', %' then 4 else 5 end
               from guest_keys k
              where k.key >= ${key} and k.key < ${key} || ${last} and k.key like all (${others}::text[]) and ${visible} limit 1000)`;
  });
  return {
    sql: `${
      arriving === undefined
        ? ''
        : `with arriving as materialized (select k.integration, k.id from guest_keys k where k.key = ${arriving} and k.type = $1)`
    }
          select distinct on (integration, id) integration, id, matched, rank from (
            select integration, id, 'id' as matched, 1 as rank from records
             where integration = any(coalesce($2, array(select distinct name from documents where kind = 'integration')))
               and type = $1 and id = $5
            union all
            (select k.integration, k.id, split_part(k.key, ':', 1), 2 from guest_keys k
              where k.key >= $6 and k.key < $6 || ${last} and ${visible} limit 1000)
            union all
            (select k.integration, k.id, split_part(k.key, ':', 1), 3 from guest_keys k
              where k.key = any($7) and ${visible} limit 1000)
            ${byName.map((branch) => `union all ${branch}`).join('')}
          ) t order by integration, id, rank`,
    ...(arrival !== undefined && { filter: `and r.data ->> 'check_in' = ${parameter(arrival)}` }),
    values,
  };
}

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
