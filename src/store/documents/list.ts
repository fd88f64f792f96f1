import type { DocumentKind } from '../../documents/kinds.ts';
import type { Pool, Tx } from '../db/pool.ts';

export interface DocumentRow {
  readonly kind: DocumentKind;
  readonly name: string;
  readonly version: number;
  readonly applied_at: Date;
  readonly applied_by: string;
}

export async function listDocuments(db: Pool, kind: DocumentKind | undefined): Promise<DocumentRow[]> {
  const { rows } = await db.query<DocumentRow>(
    `select kind, name, version, applied_at, applied_by from documents
      where in_force and ($1::text is null or kind = $1) order by kind, name`,
    [kind ?? null],
  );
  return rows;
}

/** Newest first. */
export async function documentVersions(db: Pool, kind: string, name: string): Promise<DocumentRow[]> {
  const { rows } = await db.query<DocumentRow>(
    `select kind, name, version, applied_at, applied_by from documents where kind = $1 and name = $2
      order by version desc limit 200`,
    [kind, name],
  );
  return rows;
}

/** The source text of a version, with typed credentials masked. Without a version, the one in force. */
export async function documentText(
  db: Pool,
  kind: string,
  name: string,
  version: number | undefined,
): Promise<(DocumentRow & { readonly source: string }) | undefined> {
  const { rows } = await db.query<DocumentRow & { source: string }>(
    `select kind, name, version, applied_at, applied_by, source from documents
      where kind = $1 and name = $2 and (version = $3 or ($3::int is null and in_force))`,
    [kind, name, version ?? null],
  );
  return rows[0];
}

/** The source texts in force, by `kind name`, with typed credentials masked. */
export async function currentSources(db: Pool | Tx): Promise<Map<string, string>> {
  const { rows } = await db.query<{ key: string; source: string }>(
    `select kind || ' ' || name as key, source from documents where in_force`,
  );
  return new Map(rows.map(({ key, source }) => [key, source]));
}
