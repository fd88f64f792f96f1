import type pg from 'pg';
import { systemClock } from '../../../kit/clock.ts';
import type { Pool } from './pool.ts';

/** The longest wait of a readiness check. */
const readinessMs = 3_000;

/** Why the store cannot be used through this pool now; undefined if it can. Answers in time even if the server is frozen. */
export async function poolProblem(pool: Pool): Promise<'store.unreachable' | 'store.read_only' | undefined> {
  const late = Promise.withResolvers<'store.unreachable'>();
  const cancel = systemClock.schedule(readinessMs, () => late.resolve('store.unreachable'));
  try {
    return await Promise.race([askPool(pool), late.promise]);
  } finally {
    cancel();
  }
}

async function askPool(pool: Pool): Promise<'store.unreachable' | 'store.read_only' | undefined> {
  try {
    const text = `select current_setting('transaction_read_only') as read_only`;
    const { rows } = await pool.query<{ read_only: string }>({ text, query_timeout: readinessMs } as pg.QueryConfig);
    return rows[0]?.read_only === 'off' ? undefined : 'store.read_only';
  } catch {
    return 'store.unreachable';
  }
}
