import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { textsIn } from '../../core/documents/checked.ts';
import { foldersIn } from '../../core/documents/host-references.ts';
import { openSecret } from '../../core/documents/keyring.ts';
import type { LoadedDocuments } from '../../core/documents/kinds.ts';
import { findReferences } from '../../core/documents/secret-reference.ts';
import { noIntegration } from '../../errors/no-integration.ts';
import { InnboundError } from '../../errors.ts';
import { writeArchive } from '../../kit/archive.ts';
import { newKey } from '../../kit/crypto.ts';
import { isSqlState } from '../../kit/sql-state.ts';
import { changeDocument } from '../../runtime/in-force.ts';
import { addHashKeys } from '../../runtime/keys.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { isObject } from '../../terms.ts';
import type { OnTable } from '../store/backup.ts';
import {
  type BrandCounts,
  type BrandParts,
  brandCounts,
  brandDocuments,
  exportRows,
  type ImportedBrand,
  importRows,
  type Judge,
  type NewDocument,
  stillRunning,
} from '../store/brand.ts';
import { headerOf, openArchive, openedKeys, refuseOtherSchema, refuseRunningNodes, sealedKeys } from './backup.ts';
import { checkOffered } from './check-offered.ts';
import { fileHere, listedBrands } from './document-file.ts';
import { fileName, type InForce, isOne, readAround } from './sources-in-force.ts';

/**
 * Moves one brand to another installation: documents, records, history, versions and positions at destinations, with the same ids and
 * idempotency keys, so that destinations notice nothing. From the export on it no longer runs here.
 */
type ExportPreview = BrandParts & BrandCounts;

export async function previewExport(runtime: Runtime, name: string): Promise<ExportPreview> {
  const documents = await brandDocuments(runtime.pool, name);
  if (documents === undefined) {
    throw new InnboundError('documents.unknown_name', noIntegration(name, runtime.active().integrations.keys()));
  }
  if (documents.pulledWith !== null) {
    throw refused([`${name} is pulled together with ${documents.pulledWith}: give each its own pull first`]);
  }
  const row = (await listedBrands(runtime.workspaceDir)).get(name);
  if (row !== undefined)
    throw refused([`${name} is a row of ${row.file}, which would bring it back: remove the row first`]);
  return { ...documents.parts, ...(await brandCounts(runtime.pool, name)) };
}

export async function exportBrand(
  runtime: Runtime,
  name: string,
  file: string,
  { by, passphrase, onTable }: { readonly by: string; readonly passphrase: string; readonly onTable: OnTable },
): Promise<ExportPreview> {
  const preview = await previewExport(runtime, name);
  await takeOutOfForce(runtime, name, by);
  while ((await stillRunning(runtime.pool, name)) > 0) await delay(200);
  // A key of its own: the installation's keys open what belongs to other brands.
  const transfer = newKey();
  const header = {
    ...(await headerOf(runtime, 'brand', transfer)),
    brand: name,
    epoch: runtime.restoreCheck.epoch(),
    keys: sealedKeys([transfer, ...runtime.keys.hashKeys], passphrase),
  };
  for (let attempt = 1; ; attempt++) {
    try {
      await writeArchive(file, transfer, header, (archive) =>
        exportRows(runtime.pool, preview, [transfer, ...runtime.keyring], archive, onTable),
      );
      return preview;
    } catch (error) {
      if (attempt === 5 || !isSqlState(error, 'serializationFailure')) throw error;
    }
  }
}

/** Polls, events and deliveries of the brand stop on all nodes. Its records stay at the destinations. */
async function takeOutOfForce(runtime: Runtime, name: string, by: string): Promise<void> {
  const one = { kind: 'integration', name } as const;
  await changeDocument<void>(runtime, by, async (tx) => {
    const present = (await readAround(runtime, tx, one)).find((document) => isOne(document, one));
    return { put: [], remove: present === undefined ? [] : [present], goesOn: true, result: () => {} };
  });
  const here = await fileHere(runtime.workspaceDir, 'integration', name);
  if (here !== undefined) await rm(path.join(runtime.workspaceDir, here.file));
  await runtime.refresh();
  runtime.wake.signal('documents');
}

type Imported = ImportedBrand & { readonly brand: string };

interface ImportOptions {
  readonly passphrase: string | undefined;
  readonly apply: boolean;
  /** Names that exist here and that the brand may use with their value here. */
  readonly secretsHere?: readonly string[];
  /** Deriving a key takes most of the time: test/operations/hostile-archives.test.ts opens hundreds of files. */
  readonly keysOf?: typeof openedKeys;
}

