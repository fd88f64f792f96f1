import { foldName } from '../../persons/fold.ts';
import { columnsOf } from '../db/columns.ts';
import { numberOf, type Pool, rowsOf } from '../db/pool.ts';

/** Something that arrived and is not, or not only, a record: what became of it, and where to read more. */
export interface Trace {
  readonly outcome: 'dead_letter' | 'held' | 'waiting' | 'dropped' | 'superseded' | 'not_for_this_sync' | 'unlisted';
  readonly integration: string;
  readonly type: string;
  readonly id: string | null;
  readonly at: Date;
  /** Why, in our words; without guest data. */
  readonly reason: string | null;
  readonly times: number;
  /** The dead letter, or the run. */
  readonly dead_letter_id: string | null;
  readonly run_id: string | null;
}

interface TraceFilter {
  readonly text: string;
  readonly integrations: readonly string[] | undefined;
  /** Records that the same search found: reported if the partner no longer lists them, or if an event about them waits. */
  readonly known: readonly { readonly integration: string; readonly id: string }[];
}

/** Payloads are searched as text, so not in any number of them. */
const newest = 20_000;

/**
 * Everything that arrived and did not become a record, by its id or by any text of its payload: a number, a name, an address, a phone
 * number with any spaces. Payloads are searched while they are kept.
 */
export async function searchTraces(db: Pool, { text, integrations, known }: TraceFilter): Promise<Trace[]> {
  const words = text.split(/[\s,]+/).filter((word) => word !== '');
  const digits = text.replace(/\D/g, '');
  const isPhone = digits.length >= 6 && /^[\d\s()+./-]+$/.test(text);
  // The country code may be missing in the payload.
  const phone = isPhone ? [...digits.slice(-9)].join('[^0-9a-zA-Z]{0,2}') : null;
  const patterns = words.map((word) => [...word].map(anyAccent).join(''));
  const seen = (column: string) => `($2::text[] is null or ${column} = any($2))`;
  const says = (raw: string) => `(${raw}::text ~* all ($3::text[]) or ($4::text is not null and ${raw}::text ~ $4))`;
  return rowsOf(db)<Trace>(
    `select outcome, integration, type, id, at, reason, times, dead_letter_id, run_id from (
       select 'dead_letter' as outcome, integration, coalesce(type, 'reservation') as type,
              id, last_at as at, concat_ws(' ', message, 'Dropped by ' || closed_by || ': ' || closed_reason) as reason, times, dead_letter_id::text as dead_letter_id,
              case when cause = 'run' then cause_id end as run_id
         from (select * from dead_letters where state <> 'replayed' and closed_by is distinct from 'run' and ${seen('integration')} order by dead_letter_id desc limit ${newest}) d
        where id = $1 or (raw is not null and ${says('raw')})
       union all
       select * from (
         select distinct on (h.integration, h.id)
                case when h.outcome = 'held' and not exists (select from records r where r.integration = h.integration and r.id = h.id
                   and r.type = h.type and r.held is not null) then 'dropped' else h.outcome end, h.integration, h.type, h.id, h.at, h.reason, 1, null, case when cause = 'run' then cause_id end
           from (select * from history where outcome in ('dropped', 'held') and ${seen('integration')} order by at desc limit ${newest}) h
           left join events e on e.integration = h.integration and e.seq = case when cause = 'event' then cause_id::bigint end
          where h.id = $1 or ${says(`coalesce(h.raw::text, convert_from(coalesce(e.hydrated, e.body), 'UTF8'), '')`)} order by h.integration, h.id, h.at desc) t
        where not exists (select from records r where r.integration = t.integration and r.id = t.id and r.type = t.type
                             and r.version > 0 and r.event <> 'removed')
       union all
       select 'waiting', e.integration, coalesce(e.type, 'reservation'), e.id, min(received_at),
              'An event is not applied yet' || case max(state) when 'hydrate' then ': its reservation is fetched from the partner first.' else '.' end, count(*)::int, null, null
         from (select * from events where state in ('hydrate', 'waiting') and ${seen('integration')}
               union all select * from events where state = 'pending' and ${seen('integration')} limit ${newest}) e
         left join unnest($5::text[], $6::text[]) as f (integration, id) on e.integration = f.integration and e.id = f.id
        where e.id = $1 or f.id is not null or ${says(`convert_from(body, 'UTF8')`)}
        group by e.integration, e.type, e.id
       union all
       select * from (
         select distinct on (integration, id) 'superseded', integration, coalesce(type, 'reservation'), id, received_at, reason, 1, null, null
           from events where outcome = 'superseded' and id = $1 and ${seen('integration')} order by integration, id, received_at desc) t
       union all
       select * from (
         select distinct on (p.integration) 'not_for_this_sync', p.integration, 'reservation', $1, p.requested_at, null, 1, null, p.run_id
           from (select integration, run_id from runs where skipped > 0 and ${seen('integration')} order by queued_at desc limit 300) r
           join run_pages p on p.integration = r.integration and p.run_id = r.run_id and p.skipped @> array[$1]
          where not exists (select from records k where k.integration = p.integration and k.id = $1 and k.type = 'reservation' and k.version > 0)
          order by p.integration, p.requested_at desc) t
       union all
       select 'unlisted', r.integration, 'reservation', r.id, (unlisted ->> 'since')::timestamptz, unlisted ->> 'answer', 1, null, unlisted ->> 'run'
         from records r join unnest($5::text[], $6::text[]) as f (integration, id) on r.integration = f.integration and r.id = f.id
          and r.type = 'reservation' and r.unlisted is not null
     ) t order by at desc limit 50`,
    [text, integrations, patterns, phone, ...columnsOf(known, 'integration', 'id')],
  );
}

const latin = Array.from({ length: 0x190 }, (_, i) => String.fromCodePoint(0xc0 + i));
const accented = Map.groupBy(latin, foldName);

/** A regular expression for a letter with or without its accents: "castano" finds Castaño. */
const anyAccent = (letter: string): string => {
  const all = [letter, foldName(letter), ...(accented.get(foldName(letter)) ?? [])];
  return `(?:${all.map((one) => one.replace(/[^\p{L}\p{N}]/u, '\\$&')).join('|')})`;
};

/** Refused webhooks of the last day: nothing of their content is kept, so they cannot be searched. */
export const countRefused = (db: Pool, integrations: readonly string[] | undefined): Promise<number> =>
  numberOf(db)(
    `select coalesce(sum(count), 0)::int as count from rejections
      where hour > now() - interval '1 day' and integration <> '' and ($1::text[] is null or integration = any($1))`,
    [integrations],
  );
