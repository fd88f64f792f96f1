import { newerSchemaCheck } from '../core/store/db/migrate.ts';
import { InnboundError } from '../errors.ts';
import { errorFacts } from '../kit/log.ts';
import { type Loop, startLoop } from '../kit/loop.ts';
import { version } from '../kit/version.ts';
import { forgetNode, seenNode } from '../operator/store/nodes.ts';
import type { Runtime } from './runtime.ts';

/** What a node does: everything, only intake and API, or only the work behind them. */
export type Role = 'all' | 'web' | 'worker';

/**
 * Writes this node's heartbeat, and stops a worker when a newer version has migrated the database. A web node only stores events, so it
 * may stay until it is replaced. Takes up a rotated key: at the signal of the rotation, or when the database is sealed with another one.
 */
export async function keepSeen(runtime: Runtime, role: Role, url: string, everyMs: number): Promise<Loop> {
  const newerSchema = await newerSchemaCheck(runtime.pool);
  const seen = async () => {
    const newer = role === 'web' ? undefined : await newerSchema();
    if (newer) runtime.giveUp(newer);
    await runtime.restoreCheck.check();
    const stalled = runtime.heartbeats.stalled().map(({ loop }) => loop);
    const keys = runtime.keyring.map(({ id }) => id);
    const clockAheadMs = runtime.clock.nodeAheadMs();
    const broken = await runtime.leftOut();
    await seenNode(runtime.pool, { node: runtime.node, role, url, clockAheadMs, stalled, keys, version, broken });
  };
  await seen();
  let beating = Promise.resolve();
  const timer = setInterval(() => {
    beating = beating
      .then(() => refreshKeys(runtime, false))
      .then(seen)
      .catch(() => {});
  }, everyMs);
  const keys = startLoop({
    name: 'keys',
    heartbeats: runtime.heartbeats,
    turn: async () => {
      await refreshKeys(runtime, true);
      await seen();
    },
    pause: (_, signal) => runtime.wake.wait('keys', 3_600_000, signal),
    onError: (error) => runtime.log.warn({ error: errorFacts(error) }, 'store: reporting the keys failed'),
  });
  return {
    stop: async () => {
      clearInterval(timer);
      await keys.stop();
      // A heartbeat that ends later would list the node again for a minute.
      await beating;
      await forgetNode(runtime.pool, runtime.node);
    },
  };
}

/** A node without the sealing key stops: it could open no secret, and would refuse every webhook as unsigned. */
async function refreshKeys(runtime: Runtime, readSource: boolean): Promise<void> {
  try {
    await runtime.refreshKeys(readSource);
  } catch (error) {
    if (error instanceof InnboundError && error.code === 'store.other_key') runtime.giveUp(error);
    else runtime.log.warn({ error: errorFacts(error) }, 'store: reading the key failed, keeping the one in use');
  }
}
