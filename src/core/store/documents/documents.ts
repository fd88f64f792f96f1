import type { Json } from '../../../terms.ts';
import type { DocumentChanges, DocumentKind, DocumentName, StoredDocument } from '../../documents/kinds.ts';
import { columnsOf } from '../db/columns.ts';
import { columnOf, hitsOne, mapOf, numberOf, type Pool, rowOf, rowsOf, serviceSchema, type Tx } from '../db/pool.ts';

export interface DocumentToApply {
  readonly kind: DocumentKind;
  readonly name: string;
  readonly source: string;
  readonly body: Json;
  readonly hash: string;
  /** The same content hashed with earlier keys. */
  readonly olderHashes: readonly string[];
  /** SHA-256 of the source as it is stored, one for each key that may have named the references in it. */
  readonly textHashes: readonly string[];
}

type DocumentHead = Omit<StoredDocument, 'body'>;

const textHash = (source: string) => `encode(sha256(convert_to(${source}, 'UTF8')), 'hex')`;

export interface AppliedDocument {
  readonly kind: DocumentKind;
  readonly name: string;
  readonly version: number;
  readonly change: 'new' | 'changed' | 'same' | 'removed';
}

/** Allows one change of documents at a time: the next one waits and then sees the result of the first. */
export async function lockDocuments(tx: Tx): Promise<void> {
  await tx.query(`lock table ${serviceSchema}.documents in share row exclusive mode`);
}

/** Puts these documents in force and leaves all others. A document with an unchanged text keeps its version. Needs `lockDocuments`. */
export async function applyDocuments(
  tx: Tx,
  documents: readonly DocumentToApply[],
  appliedBy: string,
  /** Replaces credentials that must not be stored in plain text. Called only for new and changed documents. */
  sealed: (document: DocumentToApply) => Promise<Pick<DocumentToApply, 'source' | 'body'>>,
): Promise<AppliedDocument[]> {
  const current = new Map((await headsOf(tx, documents)).map((doc) => [`${doc.kind} ${doc.name}`, doc]));
  const result: AppliedDocument[] = [];
  for (const doc of documents) {
    const { kind, name } = doc;
    const before = current.get(`${kind} ${name}`);
    const isSame = before !== undefined && [doc.hash, ...doc.olderHashes].includes(before.hash);
    if (isSame && doc.textHashes.includes(before.text_hash)) {
      result.push({ kind, name, version: before.version, change: 'same' });
      continue;
    }
    const { source, body } = await sealed(doc);
    await tx.query(
      `update documents set in_force = false, position = null where kind = $1 and name = $2 and position is not null`,
      [kind, name],
    );
    const version = await numberOf(tx)(
      `insert into documents (kind, name, version, source, body, hash, applied_by, in_force, position)
       select $1, $2, coalesce(max(version), 0) + 1, $3, $4, $5, $6, true, nextval('document_positions')
         from documents where kind = $1 and name = $2
       returning version`,
      [kind, name, source, JSON.stringify(body), doc.hash, appliedBy],
    );
    result.push({ kind, name, version, change: before ? 'changed' : 'new' });
  }
  return result;
}

/** Takes documents out of force. Their versions are kept. */
export async function removeDocuments(
  tx: Tx,
  documents: readonly Pick<StoredDocument, 'kind' | 'name' | 'version'>[],
): Promise<AppliedDocument[]> {
  for (const { kind, name } of documents) {
    await tx.query(
      `update documents set in_force = false, position = nextval('document_positions')
        where kind = $1 and name = $2 and in_force`,
      [kind, name],
    );
  }
  return documents.map(({ kind, name, version }) => ({ kind, name, version, change: 'removed' }));
}

/** Whether each text of these documents is in force or was before, by `kind name hash`. */
export const storedTexts = (
  db: Pool | Tx,
  documents: readonly DocumentName[],
): Promise<Map<string, 'in force' | 'past'>> =>
  mapOf(db)(
    `select d.kind || ' ' || d.name || ' ' || ${textHash('d.source')} as key,
            case when bool_or(d.in_force) then 'in force' else 'past' end as force
       from unnest($1::text[], $2::text[]) as w (kind, name) join documents d using (kind, name) group by 1`,
    columnsOf(documents, 'kind', 'name'),
  );

