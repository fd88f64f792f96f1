import { mkdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import { keySource } from '../documents/keyring.ts';
import { readShippedConnectors } from '../documents/load.ts';
import { InnboundError } from '../errors.ts';
import { DamagedArchive, passphraseKey, readArchive, writeArchive } from '../kit/archive.ts';
import { type Keyring, open, parseKeys, seal } from '../kit/crypto.ts';
import { readKeyFile } from '../kit/key-file.ts';
import { version } from '../kit/version.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { shippedConnectorsDir } from '../runtime/workspace-documents.ts';
import { backUp, isInUse, type OnTable, restoreTables } from '../store/db/backup.ts';
import { hasSchema, schemaOf } from '../store/db/copy.ts';
import { migrate } from '../store/db/migrate.ts';
import type { Pool } from '../store/db/pool.ts';
import { documentsAround } from '../store/documents/documents.ts';
import { liveNodes } from '../store/operate/nodes.ts';
import { fileHere, freeFile, isWritten, listedBrands, writeWhole } from './document-file.ts';
import { listedErasures } from './erasure-list.ts';

/** What a file of this installation says about itself. */
export interface ArchiveHeader {
  readonly innbound: 'backup' | 'brand';
  readonly version: string;
  readonly created_at: string;
  /** Rows fit only the tables that they were read from. */
  readonly schema: readonly string[];
  /** The key that sealed the values of a backup. */
  readonly key_id?: string;
  /** The keys that open the values, sealed with a passphrase; in base64. */
  readonly keys?: { readonly salt: string; readonly sealed: string };
  readonly brand?: string;
  /** Of the installation that a brand comes from: messages must not fall behind it. */
  readonly epoch?: number;
}

/** Writes the whole database into one file, with the keys if there is a passphrase for them. */
export async function backup(
  runtime: Runtime,
  file: string,
  passphrase: string | undefined,
  onTable: OnTable,
): Promise<void> {
  const { pool, keyring } = runtime;
  const header = {
    ...(await headerOf(runtime, 'backup')),
    key_id: keyring[0].id,
    ...(passphrase !== undefined && { keys: sealedKeys(keyring, passphrase) }),
  };
  await writeArchive(file, header, (archive) => backUp(pool, archive, onTable));
}

export async function headerOf(
  { pool, clock }: Pick<Runtime, 'pool' | 'clock'>,
  innbound: ArchiveHeader['innbound'],
): Promise<ArchiveHeader> {
  return { innbound, version, created_at: new Date(clock.now()).toISOString(), schema: await schemaOf(pool) };
}

const boundTo = 'keys of an archive';

export function sealedKeys(keyring: Keyring, passphrase: string): NonNullable<ArchiveHeader['keys']> {
  const { key, salt } = passphraseKey(passphrase);
  const text = keyring.map(({ bytes }) => bytes.toString('base64')).join('\n');
  return { salt: salt.toString('base64'), sealed: seal([key], text, boundTo).toString('base64') };
}

export function openedKeys({ keys }: ArchiveHeader, passphrase: string | undefined): Keyring | undefined {
  if (keys === undefined) return undefined;
  if (passphrase === undefined) {
    throw new InnboundError(
      'store.passphrase',
      'The keys in the file are sealed with a passphrase, and none was given.',
    );
  }
  const { key } = passphraseKey(passphrase, Buffer.from(keys.salt, 'base64'));
  const opened = open([key], Buffer.from(keys.sealed, 'base64'), boundTo);
  const found = opened.kind === 'ok' ? parseKeys(opened.plaintext.toString('utf8')) : undefined;
  if (found === undefined)
    throw new InnboundError('store.passphrase', 'The passphrase does not open the keys in the file.');
  return found;
}

/** Reads a file of this kind, made with the tables of this version. */
export async function openArchive<T>(
  file: string,
  kind: ArchiveHeader['innbound'],
  work: (header: ArchiveHeader, tables: Parameters<Parameters<typeof readArchive>[1]>[1]) => Promise<T>,
): Promise<T> {
  try {
    await realpath(file);
    return await readArchive(file, (found, tables) => {
      const header = found as ArchiveHeader;
      if (header?.innbound !== kind) throw new DamagedArchive(`it is not a ${kind} file`);
      return work(header, tables);
    });
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (!isMissing && !(error instanceof DamagedArchive)) throw error;
    const why = isMissing ? 'it does not exist' : (error as Error).message;
    throw new InnboundError(
      'store.backup_unreadable',
      `${file} cannot be read: ${why}. Nothing was changed.`,
      {},
      error,
    );
  }
}

export async function refuseOtherSchema(pool: Pool, header: ArchiveHeader): Promise<void> {
  const here = await schemaOf(pool);
  if (header.schema.join() === here.join()) return;
  const kind = header.schema.length > here.length ? 'a newer' : 'another';
  throw new InnboundError(
    'store.backup_version',
    `The file was made by Innbound ${header.version} with ${kind} database schema than that of this version, ${version}.`,
  );
}

/** A running node would go on with what it remembers of the replaced rows. */
export async function refuseRunningNodes(pool: Pool): Promise<void> {
  const nodes = await liveNodes(pool);
  if (nodes.length === 0) return;
  throw new InnboundError('store.nodes_running', `Running nodes: ${nodes.map(({ node }) => node).join(', ')}.`);
}

export interface RestoreOptions {
  readonly workspaceDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly passphrase: string | undefined;
  /** Whether rows that are there may be replaced. */
  readonly replace: boolean;
  readonly erasureLists: readonly string[];
  onTable(table: string): void;
}

/**
 * Fills the database from the file, and the key file if the key is the workspace's own. Returns the hashes of the guests who were erased
 * after the backup. Runs before anything else opens the database.
 */
export async function restore(pool: Pool, file: string, options: RestoreOptions): Promise<string[]> {
  return openArchive(file, 'backup', async (header, tables) => {
    const wasThere = await hasSchema(pool);
    if (wasThere) await refuseRunningNodes(pool);
    await migrate(pool);
    await refuseOtherSchema(pool, header);
    if (!options.replace && wasThere && (await isInUse(pool))) {
      throw new InnboundError('store.not_empty', 'The database already holds documents or records.');
    }
    const known = await listedErasures(options.workspaceDir, options.erasureLists);
    const write = await keysToWrite(header, options);
    const hashes = await restoreTables(pool, tables, known, options.onTable);
    await write();
    return hashes;
  });
}

/** Checks that this workspace has the key of the backup or can be given it. */
async function keysToWrite(
  header: ArchiveHeader,
  { workspaceDir, env, passphrase }: RestoreOptions,
): Promise<() => Promise<void>> {
  const source = keySource(workspaceDir, env);
  const { write } = source;
  const own = write && (await readKeyFile(source.name));
  const here = write === undefined ? await source.read() : own?.kind === 'ok' ? own.keys : [];
  if (here.some(({ id }) => id === header.key_id)) return async () => {};
  const keys = openedKeys(header, passphrase);
  if (keys !== undefined && write !== undefined) {
    const others = here.filter(({ id }) => !keys.some((key) => key.id === id));
    return () => write([...keys, ...others]);
  }
  throw new InnboundError(
    'store.other_key',
    `The backup is sealed with the key ${header.key_id}, which ${source.name} does not have${keys === undefined ? ', and the backup was made without its key' : ' and Innbound cannot write it there'}.`,
  );
}

/** Writes the files of documents in force that this workspace lacks. Returns their names. */
export async function writeMissingFiles(runtime: Runtime): Promise<string[]> {
  const { workspaceDir, pool } = runtime;
  const documents = await documentsAround(pool, [...runtime.active().integrations.keys()]);
  const shipped = new Set((await readShippedConnectors(shippedConnectorsDir)).map(({ text }) => text));
  const written: string[] = [];
  // An empty folder is not a workspace yet.
  await isWritten(async () => void (await mkdir(path.join(workspaceDir, 'integrations'), { recursive: true })));
  const listed = await listedBrands(workspaceDir);
  for (const { kind, name, source } of documents) {
    if (kind === 'integration' && listed.has(name)) continue;
    if (shipped.has(source) || (await fileHere(workspaceDir, kind, name)) !== undefined) continue;
    const file = await freeFile(workspaceDir, kind, name);
    if (await isWritten(() => writeWhole(workspaceDir, file, source))) written.push(file);
  }
  return written;
}
