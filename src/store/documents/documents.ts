import type { Json } from '../../terms.ts';
import { type Pool, type Tx, together } from '../db/pool.ts';

export type DocumentKind = 'connector' | 'integration' | 'destination' | 'workspace';

export interface DocumentToApply {
  readonly kind: DocumentKind;
  readonly name: string;
  readonly source: string;
  readonly body: Json;
  readonly hash: string;
  /** The same content hashed with earlier keys. */
  readonly olderHashes: readonly string[];
}

export interface StoredDocument {
  readonly kind: DocumentKind;
  readonly name: string;
  readonly version: number;
  readonly body: Json;
  readonly hash: string;
}

export type DocumentVersion = Pick<StoredDocument, 'kind' | 'name' | 'version'>;

export interface AppliedDocument {
  readonly kind: DocumentKind;
  readonly name: string;
  readonly version: number;
  readonly change: 'new' | 'changed' | 'same' | 'removed';
}

/** Allows one change of documents at a time: the next one waits and then sees the result of the first. */
export async function lockDocuments(tx: Tx): Promise<StoredDocument[]> {
  await tx.query('lock table current_documents in share row exclusive mode');
  return currentDocuments(tx);
}

/** Puts these documents in force and leaves all others. A document with unchanged content keeps its version. Needs `lockDocuments`. */
export async function applyDocuments(
  tx: Tx,
  documents: readonly DocumentToApply[],
  appliedBy: string,
  /** Replaces credentials that must not be stored in plain text. Called only for new and changed documents. */
  sealed: (document: DocumentToApply) => Promise<Pick<DocumentToApply, 'source' | 'body'>>,
): Promise<AppliedDocument[]> {
  const current = new Map((await currentDocuments(tx)).map((doc) => [`${doc.kind} ${doc.name}`, doc]));
  const result: AppliedDocument[] = [];
  for (const doc of documents) {
    const { kind, name } = doc;
    const before = current.get(`${kind} ${name}`);
    if (before !== undefined && [doc.hash, ...doc.olderHashes].includes(before.hash)) {
      result.push({ kind, name, version: before.version, change: 'same' });
      continue;
    }
    const { source, body } = await sealed(doc);
    const { rows } = await tx.query<{ version: number }>(
      `insert into documents (kind, name, version, source, body, hash, applied_by, sealed)
       select $1, $2, coalesce(max(version), 0) + 1, $3, $4, $5, $6, true from documents where kind = $1 and name = $2
       returning version`,
      [kind, name, source, JSON.stringify(body), doc.hash, appliedBy],
    );
    const version = rows[0]?.version ?? 1;
    await tx.query(
      `insert into current_documents (kind, name, version) values ($1, $2, $3)
       on conflict (kind, name) do update set version = excluded.version`,
      [kind, name, version],
    );
    result.push({ kind, name, version, change: before ? 'changed' : 'new' });
  }
  return result;
}

type Unsealed = Pick<DocumentToApply, 'kind' | 'name' | 'source' | 'body'>;

/** Seals some versions that were stored before credentials were sealed. Returns how many; 0 means that none are left. */
export async function sealOldVersions(
  tx: Tx,
  most: number,
  sealed: (document: Unsealed) => Promise<Pick<Unsealed, 'source' | 'body'>>,
): Promise<number> {
  const { rows } = await tx.query<Unsealed & { version: number }>(
    `select kind, name, version, source, body from documents where not sealed
      order by kind, name, version limit $1 for update skip locked`,
    [most],
  );
  // One after the other they took most of the first start with 20,000 brands.
  await together(tx, () =>
    rows.map(async ({ version, ...document }) => {
      const { source, body } = await sealed(document);
      await tx.query(
        `update documents set source = $4, body = $5, sealed = true where kind = $1 and name = $2 and version = $3`,
        [document.kind, document.name, version, source, JSON.stringify(body)],
      );
    }),
  );
  return rows.length;
}

/** Takes documents out of force. Their versions are kept. */
export async function removeDocuments(
  tx: Tx,
  documents: readonly Pick<StoredDocument, 'kind' | 'name' | 'version'>[],
): Promise<AppliedDocument[]> {
  for (const { kind, name } of documents) {
    await tx.query('delete from current_documents where kind = $1 and name = $2', [kind, name]);
  }
  return documents.map(({ kind, name, version }) => ({ kind, name, version, change: 'removed' }));
}

/** The content hash of every version that was ever in force, as `kind name hash`. */
export async function pastContents(db: Pool | Tx): Promise<Set<string>> {
  const { rows } = await db.query<{ past: string }>(
    `select distinct kind || ' ' || name || ' ' || hash as past from documents`,
  );
  return new Set(rows.map(({ past }) => past));
}

export async function currentDocuments(db: Pool | Tx): Promise<StoredDocument[]> {
  const { rows } = await db.query<StoredDocument>(
    `select kind, name, version, body, hash from current_documents join documents using (kind, name, version)
      order by kind, name`,
  );
  return rows;
}

/** Differs whenever another version of a document is in force. Reading all names and versions costs a node with 100,000 brands more. */
export async function documentsStamp(db: Pool): Promise<string> {
  const { rows } = await db.query<{ stamp: string }>(
    `select count(*) || ' ' || coalesce(sum(hashtextextended(kind || ' ' || name, version)), 0) as stamp from current_documents`,
  );
  return rows[0]?.stamp ?? '';
}

/**
 * The documents in force, of which those that differ from `known` have a body. With 100,000 documents and one edit, 100 ms instead of
 * several seconds.
 */
export async function changedDocuments(
  db: Pool,
  known: ReadonlyMap<string, number>,
): Promise<readonly (DocumentVersion | StoredDocument)[]> {
  const { rows } = await db.query<DocumentVersion>(
    'select kind, name, version from current_documents order by kind, name',
  );
  const changed = rows.filter((one) => known.get(`${one.kind} ${one.name}`) !== one.version);
  if (changed.length === 0) return rows;
  // If most differ, reading all in one statement costs the database less.
  if (changed.length > rows.length / 2) return currentDocuments(db);
  const { rows: read } = await db.query<StoredDocument>(
    `select d.kind, d.name, d.version, d.body, d.hash
       from unnest($1::text[], $2::text[], $3::int[]) as w (kind, name, version) join documents d using (kind, name, version)`,
    [changed.map(({ kind }) => kind), changed.map(({ name }) => name), changed.map(({ version }) => version)],
  );
  const bodies = new Map(read.map((one) => [`${one.kind} ${one.name}`, one]));
  return rows.map((one) => bodies.get(`${one.kind} ${one.name}`) ?? one);
}

/** One version of a document, for replays under the recorded mapping. */
export async function documentAt(
  db: Pool | Tx,
  kind: DocumentKind,
  name: string,
  version: number,
): Promise<StoredDocument | undefined> {
  const { rows } = await db.query<StoredDocument>(
    'select kind, name, version, body, hash from documents where kind = $1 and name = $2 and version = $3',
    [kind, name, version],
  );
  return rows[0];
}