/** Without `apply`, only what the import would do. */
export async function importBrand(
  runtime: Runtime,
  file: string,
  { passphrase, apply, secretsHere = [], keysOf = openedKeys }: ImportOptions,
): Promise<Imported> {
  const { pool, keyring, keys } = runtime;
  const unlock = async (header: { readonly keys: Parameters<typeof openedKeys>[0] }) => {
    const [key, ...hashKeys] = keysOf(header.keys, passphrase);
    return { key, hashKeys };
  };
  return openArchive(file, 'brand', unlock, async (header, { key, hashKeys }, tables) => {
    await refuseOtherSchema(pool, header);
    // They would not recognise the guests whom the other installation has erased.
    if (apply) await refuseRunningNodes(pool);
    const { brand, epoch } = header;
    const imported = await importRows(
      pool,
      { integration: brand, epoch },
      tables,
      [...keyring, key],
      apply,
      (...offered) => judge(runtime, offered, secretsHere),
      (tx) => addHashKeys(tx, keyring, keys.hashKeys, hashKeys),
    );
    if (imported.refused.length > 0) throw refused(imported.refused);
    if (apply) {
      await runtime.restoreCheck.check();
      await runtime.refresh();
    }
    return { brand, ...imported };
  });
}

/**
 * A brand's file brings data, not rights: its documents come in through the door of all others, with the documents in force, and use the
 * file's own secrets.
 */
async function judge(
  runtime: Runtime,
  [documents, secretsOf]: Parameters<Judge>,
  secretsHere: readonly string[],
): ReturnType<Judge> {
  const offered = documents.map(({ kind, name, source }) => ({ kind, name, file: fileName(kind, name), text: source }));
  const around = new Map<string, InForce>();
  for (const one of offered) {
    for (const other of await readAround(runtime, runtime.pool, one, one.text))
      around.set(`${other.kind} ${other.name}`, other);
  }
  const { checked } = await checkOffered(runtime, [...around.values()], offered);
  const names = documents.flatMap(({ body }) => [...textsIn(body)].flatMap(({ text }) => secretsIn(text)));
  const opened = (name: string, sealed: Buffer | null) => sealed && openSecret(runtime.keyring, name, sealed);
  const secrets = (await secretsOf([...new Set(names)])).map(({ name, here, inFile }) => ({
    name,
    here: opened(name, here),
    inFile: opened(name, inFile),
  }));
  // Who made the file knows its values: one that is the same here gives nothing away.
  const differing = secrets.filter(({ here, inFile }) => here !== null && here !== inFile).map(({ name }) => name);
  const used = new Map(secrets.map(({ name, here, inFile }) => [name, here ?? inFile ?? '']));
  return {
    refused: [
      ...(checked.kind === 'ok'
        ? documents.flatMap((one) => otherContent(one, checked.documents))
        : checked.mistakes.map(({ file, line, path: at, message }) => `${file}:${line} ${at}: ${message}`)),
      ...differing
        .filter((name) => !secretsHere.includes(name))
        .map((name) => `the secret ${name} has another value here: rename one, or add --secret-here ${name} to use it`),
    ],
    secrets: secrets.flatMap(({ name, inFile }) => (inFile === null ? [] : [name])),
    secretsKept: differing,
    addresses: [...new Set(documents.flatMap(({ body }) => addressesIn(body, used)))],
    folders: documents.flatMap(({ body }) => foldersIn(body).map(({ text }) => text)),
  };
}

/** The text is what an operator sees and edits, the body is what runs: they must say the same. */
function otherContent({ kind, name, body }: NewDocument, checked: LoadedDocuments): string[] {
  const loaded = kind === 'workspace' ? undefined : checked[`${kind}s`].get(name);
  const isSame = loaded !== undefined && isDeepStrictEqual(JSON.parse(JSON.stringify(loaded.body)), body);
  return isSame ? [] : [`the ${kind} ${name} is not valid: its text has other content`];
}

const secretsIn = (text: string): string[] =>
  findReferences(text).references.flatMap(({ kind, target }) => (kind === 'secret' ? [target] : []));

/** The settings of destinations that say where they are without being a URL. */
const places = 'account brokers bucket bus endpoint host namespace preset project servers topic_arn'.split(' ');

/** What a document speaks to, without what may be a credential in it. A destination always shows something. */
function addressesIn(body: unknown, secrets: ReadonlyMap<string, string>): string[] {
  const remote = isObject(body) && 'destination' in body && body.type !== 'files' ? String(body.type) : undefined;
  const found = [...textsIn(body)].flatMap(({ text, path: [name] }) => {
    const filled = secretsIn(text).reduce((all, one) => all.replace(`\${secret:${one}}`, secrets.get(one) ?? ''), text);
    const { protocol, host } = URL.parse(filled) ?? {};
    if (protocol && host) return [`${protocol}//${host}`];
    return remote && places.includes(String(name)) ? [`${name} ${text}`] : [];
  });
  return found.length === 0 && remote ? [`the service ${remote}`] : found;
}

const refused = (why: readonly string[]): InnboundError =>
  new InnboundError('operate.transfer_refused', `${why.join('; ')}.`);
