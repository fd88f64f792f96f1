import type { Json } from '../terms.ts';
import type { Pool } from './pool.ts';

export interface ErasureRow {
  readonly erasure_id: string;
  readonly requested_by: string;
  readonly requested_at: Date;
  readonly completed_at: Date | null;
  readonly subject: string;
  readonly receipt: Json;
}

const columns = 'erasure_id, requested_by, requested_at, completed_at, subject, receipt';

export async function beginErasure(db: Pool, erasureId: string, by: string, subject: string): Promise<void> {
  await db.query('insert into erasures (erasure_id, requested_by, subject) values ($1, $2, $3)', [
    erasureId,
    by,
    subject,
  ]);
}

export async function completeErasure(db: Pool, erasureId: string, receipt: Json): Promise<ErasureRow | undefined> {
  const { rows } = await db.query<ErasureRow>(
    `update erasures set completed_at = now(), receipt = $2 where erasure_id = $1 returning ${columns}`,
    [erasureId, JSON.stringify(receipt)],
  );
  return rows[0];
}

/** The newest first. */
export async function listErasures(db: Pool): Promise<ErasureRow[]> {
  const { rows } = await db.query<ErasureRow>(`select ${columns} from erasures order by requested_at desc limit 500`);
  return rows;
}

export async function readErasure(db: Pool, erasureId: string): Promise<ErasureRow | undefined> {
  const { rows } = await db.query<ErasureRow>(`select ${columns} from erasures where erasure_id = $1`, [erasureId]);
  return rows[0];
}

/** Of one guest, the newest first. */
export async function findErasures(db: Pool, subjects: readonly string[]): Promise<ErasureRow[]> {
  const { rows } = await db.query<ErasureRow>(
    `select ${columns} from erasures where subject = any($1) order by requested_at desc limit 500`,
    [subjects],
  );
  return rows;
}
