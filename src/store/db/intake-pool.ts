import { openPool, type Pool } from './pool.ts';

/**
 * A few connections for the intake of events alone: however busy the workers keep the others, a sender never waits for a
 * free one.
 */
export function openIntakePool(pool: Pool, onError?: (error: Error) => void): Pool {
  const { password, application_name: name = 'innbound' } = pool.options; // pg hides the password from copies
  return openPool({
    connection: { ...pool.options, ...(password !== undefined && { password }) },
    applicationName: `${name} intake`,
    maxConnections,
    ...(onError && { onError }),
  });
}

/** As many as batches may be under way, and one for the lookups of endpoints. */
const maxConnections = 4;
