import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { keySource } from '../../core/documents/keyring.ts';
import { readShippedConnectors } from '../../core/documents/load.ts';
import { nameText } from '../../core/documents/scalars.ts';
import { hasSchema, schemaOf } from '../../core/store/db/copy.ts';
import { migrate } from '../../core/store/db/migrate.ts';
import type { Pool } from '../../core/store/db/pool.ts';
import { documentsAround } from '../../core/store/documents/documents.ts';
import { InnboundError } from '../../errors.ts';
import {
  AlteredArchive,
  type ArchivedTable,
  DamagedArchive,
  passphraseKey,
  readArchive,
  writeArchive,
} from '../../kit/archive.ts';
import { type Key, type Keyring, openText, parseKeys, seal } from '../../kit/crypto.ts';
import { readKeyFile } from '../../kit/key-file.ts';
import { version } from '../../kit/version.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { shippedConnectorsDir } from '../../runtime/workspace-documents.ts';
import { backUp, isInUse, type OnTable, restoreTables } from '../store/backup.ts';
import { liveNodes } from '../store/nodes.ts';
import { fileHere, freeFile, isWritten, listedBrands, writeWhole } from './document-file.ts';
import { listedErasures } from './erasure-list.ts';

const common = {
  version: z.string().regex(/^[\w.+-]{1,40}$/),
  created_at: z.iso.datetime(),
  /** Rows fit only the tables that they were read from. */
  schema: z.array(z.string().max(100)),
  /** The key that seals the file, and the values in it. */
  key_id: z.string().regex(/^[0-9a-f]{16}$/),
};
/** The key of the file and others, sealed with a passphrase; in base64. Few: every guest that comes in is hashed with each. */
const keys = z.strictObject({ salt: z.base64().max(100), sealed: z.base64().max(4_000) });

/** What a file says about itself. Read before the seal is checked. */
const headers = {
  /** Without the keys only the installation that made it can read it. */
  backup: z.strictObject({ innbound: z.literal('backup'), ...common, keys: keys.optional() }),
  /** `epoch`: of the installation that a brand comes from: messages must not fall behind it. */
  brand: z.strictObject({
    innbound: z.literal('brand'),
    ...common,
    keys,
    brand: nameText(),
    epoch: z
      .int()
      .min(1)
      .max(2 ** 30),
  }),
};
type Kind = keyof typeof headers;
type Header<Of extends Kind = Kind> = z.infer<(typeof headers)[Of]>;

/** Writes the whole database into one file, with the keys if there is a passphrase for them. */
export async function backup(
  runtime: Runtime,
  file: string,
  passphrase: string | undefined,
  onTable: OnTable,
): Promise<void> {
  const { pool, keyring } = runtime;
  const header = {
    ...(await headerOf(runtime, 'backup', keyring[0])),
    ...(passphrase !== undefined && { keys: sealedKeys(keyring, passphrase) }),
  };
  await writeArchive(file, keyring[0], header, (archive) => backUp(pool, archive, onTable));
}

export async function headerOf<Of extends Kind>(
  { pool, clock }: Pick<Runtime, 'pool' | 'clock'>,
  innbound: Of,
  { id }: Key,
): Promise<Pick<Header, keyof typeof common> & { readonly innbound: Of }> {
  const schema = await schemaOf(pool);
  return { innbound, version, created_at: new Date(clock.now()).toISOString(), schema, key_id: id };
}

const boundTo = 'keys of an archive';

export function sealedKeys(keyring: Keyring, passphrase: string): z.infer<typeof keys> {
  const { key, salt } = passphraseKey(passphrase);
  const text = keyring.map(({ bytes }) => bytes.toString('base64')).join('\n');
  return { salt: salt.toString('base64'), sealed: seal([key], text, boundTo).toString('base64') };
}

