import { rm } from 'node:fs/promises';
import path from 'node:path';
import { type Document, parseDocument } from 'yaml';
import type { DocumentKind, LoadedDocument, LoadedDocuments } from '../../core/documents/kinds.ts';
import type { Mistake } from '../../core/documents/mistake.ts';
import type { Tx } from '../../core/store/db/pool.ts';
import { documentsAround } from '../../core/store/documents/documents.ts';
import { countRecords } from '../../core/store/records/stored-record.ts';
import { casesText } from '../../errors/broken-cases.ts';
import { InnboundError } from '../../errors.ts';
import { changeDocument } from '../../runtime/in-force.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { sealable } from '../../runtime/seal-documents.ts';
import { checkOffered } from './check-offered.ts';
import { fileHere, freeFile, isUnapplied, isWritten, listedBrands, writeWhole } from './document-file.ts';
import { acceptCases as acceptAll, casesBrokenBy } from './mapping-cases.ts';
import { offThread } from './off-thread.ts';
import { fileName, isOne, type Named, readAround, soundSources, sourcesAround } from './sources-in-force.ts';

interface EditedDocument {
  readonly kind: DocumentKind;
  readonly name: string;
  readonly text: string;
}

interface ApplyOptions {
  /** Accept the new records of cases that the text changes. */
  readonly acceptCases?: boolean;
  /** The version that the text was made from, 0 for a new document; refused if another one is in force. */
  readonly replaces?: number | undefined;
  /** Runs in the transaction of the change before anything is written, and may throw. */
  readonly within?: (tx: Tx) => Promise<unknown>;
}

/** The version that an edit put in force or removed, and its file in this node's workspace. A refusal is thrown, and undoes the edit. */
export interface Edited {
  readonly version: number;
  readonly file: string;
}

function refuseInvalid(mistakes: readonly Mistake[]): never {
  const counted = `${mistakes.length} ${mistakes.length === 1 ? 'mistake' : 'mistakes'}`;
  throw new InnboundError('documents.invalid', `${counted}; nothing was applied.`, { mistakes });
}

const conflict = (message: string): InnboundError => new InnboundError('operate.conflict', message);

/** An edit would overwrite what somebody has changed in the file and not applied yet. */
const unapplied = (file: string): InnboundError =>
  conflict(`${file} has changes that were not applied. Run \`innbound apply\` or undo them there, then edit again.`);

const readOnly = (file: string): InnboundError => conflict(`${file} is read-only here: change it at its source.`);

/** Mistakes and warnings of a text, checked as an apply checks it. Writes nothing. */
export async function validateDocument(runtime: Runtime, kind: DocumentKind, name: string | undefined, text: string) {
  const file = fileName(kind, name ?? 'new-document');
  const around = await readAround(runtime, runtime.pool, { kind, name }, text);
  const { checked, holdsCredentials } = await checkOffered(runtime, around, [{ kind, name, file, text }]);
  return {
    mistakes: checked.kind === 'ok' ? [] : checked.mistakes,
    warnings: checked.warnings
      .filter((one) => one.file === file)
      .map((one) => ({ ...one, severity: 'warning' as const })),
    holdsCredentials,
  };
}

/**
 * Edits one document through the API: checks it together with the documents in force, puts it in force, and writes its file into this
 * node's workspace. Other nodes read documents from the database, never from this folder.
 */
export async function applyDocument(
  runtime: Runtime,
  { kind, name, text }: EditedDocument,
  by: string,
  { acceptCases = false, replaces, within }: ApplyOptions = {},
): Promise<Edited> {
  const applied = await changeDocument<Edited>(runtime, by, async (tx) => {
    const around = await readAround(runtime, tx, { kind, name }, text);
    const version = around.find((one) => isOne(one, { kind, name }))?.version ?? 0;
    if (replaces !== undefined && replaces !== version) {
      const now = version === 0 ? 'no version is in force' : `version ${version} is in force`;
      throw new InnboundError('documents.outdated', `${kind} ${name}: ${now}; nothing was applied.`, { version });
    }
    const here = await fileHere(runtime.workspaceDir, kind, name);
    const file = here?.file ?? freeFile(runtime.workspaceDir, kind, name);
    const { checked } = await checkOffered(runtime, around, [{ kind, name, file, text }]);
    if (checked.kind === 'invalid') return refuseInvalid(checked.mistakes);
    // The file gets the references too: a credential typed in the console is never written to a disk.
    const sealed = sealable(runtime.keys, { kind, name, source: text });
    const source = sealed?.document.source ?? text;
    if (here && here.text !== source && (await isUnapplied(runtime, tx, { kind, name, ...here })))
      throw unapplied(file);
    const broken = kind === 'connector' ? await casesBrokenBy(runtime, [{ name, source: text }]) : [];
    const cases = broken.filter(({ message }) => !acceptCases || message !== null);
    if (cases.length > 0) {
      throw new InnboundError('documents.case_changed', `${casesText(cases)}; nothing was applied.`, { cases });
    }
    await within?.(tx);
    if (!(await isWritten(() => writeWhole(runtime.workspaceDir, file, source)))) throw readOnly(file);
    if (broken.length > 0) await acceptAll(runtime, tx, { name, source: text }, by);
    const put = withConnector(checked.documents, kind, name, around).map((one) =>
      isOne(one, { kind, name }) ? (sealed?.document ?? one) : one,
    );
    const secrets = sealed?.secrets ?? [];
    return {
      put,
      secrets,
      remove: [],
      result: (all) => ({ version: versionIn(all, kind, name), file }),
    };
  });
  return afterChange(runtime, applied);
}

