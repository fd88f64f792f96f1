import { fileURLToPath } from 'node:url';
import { compileCheck } from '../core/brand/compile-check.ts';
import { type CheckResult, checkFiles } from '../core/documents/check.ts';
import type { LoadedDocuments } from '../core/documents/kinds.ts';
import { loadWorkspace, readWorkspace } from '../core/documents/load.ts';
import type { Mistake } from '../core/documents/mistake.ts';
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
 * Without the files with mistakes, and those that refer to them. A command needs one brand and its settings, and gets the error of
 * `readSoundDocuments` if they are among them; a service goes on with what it had.
 */
export async function readSoundFiles(
  workspaceDir: string,
  integration: string | undefined,
): Promise<{
  readonly documents: LoadedDocuments;
  readonly leftOut: readonly string[];
  readonly mistakes: readonly Mistake[];
}> {
  let sources = await readWorkspace(workspaceDir, { shippedConnectorsDir });
  let mistakes: readonly Mistake[] | undefined;
  const leftOut: string[] = [];
  for (;;) {
    const checked = checkFiles(sources, [compileCheck]);
    const isEnough = integration === undefined || mistakes === undefined;
    if (checked.kind === 'ok' && (isEnough || checked.documents.integrations.has(integration))) {
      return { documents: checked.documents, leftOut, mistakes: mistakes ?? [] };
    }
    mistakes ??= checked.kind === 'invalid' ? checked.mistakes : [];
    const wrong = new Set(checked.kind === 'invalid' ? checked.mistakes.map(({ file }) => file) : []);
    const isKept = (kind: string) => kind === 'workspace' && integration !== undefined;
    const left = sources.filter(({ file, kind }) => isKept(kind) || !wrong.has(file));
    if (left.length === sources.length) throw invalidDocuments(mistakes, workspaceDir);
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