/** Whoever does not know the passphrase cannot make a file that another installation accepts: it opens the key of the seal. */
export function openedKeys(sealed: z.infer<typeof keys>, passphrase: string | undefined): Keyring {
  if (passphrase === undefined) {
    throw new InnboundError(
      'store.passphrase',
      'The keys in the file are sealed with a passphrase, and none was given.',
    );
  }
  const { key } = passphraseKey(passphrase, Buffer.from(sealed.salt, 'base64'));
  const keyring = parseKeys(openText([key], Buffer.from(sealed.sealed, 'base64'), boundTo) ?? '');
  if (keyring === undefined)
    throw new InnboundError('store.passphrase', 'The passphrase does not open the keys in the file.');
  return keyring;
}

/** Reads a file of this kind. `unlock` finds the key that the header names; `work` begins when the seal of the whole file is right. */
export async function openArchive<Of extends Kind, Unlocked extends { readonly key: Key }, T>(
  file: string,
  kind: Of,
  unlock: (header: Header<Of>) => Promise<Unlocked>,
  work: (header: Header<Of>, unlocked: Unlocked, tables: AsyncIterable<ArchivedTable>) => Promise<T>,
): Promise<T> {
  try {
    return await readArchive(
      file,
      async (content) => {
        const header = headers[kind].safeParse(content).data as Header<Of> | undefined;
        if (header === undefined) throw new DamagedArchive(`it is not a ${kind} file`);
        return { header, ...(await unlock(header)) };
      },
      ({ header, ...unlocked }, tables) => work(header, unlocked as unknown as Unlocked, tables),
    );
  } catch (error) {
    if (error instanceof AlteredArchive) {
      const message = `${file} was altered or cut off after it was made: its seal does not match. Nothing was changed.`;
      throw new InnboundError('store.backup_altered', message, {}, error);
    }
    const missing = { ENOENT: 'it does not exist', EISDIR: 'it is not a file' }[
      String((error as NodeJS.ErrnoException).code)
    ];
    if (missing === undefined && !(error instanceof DamagedArchive)) throw error;
    const message = `${file} cannot be read: ${missing ?? (error as Error).message}. Nothing was changed.`;
    throw new InnboundError('store.backup_unreadable', message, {}, error);
  }
}

export async function refuseOtherSchema(pool: Pool, header: Header): Promise<void> {
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

interface RestoreOptions {
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
  const unlock = (header: Header<'backup'>) => keyHere(header, options);
  return openArchive(file, 'backup', unlock, async (header, { write }, tables) => {
    const wasThere = await hasSchema(pool);
    if (wasThere) await refuseRunningNodes(pool);
    await migrate(pool);
    await refuseOtherSchema(pool, header);
    if (!options.replace && wasThere && (await isInUse(pool))) {
      throw new InnboundError('store.not_empty', 'The database already holds documents or records.');
    }
    const known = await listedErasures(options.workspaceDir, options.erasureLists);
    const hashes = await restoreTables(pool, tables, known, options.onTable);
    await write();
    return hashes;
  });
}

/** The key of a backup: this workspace has it, or the passphrase opens it and `write` gives it to the workspace. */
async function keyHere(
  { key_id: id, keys: sealed }: Header<'backup'>,
  { workspaceDir, env, passphrase }: RestoreOptions,
): Promise<{ readonly key: Key; readonly write: () => Promise<void> }> {
  const source = keySource(workspaceDir, env);
  const { write } = source;
  const own = write && (await readKeyFile(source.name));
  const here = write === undefined ? await source.read() : own?.kind === 'ok' ? own.keys : [];
  const known = here.find((one) => one.id === id);
  if (known !== undefined) return { key: known, write: async () => {} };
  const opened = sealed && openedKeys(sealed, passphrase);
  const key = opened?.find((one) => one.id === id);
  if (opened !== undefined && key !== undefined && write !== undefined) {
    const others = here.filter((one) => !opened.some((other) => other.id === one.id));
    return { key, write: () => write([...opened, ...others]) };
  }
  throw new InnboundError(
    'store.other_key',
    `The backup is sealed with the key ${id}, which ${source.name} does not have${opened === undefined ? ', and the backup was made without its key' : ' and Innbound cannot write it there'}.`,
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
    const file = freeFile(workspaceDir, kind, name);
    if (await isWritten(() => writeWhole(workspaceDir, file, source))) written.push(file);
  }
  return written;
}