/** The documents in force, of one kind or all. */
export const currentDocuments = (db: Pool | Tx, kind?: DocumentKind): Promise<StoredDocument[]> =>
  rowsOf(db)(
    `select kind, name, version, body, hash from documents
      where in_force and ($1::text is null or kind = $1) order by kind, name`,
    [kind],
  );

export const hasDocuments = (db: Pool): Promise<boolean> => hitsOne(db)('select from documents where in_force limit 1');

/** The documents in force, without their bodies. */
export const currentHeads = (db: Pool | Tx): Promise<DocumentHead[]> =>
  rowsOf(db)('select kind, name, version, hash from documents where in_force');

/** Of these documents, the versions in force. */
const headsOf = (
  db: Pool | Tx,
  documents: readonly DocumentName[],
): Promise<(DocumentHead & { readonly text_hash: string })[]> =>
  rowsOf(db)(
    `select kind, name, version, d.hash, ${textHash('d.source')} as text_hash from unnest($1::text[], $2::text[]) as w (kind, name)
       join documents d using (kind, name) where d.in_force`,
    columnsOf(documents, 'kind', 'name'),
  );

/** These integrations and all documents of other kinds, each with its source text. */
export const documentsAround = (
  db: Pool | Tx,
  integrations: readonly string[],
): Promise<(StoredDocument & { readonly source: string })[]> =>
  rowsOf(db)(
    `select kind, name, version, body, hash, source from documents
      where in_force and (kind in ('connector', 'destination', 'workspace') or (kind = 'integration' and name = any($1::text[])))
      order by kind, name`,
    [integrations],
  );

/** The base URLs, as the documents write them, that these integrations and the brands of these connectors pull from. */
export const pullAddresses = (
  db: Pool | Tx,
  integrations: readonly string[],
  connectors: readonly string[],
): Promise<{ readonly base_url: string; readonly names: readonly string[] }[]> =>
  rowsOf(db)(
    `select body #>> '{pull,base_url}' as base_url, array_agg(name) as names
       from documents
      where in_force and kind = 'integration' and body #>> '{pull,base_url}' is not null
        and (name = any($1::text[]) or body ->> 'connector' = any($2::text[]))
      group by 1`,
    [integrations, connectors],
  );

/** The brands that deliver to any of these destinations. */
export const feedersOf = (db: Pool | Tx, destinations: readonly string[]): Promise<string[]> =>
  columnOf(db)(
    `select name from documents where in_force and kind = 'integration' and (body -> 'deliver')::jsonb ?| $1`,
    [destinations],
  );

/** The documents in force that refer to a stored secret. */
export const documentsWithSecret = (db: Pool | Tx, name: string): Promise<DocumentName[]> =>
  rowsOf(db)(`select kind, name from documents where in_force and strpos(body::text, $1) > 0`, [`\${secret:${name}}`]);

/** One version of a document, for replays under the recorded mapping. */
export const documentAt = (
  db: Pool | Tx,
  kind: DocumentKind,
  name: string,
  version: number,
): Promise<StoredDocument | undefined> =>
  rowOf(db)('select kind, name, version, body, hash from documents where kind = $1 and name = $2 and version = $3', [
    kind,
    name,
    version,
  ]);

/** Rises with every change of the documents in force. Changes are made one at a time, so none becomes visible below it later. */
export const documentsPosition = (db: Pool | Tx): Promise<number> =>
  numberOf(db)('select coalesce(max(position), 0) as position from documents');

/** The changes after a position. Costs the same with one brand and with 100,000. */
export async function documentsChangedSince(
  db: Pool,
  since: number,
): Promise<DocumentChanges & { readonly position: number }> {
  const { rows } = await db.query<StoredDocument & { readonly in_force: boolean; readonly position: number }>(
    `select kind, name, version, body, hash, in_force, position from documents where position > $1 order by position`,
    [since],
  );
  return {
    put: rows.filter((row) => row.in_force),
    removed: rows.filter((row) => !row.in_force),
    position: rows.at(-1)?.position ?? since,
  };
}
