import type { LoadedDocument } from '../documents/kinds.ts';
import type { DocumentName } from '../documents/stored.ts';
import type { Tx } from '../store/db/pool.ts';
import { currentDocuments } from '../store/documents/documents.ts';
import { keyOf } from './last-applied.ts';

/** The keys of the documents that an integration cannot work without. */
function neededBy(body: unknown): string[] {
  const { connector = '', deliver = [], pulled_by } = body as Partial<LoadedDocument<'integration'>['body']>;
  const poller = pulled_by === undefined ? [] : [`integration ${pulled_by}`];
  return [`connector ${connector}`, ...deliver.map((name) => `destination ${name}`), ...poller];
}

/**
 * Of the files, those to apply and those that their integrations need: one of these may be in force no longer, because it was removed
 * through another node.
 */
export function withNeeded(
  files: readonly LoadedDocument[],
  apply: ReadonlySet<string>,
  inForce: ReadonlyMap<string, unknown>,
): LoadedDocument[] {
  const byKey = new Map(files.map((one) => [keyOf(one), one]));
  const found = new Set(apply);
  // The set grows while it is read.
  for (const key of found) {
    const document = byKey.get(key);
    if (document?.kind !== 'integration') continue;
    for (const needed of neededBy(document.body)) if (!inForce.has(needed) && byKey.has(needed)) found.add(needed);
  }
  return files.filter((one) => found.has(keyOf(one)));
}

/** Without the documents that the remaining integrations need. */
export async function withoutUsed<One extends DocumentName>(tx: Tx, going: readonly One[]): Promise<One[]> {
  if (going.every(({ kind }) => kind === 'workspace')) return [...going];
  const integrations = new Map((await currentDocuments(tx, 'integration')).map((one) => [keyOf(one), one]));
  const leaving = new Set(going.map(keyOf));
  const staying = new Set([...integrations.keys()].filter((key) => !leaving.has(key)));
  // The set grows while it is read: an integration that stays needs its own connector and destinations.
  for (const key of staying) for (const needed of neededBy(integrations.get(key)?.body ?? {})) staying.add(needed);
  return going.filter((one) => !staying.has(keyOf(one)));
}
