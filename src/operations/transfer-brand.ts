import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { parseFile } from '../documents/parse.ts';
import { noIntegration } from '../errors/no-integration.ts';
import { InnboundError } from '../errors.ts';
import { writeArchive } from '../kit/archive.ts';
import { type Keyring, newKey } from '../kit/crypto.ts';
import { isSqlState } from '../kit/sql-state.ts';
import { changeDocument } from '../runtime/in-force.ts';
import { addHashKeys } from '../runtime/keys.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { OnTable } from '../store/db/backup.ts';
import {
  type BrandCounts,
  type BrandParts,
  brandCounts,
  brandDocuments,
  exportRows,
  type ImportedBrand,
  importRows,
  type NewDocument,
  stillRunning,
} from '../store/db/brand.ts';
import { headerOf, openArchive, openedKeys, refuseOtherSchema, refuseRunningNodes, sealedKeys } from './backup.ts';
import { fileHere, listedBrands } from './document-file.ts';
import { fileName, isOne, readAround } from './sources-in-force.ts';

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

/** Without `apply`, what the import would do. */
export async function importBrand(
  runtime: Runtime,
  file: string,
  { passphrase, apply }: { readonly passphrase: string | undefined; readonly apply: boolean },
): Promise<ImportedBrand & { readonly brand: string }> {
  return importWith(runtime, file, (sealed) => openedKeys(sealed, passphrase), apply);
}

/** Apart from the passphrase, whose derivation takes most of the time: test/operations/hostile-archives.test.ts opens hundreds of files. */
export async function importWith(
  runtime: Runtime,
  file: string,
  keysOf: (sealed: Parameters<typeof openedKeys>[0]) => Keyring,
  apply: boolean,
): Promise<ImportedBrand & { readonly brand: string }> {
  const { pool, keyring, keys } = runtime;
  const unlock = async (header: { readonly keys: Parameters<typeof openedKeys>[0] }) => {
    const [key, ...hashKeys] = keysOf(header.keys);
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
      documentProblems,
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

/** The text is what an operator sees and edits, the body is what runs: they must say the same. */
function documentProblems(documents: readonly NewDocument[]): string[] {
  return documents.flatMap(({ kind, name, source, body }) => {
    const { document, mistakes } = parseFile({ kind, file: fileName(kind, name), text: source });
    const isSame = document?.name === name && isDeepStrictEqual(JSON.parse(JSON.stringify(document.body)), body);
    return isSame ? [] : [`the ${kind} ${name} is not valid: ${mistakes[0]?.message ?? 'its text has other content'}`];
  });
}

const refused = (why: readonly string[]): InnboundError =>
  new InnboundError('operate.transfer_refused', `${why.join('; ')}.`);
