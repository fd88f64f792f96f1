import { openSibling, type Pool } from './pool.ts';

/** Separate connections for accepting events, so that a sender never waits for a connection that a worker uses. */
export function openIntakePool(pool: Pool, onError?: (error: Error) => void): Pool {
  return openSibling(pool, {
    applicationName: `${pool.options.application_name ?? 'innbound'} intake`,
    maxConnections,
    ...(onError && { onError }),
  });
}

/** One per batch that may be in progress, and the rest for looking up endpoints. */
const maxConnections = 4;
