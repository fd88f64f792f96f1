import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Applied, ApplyOptions, DocumentPorts, EditedDocument } from '../api/routes/documents.ts';
import { hostReferences } from '../documents/host-references.ts';
import type { DocumentKind, LoadedDocument, LoadedDocuments } from '../documents/kinds.ts';
import { readWorkspace } from '../documents/load.ts';
import type { Mistake } from '../documents/mistake.ts';
import { parseFile, type SourceFile } from '../documents/parse.ts';
import { changeDocument } from '../runtime/in-force.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { sealable } from '../runtime/seal-documents.ts';
import { acceptCases as acceptAll, brokenCases } from './mapping-cases.ts';
import { offThread } from './off-thread.ts';
import { completed, fileName, isOne, type Named, readAround, soundSources, sourcesAround } from './sources-in-force.ts';

/**
 * Edits one document through the API: checks it together with the documents in force, puts it in force, and writes its file into this
 * node's workspace. Other nodes read documents from the database, never from this folder.
 */

/** Mistakes and warnings of a text, checked together with all other documents in force. Writes nothing. */
export async function validateDocument(
  runtime: Runtime,
  kind: DocumentKind,
  name: string | undefined,
  text: string,
): ReturnType<DocumentPorts['validate']> {
  const file = fileName(kind, name ?? 'new-document');
  const around = await readAround(runtime, runtime.pool, { kind, name }, text);
  const others = await sourcesAround(around, { kind, name });
  const edited = { kind, file, text, shipped: false };
  const known = hostReferences(around.find((one) => isOne(one, { kind, name }))?.body);
  const { checked, ...found } = await offThread(runtime, 'checkEdit', { others, edited, hostReferences: known });
  const here = (found: readonly Mistake[]) => found.filter((mistake) => mistake.file === file);
  return {
    mistakes: checked.kind === 'ok' ? [] : here(checked.mistakes),
    warnings: here(checked.warnings).map((one) => ({ ...one, severity: 'warning' as const })),
    holdsCredentials: found.holdsCredentials,
  };
}

export async function applyDocument(
  runtime: Runtime,
  { kind, name, text }: EditedDocument,
  by: string,
  { acceptCases }: ApplyOptions = { acceptCases: false },
): Promise<Applied> {
  const applied = await changeDocument<Applied>(runtime, by, async (tx) => {
    const around = await readAround(runtime, tx, { kind, name }, text);
    const complete = completed(around, kind, name, text);
    const file = (await fileHere(runtime, kind, name)) ?? fileName(kind, name);
    const others = await sourcesAround(around, { kind, name });
    const edited = { kind, file, text: complete, shipped: false };
    const known = hostReferences(around.find((one) => isOne(one, { kind, name }))?.body);
    const check = (sources: SourceFile[]) =>
      offThread(runtime, 'checkEdit', { others: sources, edited, hostReferences: known });
    const { name: named, ...first } = await check(others);
    const isElsewhere = first.checked.kind === 'invalid' && first.checked.mistakes.every((one) => one.file !== file);
    const { checked } = isElsewhere ? await check(await soundSources(runtime, around, others, { kind, name })) : first;
    if (kind !== 'workspace' && named !== undefined && named !== name) {
      const message = `the document is named ${named}, not ${name}`;
      return { refused: { kind: 'invalid', mistakes: [{ file, line: 1, column: 1, path: kind, message }] } };
    }
    if (checked.kind === 'invalid') return { refused: checked };
    if (kind === 'connector') {
      const broken = await brokenCases(runtime, name, complete);
      const refused = broken.filter(({ message }) => !acceptCases || message !== null);
      if (refused.length > 0) return { refused: { kind: 'breaks_cases', cases: refused } };
      if (broken.length > 0) await acceptAll(runtime, name, complete, by);
    }
    // The file gets the references too: a credential typed in the console is never written to a disk.
    const sealed = sealable(runtime.keys, { kind, name, source: complete });
    const source = sealed?.document.source ?? complete;
    if (!(await isWritten(() => writeWhole(runtime, file, source)))) return { refused: { kind: 'read_only', file } };
    const put = withConnector(checked.documents, kind, name, around).map((one) =>
      isOne(one, { kind, name }) ? (sealed?.document ?? one) : one,
    );
    const secrets = sealed?.secrets ?? [];
    return {
      put,
      secrets,
      remove: [],
      result: (all) => ({ kind: 'applied', version: versionIn(all, kind, name), file }),
    };
  });
  return afterChange(runtime, applied);
}

