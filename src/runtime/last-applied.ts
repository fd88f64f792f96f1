import { hash } from 'node:crypto';
import path from 'node:path';
import type { DocumentName, LoadedDocument } from '../documents/kinds.ts';
import { type LastApplied, textKey } from '../documents/take-up.ts';
import { readJsonFile, writeJsonFile, writeProblem } from '../kit/json-file.ts';
import type { Log } from '../kit/log.ts';

/** The hashes of the files at their last apply. Kept in the folder, because they describe these files and move with them. */
const fileIn = (workspaceDir: string): string => path.join(workspaceDir, '.innbound', 'given.json');

export async function readLastApplied(workspaceDir: string): Promise<LastApplied | undefined> {
  return (await readJsonFile(fileIn(workspaceDir))) as LastApplied | undefined;
}

/**
 * Records the hashes of all files, or, with `removed`, of one change. Does nothing if the folder is read-only. Another failure, such as a
 * full disk, is reported and not thrown: the documents are in force already.
 */
export async function rememberApplied(
  { workspaceDir, log }: { readonly workspaceDir: string; readonly log: Pick<Log, 'warn'> },
  applied: readonly LoadedDocument[],
  removed?: readonly DocumentName[],
): Promise<void> {
  const before = removed === undefined ? {} : await readLastApplied(workspaceDir);
  // Recording one document alone would make all other files look new.
  if (before === undefined) return;
  const forgotten = new Set(removed?.map(keyOf).flatMap((key) => [key, textKey(key)]));
  const kept = Object.entries(before).filter(([key]) => !forgotten.has(key));
  const hashes = applied.flatMap((one) => [
    [keyOf(one), one.hash],
    [textKey(keyOf(one)), textHashOf(one.source)],
  ]);
  const all = Object.fromEntries([...kept, ...hashes]);
  await writeJsonFile(fileIn(workspaceDir), all).catch((error: unknown) => {
    const problem = writeProblem(error);
    if (problem === undefined) return;
    log.warn(
      { error: problem },
      'documents: in force, but not recorded in .innbound/given.json; if the disk is full, free space and run `apply`',
    );
  });
}

export const textHashOf = (text: string): string => hash('sha256', text);

/** The key of a document in this file and in maps of documents. */
export const keyOf = ({ kind, name }: DocumentName): string => `${kind} ${name}`;
