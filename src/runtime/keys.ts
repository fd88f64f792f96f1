import { type KeySource, keySource } from '../core/documents/keyring.ts';
import { type Pool, type Tx, transaction } from '../core/store/db/pool.ts';
import { firstSecret, getSecret, putSecret, replacedKeys, replaceKey } from '../core/store/documents/secrets.ts';
import { InnboundError } from '../errors.ts';
import { type Key, type Keyring, keyIdOf, keyOf, newKey, openText, seal } from '../kit/crypto.ts';

/**
 * The keys of a process. A value in the database, the mark, is sealed with the key that seals everywhere: `innbound key rotate`
 * changes it once every node has the new key. So no node ever seals with a key that another one lacks.
 */
export interface Keys {
  /** The sealing key first. One array for the life of the process, changed in place when the key is rotated. */
  readonly ring: Keyring;
  /**
   * The keys of keyed hashes (erased guests, contents of documents, cursors of the feed). A rotation keeps them, sealed with the new
   * key: the hashed values are gone, so the hashes cannot be computed again. The first key makes new hashes; all keys are tried when
   * comparing.
   */
  readonly hashKeys: Keyring;
  readonly source: KeySource;
  /** Reads the mark, and the source too if asked to or if the mark names an unknown key. Throws if that key stays unknown. */
  readonly refresh: (readSource: boolean) => Promise<void>;
}

const markName = 'innbound.key';
const hashKeysName = 'innbound.hash_keys';

export async function openKeys(
  pool: Pool,
  workspaceDir: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Keys> {
  const source = keySource(workspaceDir, env);
  const known: [Key, ...Key[]] = [...(await source.read())];
  const isNew = (await getSecret(pool, markName)) === undefined;
  if (isNew) await firstSecret(pool, markName, seal(known, 'mark', markName));
  const ring: [Key, ...Key[]] = [...(await inOrder(pool, known))];
  const hashKeys = await storedHashKeys(pool, ring);
  return {
    ring,
    hashKeys,
    source,
    refresh: async (readSource) => {
      const unknown = ring[0].id !== (await sealingKey(pool)) || readSource;
      const next = await inOrder(pool, unknown ? await source.read() : ring);
      ring.splice(0, ring.length, ...next);
    },
  };
}

/** The id of the key that seals everywhere. */
export async function sealingKey(pool: Pool): Promise<string | undefined> {
  const mark = await getSecret(pool, markName);
  return mark && keyIdOf(mark);
}

/** From now on every process seals with this key. */
export async function changeSealingKey(pool: Pool, from: Key, to: Key): Promise<void> {
  await transaction(pool, async (tx) => {
    await replaceKey(tx, from.id, to.id);
    await putSecret(tx, markName, seal([to], 'mark', markName));
  });
}

/** The keys with the sealing one first. Refuses a process without it, which would see every stored secret as damaged. */
async function inOrder(pool: Pool, keys: Keyring): Promise<Keyring> {
  const mark = await getSecret(pool, markName);
  const sealing = mark && keys.find(({ id }) => id === keyIdOf(mark));
  if (mark === undefined || sealing === undefined) {
    const needed = mark && keyIdOf(mark);
    const replaced = (await replacedKeys(pool)).find(({ key_id }) => keys.some(({ id }) => id === key_id));
    const why = replaced
      ? `the key ${replaced.key_id} of this node was replaced on ${replaced.replaced_at.toISOString().slice(0, 10)}`
      : `this node has ${keys.map(({ id }) => id).join(', ')}`;
    throw new InnboundError('store.other_key', `The database is sealed with the key ${needed ?? '(none)'}; ${why}.`);
  }
  if (openText([sealing], mark, markName) === undefined) {
    throw new InnboundError('store.other_key', `The mark in the database that the key ${sealing.id} made is damaged.`);
  }
  return [sealing, ...keys.filter((key) => key !== sealing)];
}

/** Recognises what another installation erased: its hashes are compared too, and new ones are made as before. */
export async function addHashKeys(tx: Tx, ring: Keyring, own: Keyring, more: readonly Key[]): Promise<void> {
  const all = [...own, ...more.filter(({ id }) => !own.some((key) => key.id === id))];
  const text = JSON.stringify(all.map(({ bytes }) => bytes.toString('base64')));
  await putSecret(tx, hashKeysName, seal(ring, text, hashKeysName));
}

async function storedHashKeys(pool: Pool, ring: Keyring): Promise<Keyring> {
  const text = JSON.stringify([newKey().bytes.toString('base64')]);
  const stored = await firstSecret(pool, hashKeysName, seal(ring, text, hashKeysName));
  const opened = openText(ring, stored, hashKeysName);
  if (opened === undefined) {
    throw new InnboundError('store.other_key', 'The keys of the keyed hashes do not open with the keys of this node.');
  }
  const [key, ...others] = (JSON.parse(opened) as string[]).map((one) => keyOf(Buffer.from(one, 'base64')));
  if (key === undefined) throw new TypeError('the stored list of hash keys is empty');
  return [key, ...others];
}
