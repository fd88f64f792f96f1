import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import type { Applied, ApplyOptions, DocumentPorts } from '../api/routes/documents.ts';
import { hostReferences } from '../documents/host-references.ts';
import { type DocumentKind, type LoadedDocument, type LoadedDocuments, workspaceName } from '../documents/kinds.ts';
import { readWorkspace } from '../documents/load.ts';
import type { Mistake } from '../documents/mistake.ts';
import { parseFile, type SourceFile } from '../documents/parse.ts';
import { mask, unmasked } from '../documents/typed-secrets.ts';
import { changeDocument, sealable } from '../runtime/in-force.ts';
import { type Runtime, shippedConnectorsDir } from '../runtime/runtime.ts';
import { currentDocuments, type StoredDocument } from '../store/documents/documents.ts';
import { currentSources } from '../store/documents/list.ts';
import { acceptCases as acceptAll, brokenCases } from './mapping-cases.ts';
import { offThread } from './off-thread.ts';

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
  const inForce = await currentDocuments(runtime.pool);
  const others = await sourcesInForce(runtime, inForce, { kind, name });
  const edited = { kind, file, text, shipped: false };
  const known = hostReferences(inForce.find((one) => isOne(one, { kind, name }))?.body);
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
  kind: DocumentKind,
  name: string,
  text: string,
  by: string,
  { acceptCases }: ApplyOptions = { acceptCases: false },
): Promise<Applied> {
  const applied = await changeDocument<Applied>(runtime, by, async (inForce) => {
    const complete = completed(inForce, kind, name, text);
    const file = (await fileHere(runtime, kind, name)) ?? fileName(kind, name);
    const others = await sourcesInForce(runtime, inForce, { kind, name });
    const edited = { kind, file, text: complete, shipped: false };
    const known = hostReferences(inForce.find((one) => isOne(one, { kind, name }))?.body);
    const check = (sources: SourceFile[]) =>
      offThread(runtime, 'checkEdit', { others: sources, edited, hostReferences: known });
    const { name: named, ...first } = await check(others);
    const isElsewhere = first.checked.kind === 'invalid' && first.checked.mistakes.every((one) => one.file !== file);
    const { checked } = isElsewhere ? await check(await sound(runtime, inForce, others, { kind, name })) : first;
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
    const put = withConnector(checked.documents, kind, name, inForce).map((one) =>
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

/** The source texts that an edited document is checked with: the documents in force and the shipped connectors. */
async function sourcesInForce(runtime: Runtime, inForce: readonly StoredDocument[], but: Named): Promise<SourceFile[]> {
  const texts = await currentSources(runtime.pool);
  const shipped = (await readWorkspace(runtime.workspaceDir, { shippedConnectorsDir })).filter((one) => one.shipped);
  return [
    ...inForce
      .filter((one) => !isOne(one, but) && concerns(one, but))
      .map((one) => ({
        kind: one.kind,
        file: fileName(one.kind, one.name),
        text: soundSource(inForce, one, texts.get(`${one.kind} ${one.name}`) ?? ''),
        shipped: false,
      })),
    ...shipped,
  ];
}

/** The sources without mistakes: a document that was broken before must not block the edit of another one. */
async function sound(
  runtime: Runtime,
  inForce: readonly StoredDocument[],
  others: readonly SourceFile[],
  { kind, name }: Named,
): Promise<SourceFile[]> {
  const known = inForce.find((one) => isOne(one, { kind, name }));
  const text = known && (await currentSources(runtime.pool)).get(`${known.kind} ${known.name}`);
  const file = fileName(kind, name ?? '');
  const unedited =
    text === undefined ? [] : [{ kind, file, text: completed(inForce, kind, name ?? '', text), shipped: false }];
  const checked = await offThread(runtime, 'check', { sources: [...others, ...unedited] });
  const broken = new Set(checked.kind === 'ok' ? [] : checked.mistakes.map((one) => one.file));
  return others.filter((one) => !broken.has(one.file));
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
  // Most files are named after their document: of ten thousand, one is read instead of all.
  own.sort((a, b) => Number(b.file === fileName(kind, name)) - Number(a.file === fileName(kind, name)));
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
  await writeFile(`${target}.new`, text, { mode: 0o600 });
  await rename(`${target}.new`, target);
}

/** Replaces masks by their references: earlier versions of Innbound showed typed credentials as masks, and an edited text may contain them. */
function completed(inForce: readonly StoredDocument[], kind: DocumentKind, name: string, text: string): string {
  const wanted = kind === 'workspace' ? workspaceName : name;
  return unmasked(text, inForce.find((one) => one.kind === kind && one.name === wanted)?.body);
}

/** The text in force. One that an earlier version spoiled by masking parts of words is rebuilt from its body. */
function soundSource(inForce: readonly StoredDocument[], { kind, name, body }: StoredDocument, text: string): string {
  if (!text.includes(mask)) return text;
  const complete = completed(inForce, kind, name, text);
  return complete.includes(mask) ? stringify(body) : complete;
}
