import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { InnboundError } from '../../errors.ts';
import { type Keyring, open, parseKeys, seal } from '../../kit/crypto.ts';
import { type KeyFile, keyFile, readKeyFile, writeKeyFile } from '../../kit/key-file.ts';

/**
 * Where a process gets the keys that seal stored secrets. All keys of a source open values. The database decides which of them
 * seals (runtime/keys.ts), so that nodes can be given a new key one after the other.
 */
export interface KeySource {
  /** For messages, such as `the variable INNBOUND_KEY`. */
  readonly name: string;
  readonly read: () => Promise<Keyring>;
  /** Only for the workspace's own file: other places belong to the operator. */
  readonly write?: (keys: Keyring) => Promise<void>;
  /** Keeps a copy of a key that is no longer used, for backups made with it. Returns its path. */
  readonly keepOld?: (key: Keyring[0]) => Promise<string>;
  /** False if new keys need a restart. */
  readonly rereads: boolean;
}

type Env = Readonly<Record<string, string | undefined>>;

/** The first of: INNBOUND_KEY, INNBOUND_KEY_FILE, INNBOUND_KEY_COMMAND, the workspace's own file (created on first use). */
export function keySource(workspaceDir: string, env: Env): KeySource {
  const [keys, file, command] = [env.INNBOUND_KEY, env.INNBOUND_KEY_FILE, env.INNBOUND_KEY_COMMAND];
  if (keys)
    return { name: 'the variable INNBOUND_KEY', rereads: false, read: async () => parsed(keys, 'INNBOUND_KEY') };
  if (file) return { name: file, rereads: true, read: async () => sound(file, await readKeyFile(file)) };
  if (command) {
    const read = async () => parsed(await outputOf(command), 'The output of INNBOUND_KEY_COMMAND');
    return { name: 'the command in INNBOUND_KEY_COMMAND', rereads: true, read };
  }
  const own = join(workspaceDir, '.innbound', 'key');
  return {
    name: own,
    rereads: true,
    read: async () => sound(own, await keyFile(own)),
    write: (ring) => writeKeyFile(own, ring),
    keepOld: async (key) => {
      const path = `${own}.retired-${key.id}`;
      await writeKeyFile(path, [key]);
      return path;
    },
  };
}

function sound(path: string, file: KeyFile | undefined): Keyring {
  if (file?.kind === 'ok') return file.keys;
  if (file === undefined) {
    const message = `INNBOUND_KEY_FILE names ${path}, which does not exist.`;
    throw new InnboundError('documents.key_unreadable', message, { path });
  }
  if (file.kind === 'exposed') {
    const message = `${path} is readable by others (mode ${file.mode}): run chmod 600 on it.`;
    throw new InnboundError('documents.key_exposed', message, { path });
  }
  throw new InnboundError('documents.key_malformed', `${path} is not a key of 32 bytes in hex or base64.`, { path });
}

function parsed(text: string, what: string): Keyring {
  const keys = parseKeys(text);
  if (keys !== undefined) return keys;
  throw new InnboundError('documents.key_malformed', `${what} is not a key of 32 bytes in hex or base64.`);
}

/** Its output holds keys: no message may quote it, and what it writes to standard error may hold secrets too. */
async function outputOf(command: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', command], { timeout: 30_000, maxBuffer: 65_536 });
    return stdout;
  } catch (error) {
    const { code, killed } = error as { code?: unknown; killed?: boolean };
    const why = killed ? 'it did not end within 30 seconds' : `exit code ${String(code)}`;
    throw new InnboundError('documents.key_unreadable', `INNBOUND_KEY_COMMAND failed: ${why}.`);
  }
}

/** Bound to its name: a sealed secret copied over another one does not open as it. */
export function sealSecret(keyring: Keyring, name: string, value: string): Buffer {
  return seal(keyring, value, `secret ${name}`);
}

export function openSecret(keyring: Keyring, name: string, sealed: Uint8Array): string {
  const opened = open(keyring, sealed, `secret ${name}`);
  if (opened.kind === 'ok') return opened.plaintext.toString('utf8');
  const why =
    opened.kind === 'damaged'
      ? 'it is damaged'
      : `it was sealed with the key ${opened.keyId}, which this node does not have`;
  throw new InnboundError('documents.secret_sealed', `The stored secret ${name} cannot be opened: ${why}.`, { name });
}
