import type { Json } from '../../../terms.ts';
import { hitsOne, type Pool, rowsOf, type Tx } from '../db/pool.ts';

/** A sample and the records that it must become. Holds guest data. */
export interface MappingCase {
  readonly name: string;
  readonly sample: string;
  readonly push: boolean;
  readonly timezone: string | null;
  readonly country: string | null;
  readonly expected: Json;
  readonly saved_at: Date;
  readonly saved_by: string;
}

export const listCases = (db: Pool | Tx, connector: string): Promise<MappingCase[]> =>
  rowsOf(db)(
    `select name, sample, push, timezone, country, expected, saved_at, saved_by from mapping_cases
      where connector = $1 order by name`,
    [connector],
  );

/** Adds a case, or replaces the one of the same name. */
export async function putCase(
  db: Pool | Tx,
  connector: string,
  { name, sample, push, timezone, country, expected, saved_by }: Omit<MappingCase, 'saved_at'>,
): Promise<void> {
  await db.query(
    `insert into mapping_cases (connector, name, sample, push, timezone, country, expected, saved_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (connector, name) do update
        set sample = excluded.sample, push = excluded.push, timezone = excluded.timezone, country = excluded.country,
            expected = excluded.expected, saved_by = excluded.saved_by, saved_at = now()`,
    [connector, name, sample, push, timezone, country, JSON.stringify(expected), saved_by],
  );
}

export const deleteCase = (db: Pool, connector: string, name: string): Promise<boolean> =>
  hitsOne(db)('delete from mapping_cases where connector = $1 and name = $2', [connector, name]);
