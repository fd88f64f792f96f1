import { fileURLToPath } from 'node:url';
import type { CheckResult } from '../documents/check.ts';
import type { LoadedDocuments } from '../documents/kinds.ts';
import { loadWorkspace } from '../documents/load.ts';
import type { Mistake } from '../documents/mistake.ts';
import { InnboundError } from '../errors.ts';
import { compileCheck } from './compile-check.ts';

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
