import { fileURLToPath } from 'node:url';
import { compileCheck } from '../brand/compile-check.ts';
import { type CheckResult, checkFiles } from '../documents/check.ts';
import type { LoadedDocuments } from '../documents/kinds.ts';
import { loadWorkspace, readWorkspace } from '../documents/load.ts';
import type { Mistake } from '../documents/mistake.ts';
import { InnboundError } from '../errors.ts';

export const shippedConnectorsDir = fileURLToPath(new URL('../../connectors/', import.meta.url));

/** Loads and checks all documents of the workspace's folder. */
export async function readDocuments(workspaceDir: string): Promise<CheckResult> {
  return loadWorkspace(workspaceDir, { shippedConnectorsDir, checks: [compileCheck] });
}

/** Like `readDocuments`, but throws an error that lists every mistake. */
export async function readSoundDocuments(workspaceDir: string): Promise<LoadedDocuments> {
  const loaded = await readDocuments(workspaceDir);
  if (loaded.kind === 'ok') return loaded.documents;
  throw invalidDocuments(loaded.mistakes, workspaceDir);
}

/**
 * The documents that one brand needs may be sound although others are not: the files with mistakes are left out, and those that refer to
 * them. Throws as `readSoundDocuments` if the brand is among them.
 */
export async function readDocumentsFor(
  workspaceDir: string,
  integration: string,
): Promise<{ readonly documents: LoadedDocuments; readonly leftOut: readonly string[] }> {
  let sources = await readWorkspace(workspaceDir, { shippedConnectorsDir });
  let first: readonly Mistake[] | undefined;
  const leftOut: string[] = [];
  for (;;) {
    const checked = checkFiles(sources, [compileCheck]);
    if (checked.kind === 'ok' && (first === undefined || checked.documents.integrations.has(integration))) {
      return { documents: checked.documents, leftOut };
    }
    first ??= checked.kind === 'invalid' ? checked.mistakes : [];
    const wrong = new Set(checked.kind === 'invalid' ? checked.mistakes.map(({ file }) => file) : []);
    const left = sources.filter(({ file, kind }) => kind === 'workspace' || !wrong.has(file));
    if (left.length === sources.length) throw invalidDocuments(first, workspaceDir);
    leftOut.push(...wrong);
    sources = left;
  }
}

export function invalidDocuments(mistakes: readonly Mistake[], workspaceDir: string): InnboundError {
  const places = mistakes.map(
    ({ file, line, column, path: at, message }) => `  ${file}:${line}:${column} ${at}: ${message}`,
  );
  return new InnboundError(
    'documents.invalid',
    `${places.length === 1 ? 'One mistake' : `${places.length} mistakes`} in ${workspaceDir}:\n${places.join('\n')}`,
    { mistakes },
  );
}
