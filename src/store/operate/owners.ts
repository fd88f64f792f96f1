import type { Pool } from '../db/pool.ts';

/** The brand that owns a dead letter. Used to check access before anything is shown. */
export async function deadLetterIntegration(db: Pool, id: string): Promise<string | undefined> {
  if (!/^\d{1,18}$/.test(id)) return undefined;
  const { rows } = await db.query<{ integration: string }>(
    'select integration from dead_letters where dead_letter_id = $1::bigint',
    [id],
  );
  return rows[0]?.integration;
}

export async function runIntegration(db: Pool, runId: string): Promise<string | undefined> {
  const { rows } = await db.query<{ integration: string }>('select integration from runs where run_id = $1', [runId]);
  return rows[0]?.integration;
}