/** Edits the text of a document that is in force; comments and order stay. */
export async function editInForce(
  runtime: Runtime,
  { kind, name }: Pick<EditedDocument, 'kind' | 'name'>,
  by: string,
  edit: (yaml: Document) => void,
  options: ApplyOptions = {},
): Promise<Edited> {
  const before = kind === 'workspace' ? await stored(runtime, kind, name) : await inForce(runtime, kind, name);
  const yaml: Document = parseDocument(before?.source?.trim() || '{}', { uniqueKeys: false });
  edit(yaml);
  const text = yaml.toString({ lineWidth: 0 });
  return applyDocument(runtime, { kind, name, text }, by, { ...options, ...(before && { replaces: before.version }) });
}

export async function inForce(runtime: Runtime, kind: DocumentKind, name: string) {
  const document = await stored(runtime, kind, name);
  if (document === undefined) throw new InnboundError('operate.not_found', `There is no ${kind} ${name}.`);
  return document;
}

const stored = async ({ pool }: Runtime, kind: DocumentKind, name: string) =>
  (await documentsAround(pool, [name])).find((one) => isOne(one, { kind, name }));

export async function removeDocument(runtime: Runtime, kind: DocumentKind, name: string, by: string): Promise<Edited> {
  const removed = await changeDocument<Edited>(runtime, by, async (tx) => {
    const around = await readAround(runtime, tx, { kind, name });
    const draft = around.find((one) => one.kind === kind && one.name === name);
    if (draft === undefined) throw new InnboundError('operate.not_found', `There is no ${kind} ${name}.`);
    const others = await sourcesAround(around, [{ kind, name }]);
    const sources = await soundSources(runtime, around, others, [{ kind, name }]);
    const checked = await offThread(runtime, 'check', { sources });
    if (checked.kind === 'invalid') return refuseInvalid(checked.mistakes);
    const row = kind === 'integration' ? (await listedBrands(runtime.workspaceDir)).get(name) : undefined;
    if (row !== undefined)
      throw conflict(`${kind} ${name} is a row of ${row.file}: remove it there and run \`innbound apply\`.`);
    const here = await fileHere(runtime.workspaceDir, kind, name);
    if (here && (await isUnapplied(runtime, tx, { kind, name, ...here }))) throw unapplied(here.file);
    if (here && !(await isWritten(() => rm(path.join(runtime.workspaceDir, here.file))))) throw readOnly(here.file);
    const result = { version: draft.version, file: here?.file ?? fileName(kind, name) };
    return { put: [], remove: [draft], result: () => result };
  });
  return afterChange(runtime, removed);
}

/** This node reads the new documents at once; a signal makes the others do the same. */
async function afterChange(runtime: Runtime, edited: Edited): Promise<Edited> {
  await runtime.refresh();
  runtime.wake.signal('documents');
  return edited;
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

/** Which brands a change of a document concerns, and how many records they have. */
export async function documentImpact(runtime: Runtime, kind: DocumentKind, name: string) {
  const integrations = [...runtime.active().integrations.values()]
    .filter(
      (brand) =>
        kind === 'workspace' ||
        (kind === 'integration' && brand.integration === name) ||
        (kind === 'connector' && brand.connector.name === name) ||
        (kind === 'destination' && brand.body.deliver.includes(name)),
    )
    .map((brand) => brand.integration as string);
  return { integrations, records: await countRecords(runtime.pool, integrations) };
}
