import { replacedKeys, resealSome, retireKey, rotatingAlone } from '../../core/store/documents/secrets.ts';
import { InnboundError } from '../../errors.ts';
import { type Key, type Keyring, newKey } from '../../kit/crypto.ts';
import { changeSealingKey } from '../../runtime/keys.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { liveNodes } from '../store/nodes.ts';

interface RotationOptions {
  /** How long to wait for running nodes. */
  readonly waitMs: number;
  readonly progress: (text: string) => void;
}

/**
 * Replaces the key that seals stored secrets, while nodes run:
 *
 *   1. the new key is put beside the old one, and every node reads it      everything is sealed with the old key
 *   2. the mark in the database changes, and every node seals with the new key
 *   3. all values are sealed again, some at a time                          both keys are needed
 *   4. the old key is retired: the database refuses values sealed with it
 *   5. the old key leaves the key's file
 *
 * Killed at any point, the next call continues there. Values stay readable throughout, because both keys open. `damaged`: values that do not
 * open although their key is known; they were lost before. `kept`: where the old key is kept for older backups, if Innbound manages its file.
 */
export async function rotateKey(runtime: Runtime, options: RotationOptions) {
  const done = await rotatingAlone(runtime.pool, () => rotate(runtime, options));
  if (done === undefined) throw new InnboundError('operate.usage', 'Another process is rotating the key now.');
  return done;
}

async function rotate(runtime: Runtime, options: RotationOptions) {
  const { pool, keyring } = runtime;
  const unfinished = (await replacedKeys(pool)).find((one) => one.retired_at === null);
  if (unfinished === undefined) {
    const from = keyring[0];
    const to = await nextKey(runtime);
    // Interrupted after the old key was retired: only the file is left.
    if (to.id === from.id) return { from: '', to: to.id, resealed: 0, damaged: [], ...(await tidied(runtime)) };
    options.progress(`Changing from the key ${from.id} to ${to.id}.`);
    await everyNode(runtime, options, (keys) => keys.includes(to.id), `does not have the key ${to.id}`);
    await changeSealingKey(pool, from, to);
  } else {
    options.progress(`Continuing the change from the key ${unfinished.key_id} to ${unfinished.replaced_by}.`);
  }
  await runtime.refreshKeys(true);
  const to = keyring[0];
  await everyNode(runtime, options, ([sealing]) => sealing === to.id, `still seals with another key than ${to.id}`);
  const from = unfinished?.key_id ?? (await replacedKeys(pool)).find((one) => one.retired_at === null)?.key_id ?? '';
  const sealed = await resealAll(runtime, from, options);
  return { from, to: to.id, ...sealed, ...(await tidied(runtime)) };
}

/** The key to change to: one that waits in the key's source, else a new one, if we manage the source. */
async function nextKey(runtime: Runtime): Promise<Key> {
  const { source, ring } = runtime.keys;
  const [first, ...others] = await source.read();
  const replaced = await replacedKeys(runtime.pool);
  const again = replaced.find(({ key_id }) => key_id === first.id);
  if (again !== undefined) {
    const on = again.replaced_at.toISOString().slice(0, 10);
    throw new InnboundError('operate.usage', `The key ${first.id} was replaced on ${on} and cannot be used again.`);
  }
  if (first.id !== ring[0].id) {
    await runtime.refreshKeys(true);
    return first;
  }
  const leftovers = others.filter(({ id }) => replaced.some(({ key_id }) => key_id === id));
  if (leftovers.length > 0 && leftovers.length === others.length) return first;
  if (source.write === undefined) {
    throw new InnboundError(
      'store.no_new_key',
      `The key comes from ${source.name}, and its first key is in use already.`,
    );
  }
  const fresh = newKey();
  await source.write([fresh, first, ...others]);
  await runtime.refreshKeys(true);
  return fresh;
}

/** Waits until every running node's keys satisfy the condition; reminds them meanwhile. */
async function everyNode(
  { pool, wake, clock }: Runtime,
  { waitMs, progress }: RotationOptions,
  holds: (keys: readonly string[]) => boolean,
  otherwise: string,
): Promise<void> {
  const deadline = clock.now() + waitMs;
  for (let turn = 0; ; turn++) {
    const behind = (await liveNodes(pool)).filter(({ keys }) => !holds(keys)).map(({ node }) => node);
    if (behind.length === 0) return;
    if (clock.now() > deadline) {
      const detail = { nodes: behind };
      throw new InnboundError('store.key_not_distributed', `${behind.join(', ')} ${otherwise}.`, detail);
    }
    if (turn === 0) progress(`Waiting for ${behind.length === 1 ? '1 node' : `${behind.length} nodes`}.`);
    wake.signal('keys');
    // No signal is ever sent on this topic: this is a plain pause.
    await wake.wait('rotation', 500);
  }
}

async function resealAll({ pool, keyring }: Runtime, from: string, { progress }: RotationOptions) {
  const damaged: string[] = [];
  let resealed = 0;
  for (let rounds = 0; rounds < 10; rounds++) {
    for (;;) {
      const some = await resealSome(pool, keyring, damaged, 100);
      resealed += some.resealed;
      damaged.push(...some.damaged);
      if (some.resealed > 0) progress(`${resealed} values sealed with the new key.`);
      if (some.resealed === 0 && some.damaged.length === 0) break;
    }
    if (await retireKey(pool, from, damaged)) return { resealed, damaged };
  }
  throw new InnboundError(
    'store.other_key',
    `Values are still sealed with the key ${from}, which this process does not have. Give it both keys and run the command again.`,
  );
}

/** Removes retired keys from the file, if we manage it. */
async function tidied({ keys: { source, ring }, pool, refreshKeys, wake }: Runtime): Promise<{ kept?: string }> {
  if (source.write === undefined || source.keepOld === undefined) return {};
  const gone = new Set((await replacedKeys(pool)).filter((one) => one.retired_at !== null).map((one) => one.key_id));
  const old = ring.filter(({ id }) => gone.has(id));
  let kept: string | undefined;
  for (const key of old) kept = await source.keepOld(key);
  await source.write(ring.filter(({ id }) => !gone.has(id)) as readonly Key[] as Keyring);
  await refreshKeys(true);
  wake.signal('keys');
  return kept === undefined ? {} : { kept };
}
