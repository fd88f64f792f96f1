import type { DocumentKind } from '../../documents/kinds.ts';
import { columnOf, mapOf, type Pool, rowOf, rowsOf, type Tx } from '../db/pool.ts';

interface DocumentRow {
  readonly kind: DocumentKind;
  readonly name: string;
  readonly version: number;
  readonly applied_at: Date;
  readonly applied_by: string;
}

export const listDocuments = (db: Pool, kind: DocumentKind | undefined): Promise<DocumentRow[]> =>
  rowsOf(db)(
    `select kind, name, version, applied_at, applied_by from documents
      where in_force and ($1::text is null or kind = $1) order by kind, name`,
    [kind],
  );

/** Newest first. */
export const documentVersions = (db: Pool, kind: string, name: string): Promise<DocumentRow[]> =>
  rowsOf(db)(
    `select kind, name, version, applied_at, applied_by from documents where kind = $1 and name = $2
      order by version desc limit 200`,
    [kind, name],
  );

/** The source text of a version, with typed credentials masked. Without a version, the one in force. */
export const documentText = (
  db: Pool,
  kind: string,
  name: string,
  version: number | undefined,
): Promise<(DocumentRow & { readonly source: string }) | undefined> =>
  rowOf(db)(
    `select kind, name, version, applied_at, applied_by, source from documents
      where kind = $1 and name = $2 and (version = $3 or ($3::int is null and in_force))`,
    [kind, name, version],
  );

/** The source texts in force, by `kind name`, with typed credentials masked. */
export const currentSources = (db: Pool | Tx): Promise<Map<string, string>> =>
  mapOf(db)(`select kind || ' ' || name as key, source from documents where in_force`);

/** The brand ids in all versions of an integration's document. */
export const brandIdsOf = (pool: Pool, integration: string): Promise<string[]> =>
  columnOf(pool)(`select distinct body ->> 'brand_id' as id from documents where kind = 'integration' and name = $1`, [
    integration,
  ]);

/** The integrations that are no longer in force, with their last brand ids. */
export const formerBrands = (db: Pool): Promise<ReadonlyMap<string, string>> =>
  mapOf(db)(
    `select name, body ->> 'brand_id' as brand_id from documents
      where kind = 'integration' and not in_force and position is not null order by name`,
  );