export async function removeDocument(runtime: Runtime, kind: DocumentKind, name: string, by: string): Promise<Applied> {
  const applied = await changeDocument<Applied>(runtime, by, async (tx) => {
    const around = await readAround(runtime, tx, { kind, name });
    const found = around.find((one) => one.kind === kind && one.name === name);
    if (found === undefined) return { refused: { kind: 'unknown' } };
    const sources = await sourcesAround(around, { kind, name });
    const checked = await offThread(runtime, 'check', { sources });
    if (checked.kind === 'invalid') return { refused: checked };
    const file = await fileHere(runtime, kind, name);
    if (file !== undefined && !(await isWritten(() => rm(path.join(runtime.workspaceDir, file))))) {
      return { refused: { kind: 'read_only', file } };
    }
    const { version } = found;
    const result = { kind: 'applied', version, file: file ?? fileName(kind, name) } as const;
    return { put: [], remove: [found], result: () => result };
  });
  return afterChange(runtime, applied);
}

/** This node reads the new documents at once; a signal makes the others do the same. */
async function afterChange(runtime: Runtime, applied: Applied): Promise<Applied> {
  if (applied.kind === 'applied') {
    await runtime.refresh();
    runtime.wake.signal('documents');
  }
  return applied;
}

const versionIn = (all: readonly (Named & { version: number })[], kind: DocumentKind, name: string): number =>
  all.find((one) => isOne(one, { kind, name }))?.version ?? 0;

/** The document; for the first integration that uses a shipped connector, that connector too. */
function withConnector(
  loaded: LoadedDocuments,
  kind: DocumentKind,
  name: string,
  around: readonly Named[],
): LoadedDocument[] {
  if (kind === 'workspace') return [loaded.workspace];
  const document = loaded[`${kind}s`].get(name);
  if (document === undefined) return [];
  if (document.kind !== 'integration') return [document];
  const connector = loaded.connectors.get(document.body.connector);
  const known = connector && around.some((one) => isOne(one, connector));
  return connector && !known ? [connector, document] : [document];
}

/** The file of a document in this node's workspace, if there is one. Most are named after their document. */
async function fileHere({ workspaceDir }: Runtime, kind: DocumentKind, name: string): Promise<string | undefined> {
  const usual = fileName(kind, name);
  const text = await readFile(path.join(workspaceDir, usual), 'utf8').catch(() => undefined);
  const isIt = (source: SourceFile) => kind === 'workspace' || parseFile(source).name === name;
  if (text !== undefined && isIt({ kind, file: usual, text })) return usual;
  const own = (await readWorkspace(workspaceDir)).filter((one) => one.kind === kind);
  return own.find((source) => (kind === 'workspace' || source.text.includes(name)) && isIt(source))?.file;
}

/** False if the folder is read-only. */
async function isWritten(write: () => Promise<void>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (['EACCES', 'EROFS', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

/** Writes a temporary file and renames it, so that a service that starts meanwhile reads either the old text or the new one. */
async function writeWhole(runtime: Runtime, file: string, text: string): Promise<void> {
  const target = path.join(runtime.workspaceDir, file);
  await mkdir(path.dirname(target), { recursive: true });
  await writeFile(`${target}.new`, text, { mode: 0o600 });
  await rename(`${target}.new`, target);
}
