import { join } from 'node:path';
import { InnboundError } from '../errors.ts';
import { type Keyring, open, parseKey, seal } from '../kit/crypto.ts';
import { keyFile } from '../kit/key-file.ts';

/**
 * The keys that seal stored secrets: INNBOUND_KEY where it is set (several separated by commas: the first seals, the others
 * only open values sealed earlier); otherwise the key file of the workspace, created on first use.
 */
export async function workspaceKeyring(
  workspaceDir: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Keyring> {
  if (env.INNBOUND_KEY) return keyringFrom(env.INNBOUND_KEY);
  const path = join(workspaceDir, '.innbound', 'key');
  const found = await keyFile(path);
  if (found.kind === 'ok') return [found.key];
  if (found.kind === 'exposed') {
    throw new InnboundError(
      'documents.key_exposed',
      `${path} is readable by others (mode ${found.mode}): run chmod 600 on it.`,
      { path },
    );
  }
  throw new InnboundError('documents.key_malformed', `${path} is not a key of 32 bytes in hex or base64.`, { path });
}

function keyringFrom(text: string): Keyring {
  const keys = text.split(',').map((part) => {
    const key = parseKey(part);
    if (key !== undefined) return key;
    throw new InnboundError('documents.key_malformed', 'INNBOUND_KEY is not a key of 32 bytes in hex or base64.');
  });
  return keys as unknown as Keyring;
}

/** Bound to its name: a sealed secret copied over another one does not open as it. */
export function sealSecret(keyring: Keyring, name: string, value: string): Buffer {
  return seal(keyring, value, associatedWith(name));
}

export function openSecret(keyring: Keyring, name: string, sealed: Uint8Array): string {
  const opened = open(keyring, sealed, associatedWith(name));
  if (opened.kind === 'ok') return opened.plaintext.toString('utf8');
  const why =
    opened.kind === 'damaged'
      ? 'it is damaged'
      : `it was sealed with the key ${opened.keyId}, which this node does not have`;
  throw new InnboundError('documents.secret_sealed', `The stored secret ${name} cannot be opened: ${why}.`, { name });
}

function associatedWith(name: string): string {
  return `secret ${name}`;
}
