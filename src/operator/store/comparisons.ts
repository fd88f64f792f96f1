import { z } from 'zod';
import { entityType } from '../../core/canonical/schema.ts';
import { findingKinds } from '../../core/deliver/compare.ts';
import { cellOf, columnOf, type Pool, rowsOf } from '../../core/store/db/pool.ts';
import type { EntityType } from '../../terms.ts';
import { counts, instant, type Row } from './answers.ts';

/** What an audit said of one record, without values. */
const difference = z.object({
  integration: z.string(),
  id: z.string(),
  type: entityType,
  kind: z.enum(findingKinds),
  paths: z.array(z.string()).optional(),
  reason: z.string().optional(),
  version_here: z.int().nullable(),
  version_there: z.int().optional(),
});
export type Difference = Row<typeof difference>;

/** `compared`: records of ours. Of all findings: those about an erased guest, those that should not be there, and those that a repair queued. */
const comparisonCounts = z.object(counts('compared', ...findingKinds, 'erased_there', 'wrongly_there', 'repaired'));
export type ComparisonCounts = z.infer<typeof comparisonCounts>;

export const comparisonSchema = z.object({
  destination: z.string(),
  integration: z.string(),
  started_at: instant,
  finished_at: instant,
  part: z.string().nullable().describe('What was compared, if not all.'),
  complete: z.boolean(),
  reason: z.string().nullable().describe('Why it is not complete.'),
  counts: comparisonCounts,
  differences: z.array(difference).describe('The first ones, by path; never values.'),
});
export type LastComparison = Row<typeof comparisonSchema>;
export type Comparison = Omit<LastComparison, 'started_at' | 'finished_at'> & { readonly started_at: string };

/** Replaces the last one of the destination and brand. Returns when it finished. */
export const saveComparison = async (db: Pool, one: Comparison): Promise<Date> =>
  (await cellOf(db)<Date>(
    `insert into comparisons (destination, integration, started_at, finished_at, part, complete, reason, counts, differences)
     values ($1, $2, $3, now(), $4, $5, $6, $7, $8)
         on conflict (destination, integration) do update
        set started_at = excluded.started_at, finished_at = excluded.finished_at, part = excluded.part, complete = excluded.complete,
            reason = excluded.reason, counts = excluded.counts, differences = excluded.differences
     returning finished_at`,
    [
      one.destination,
      one.integration,
      one.started_at,
      one.part,
      one.complete,
      one.reason,
      JSON.stringify(one.counts),
      JSON.stringify(one.differences),
    ],
  )) as Date;

/** Of brands of which the destination has nothing any more. */
export const forgetComparisons = (db: Pool, destination: string, brands: readonly string[]) =>
  db.query('delete from comparisons where destination = $1 and integration <> all($2)', [destination, brands]);

/** The last ones, of all destinations or of one, of all brands or of some. */
export const listComparisons = (
  db: Pool,
  {
    destination,
    within,
    withDifferences = false,
  }: {
    readonly destination?: string | undefined;
    readonly within?: readonly string[] | undefined;
    readonly withDifferences?: boolean;
  },
): Promise<LastComparison[]> =>
  rowsOf(db)(
    `select destination, integration, started_at, finished_at, part, complete, reason, counts,
            case when $3 then differences else '[]' end as differences from comparisons
      where ($1::text is null or destination = $1) and ($2::text[] is null or integration = any($2)) order by destination, integration`,
    [destination, within, withDifferences],
  );

/** Those of these ids that no record has. */
export const idsWithoutRecord = (
  db: Pool,
  { integration, type }: { readonly integration: string; readonly type: EntityType },
  ids: readonly string[],
): Promise<string[]> =>
  columnOf(db)(
    `select i.id from unnest($3::text[]) as i (id)
      where not exists (select from records r where r.integration = $1 and r.type = $2 and r.id = i.id and r.version > 0)`,
    [integration, type, ids],
  );

/** Ids of a brand's records by chance. */
export const sampleIds = (
  db: Pool,
  { integration, type }: { readonly integration: string; readonly type: EntityType },
  most: number,
): Promise<string[]> =>
  columnOf(db)(
    'select id from records where integration = $1 and type = $2 and version > 0 order by random() limit $3',
    [integration, type, most],
  );

/** Those of these hashes (hex) that an erased guest has. */
export const erasedAmong = async (db: Pool, integration: string, hashes: readonly string[]): Promise<Set<string>> =>
  new Set(
    await columnOf(db)<string>(
      `select encode(g.hash, 'hex') from erased_guests g join erasures e using (erasure_id)
        where g.hash in (select decode(h, 'hex') from unnest($1::text[]) as h) and coalesce(e.integration, $2) = $2`,
      [hashes, integration],
    ),
  );
