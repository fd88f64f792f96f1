import type { Pool, Tx } from '../db/pool.ts';
import type { DocumentName, StoredDocument } from './documents.ts';

/** How the documents in force changed. */
export interface DocumentChanges {
  readonly put: readonly StoredDocument[];
  readonly removed: readonly DocumentName[];
}

/** Rises with every change of the documents in force. Changes are made one at a time, so none becomes visible below it later. */
export async function documentsPosition(db: Pool | Tx): Promise<number> {
  const { rows } = await db.query<{ position: number }>(
    'select coalesce(max(position), 0) as position from document_changes',
  );
  return rows[0]?.position ?? 0;
}

/** The changes after a position. Costs the same with one brand and with 100,000. */
export async function documentsChangedSince(
  db: Pool,
  since: number,
): Promise<DocumentChanges & { readonly position: number }> {
  type Row = (StoredDocument | (DocumentName & { readonly version: null })) & { readonly position: number };
  const { rows } = await db.query<Row>(
    `select n.kind, n.name, n.position, c.version, d.body, d.hash from document_changes n
       left join current_documents c on c.kind = n.kind and c.name = n.name
       left join documents d on d.kind = c.kind and d.name = c.name and d.version = c.version
      where n.position > $1 order by n.position`,
    [since],
  );
  return {
    put: rows.filter((row) => row.version !== null),
    removed: rows.filter(({ version }) => version === null),
    position: rows.at(-1)?.position ?? since,
  };
}
