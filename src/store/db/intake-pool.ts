import { openSibling, type Pool } from './pool.ts';

/** Separate connections for accepting events, so that a sender never waits for a connection that a worker uses. */
export function openIntakePool(pool: Pool, onError?: (error: Error) => void): Pool {
  return openSibling(pool, {
    applicationName: `${pool.options.application_name ?? 'innbound'} intake`,
    maxConnections,
    statementMs,
    ...(onError && { onError }),
  });
}

/** One per batch that may be in progress, and the rest for looking up endpoints. */
const maxConnections = 4;

/**
 * As long as senders wait. A primary that loses its network closes no connection: a batch would wait for its answer for the usual minute,
 * and the batches behind it too, although a standby has been promoted.
 */
const statementMs = 10_000;
