import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseDocument } from 'yaml';
import type { Applied } from '../api/routes/documents.ts';
import { type DocumentKind, type LoadedDocument, type LoadedDocuments, workspaceName } from '../documents/kinds.ts';
import { readWorkspace } from '../documents/load.ts';
import type { Mistake } from '../documents/mistake.ts';
import { parseFile, type SourceFile } from '../documents/parse.ts';
import { valueAt } from '../documents/path.ts';
import { changeDocument } from '../runtime/in-force.ts';
import { type Runtime, shippedConnectorsDir } from '../runtime/runtime.ts';
import { currentDocuments, type StoredDocument } from '../store/documents/documents.ts';
import { currentSources } from '../store/documents/list.ts';
import type { Json } from '../terms.ts';
import { offThread } from './off-thread.ts';

/**
 * Edits one document through the API: checks it together with the documents in force, puts it in force, and writes its file into this
 * node's workspace. Other nodes read documents from the database, never from this folder.
 */

/** Mistakes of a text, checked together with all other documents in force. Writes nothing. */
export async function validateDocument(
  runtime: Runtime,
  kind: DocumentKind,
  name: string | undefined,
  text: string,
): Promise<readonly Mistake[]> {
  const file = fileName(kind, name ?? 'new-document');
  const others = await sourcesInForce(runtime, await currentDocuments(runtime.pool), { kind, name });
  const { checked } = await offThread(runtime, 'checkEdit', { others, edited: { kind, file, text, shipped: false } });
  return checked.kind === 'ok' ? [] : checked.mistakes.filter((mistake) => mistake.file === file);
}

export async function applyDocument(
  runtime: Runtime,
  kind: DocumentKind,
  name: string,
  text: string,
  by: string,
): Promise<Applied> {
  const applied = await changeDocument<Applied>(runtime, by, async (inForce) => {
    const complete = unmasked(inForce, kind, name, text);
    const file = (await fileHere(runtime, kind, name)) ?? fileName(kind, name);
    const others = await sourcesInForce(runtime, inForce, { kind, name });
    const edited = { kind, file, text: complete, shipped: false };
    const { name: named, checked } = await offThread(runtime, 'checkEdit', { others, edited });
    if (kind !== 'workspace' && named !== undefined && named !== name) {
      const message = `the document is named ${named}, not ${name}`;
      return { refused: { kind: 'invalid', mistakes: [{ file, line: 1, column: 1, path: kind, message }] } };
    }
    if (checked.kind === 'invalid') return { refused: checked };
    if (!(await isWritten(() => writeWhole(runtime, file, complete)))) return { refused: { kind: 'read_only', file } };
    const put = withConnector(checked.documents, kind, name, inForce);
    return { put, remove: [], result: (all) => ({ kind: 'applied', version: versionIn(all, kind, name), file }) };
  });
  return afterChange(runtime, applied);
}

export async function removeDocument(runtime: Runtime, kind: DocumentKind, name: string, by: string): Promise<Applied> {
  const applied = await changeDocument<Applied>(runtime, by, async (inForce) => {
    const found = inForce.find((one) => one.kind === kind && one.name === name);
    if (found === undefined) return { refused: { kind: 'unknown' } };
    const sources = await sourcesInForce(runtime, inForce, { kind, name });
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

interface Named {
  readonly kind: DocumentKind;
  readonly name: string | undefined;
}
const isOne = (one: Named, { kind, name }: Named): boolean =>
  one.kind === kind && (kind === 'workspace' || one.name === name);
const fileName = (kind: DocumentKind, name: string): string =>
  kind === 'workspace' ? 'innbound.yaml' : `${kind}s/${name}.yaml`;
const versionIn = (all: readonly (Named & { version: number })[], kind: DocumentKind, name: string): number =>
  all.find((one) => isOne(one, { kind, name }))?.version ?? 0;

/** The source texts of the documents in force that an edit of one has to fit, and of the shipped connectors. */
async function sourcesInForce(runtime: Runtime, inForce: readonly StoredDocument[], but: Named): Promise<SourceFile[]> {
  const texts = await currentSources(runtime.pool);
  const shipped = (await readWorkspace(runtime.workspaceDir, { shippedConnectorsDir })).filter((one) => one.shipped);
  return [
    ...inForce
      .filter((one) => !isOne(one, but) && concerns(one, but))
      .map(({ kind, name }) => ({
        kind,
        file: fileName(kind, name),
        text: unmasked(inForce, kind, name, texts.get(`${kind} ${name}`) ?? ''),
        shipped: false,
      })),
    ...shipped,
  ];
}

/** An edit can only break the integrations that refer to the document, so the others are not checked again. */
function concerns(one: StoredDocument, { kind, name }: Named): boolean {
  if (one.kind !== 'integration') return true;
  const { connector, deliver } = one.body as { connector?: string; deliver?: readonly string[] };
  return kind === 'connector' ? connector === name : kind === 'destination' && deliver?.includes(name ?? '') === true;
}

/** The document; for the first integration that uses a shipped connector, that connector too. */
function withConnector(
  loaded: LoadedDocuments,
  kind: DocumentKind,
  name: string,
  inForce: readonly StoredDocument[],
): LoadedDocument[] {
  if (kind === 'workspace') return [loaded.workspace];
  const document = loaded[`${kind}s`].get(name);
  if (document === undefined) return [];
  if (document.kind !== 'integration') return [document];
  const connector = loaded.connectors.get(document.body.connector);
  const known = connector && inForce.some((one) => isOne(one, connector));
  return connector && !known ? [connector, document] : [document];
}

/** The file of a document in this node's workspace, if there is one. */
async function fileHere(runtime: Runtime, kind: DocumentKind, name: string): Promise<string | undefined> {
  const sources = await readWorkspace(runtime.workspaceDir, { shippedConnectorsDir });
  const own = sources.filter((source) => source.kind === kind && !source.shipped);
  return own.find((source) => kind === 'workspace' || parseFile(source).name === name)?.file;
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
  await writeFile(`${target}.new`, text);
  await rename(`${target}.new`, target);
}

const mask = '••••••';

/** Replaces each credential that came back still masked by the reference to its sealed value. */
function unmasked(inForce: readonly StoredDocument[], kind: DocumentKind, name: string, text: string): string {
  if (!text.includes(mask)) return text;
  const wanted = kind === 'workspace' ? workspaceName : name;
  const stored = inForce.find((one) => one.kind === kind && one.name === wanted);
  const document = parseDocument(text);
  // Mistakes are reported for the text as it was sent.
  if (document.errors.length > 0) return text;
  const visit = (value: unknown, at: readonly (string | number)[]): void => {
    if (typeof value === 'string' && value.includes(mask)) {
      const known = stored && valueAt(stored.body as Json, at);
      if (typeof known === 'string') document.setIn(at, known);
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, child] of Object.entries(value)) visit(child, [...at, Array.isArray(value) ? Number(key) : key]);
    }
  };
  visit(document.toJS(), []);
  return document.toString();
}
