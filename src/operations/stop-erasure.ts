import type { Runtime } from '../runtime/runtime.ts';
import { cancelOf } from '../store/db/cancel.ts';
import { type Tx, transaction, withLongStatements } from '../store/db/pool.ts';
import { renewErasure } from '../store/erasure/erasures.ts';

const everyMs = 1_000;

/**
 * Runs one step of an erasure in a transaction, and cancels its statement when somebody asks to stop: a search through all payloads may
 * take minutes. A step that is stopped has changed nothing.
 */
export async function stoppable<T>(
  runtime: Runtime,
  erasureId: string,
  step: (tx: Tx) => Promise<T>,
): Promise<{ readonly kind: 'done'; readonly result: T } | { readonly kind: 'stopped' }> {
  const { pool, clock } = runtime;
  let isStopped = await renewErasure(pool, erasureId);
  if (isStopped) return { kind: 'stopped' };
  const attempt = async (tx: Tx): Promise<T> => {
    const cancel = await cancelOf(tx);
    const ended = new AbortController();
    const watch = async () => {
      for (;;) {
        await clock.wait(everyMs, ended.signal);
        if (ended.signal.aborted) return;
        isStopped = await renewErasure(pool, erasureId).catch(() => false);
        if (isStopped) return cancel(pool);
      }
    };
    const watching = watch();
    try {
      return await step(tx);
    } finally {
      // Awaited, so that no cancellation hits the connection's next statement.
      ended.abort();
      await watching;
    }
  };
  try {
    return { kind: 'done', result: await withLongStatements(pool, (separate) => transaction(separate, attempt)) };
  } catch (error) {
    if (isStopped) return { kind: 'stopped' };
    throw error;
  }
}
