import type { Lease, WindowPages } from '../../intake/pull/ports.ts';
import type { Window } from '../../intake/pull/window/windows.ts';
import type { Pool } from '../db/pool.ts';

/** The pages of a window that a resumed run has already read. */
export async function windowPages(pool: Pool, lease: Lease, window: Window, pass: number): Promise<WindowPages> {
  const { rows } = await pool.query<{ pass: number; mark: number; fingerprint: number; seen: Buffer | null }>(
    `select pass, mark, fingerprint, seen from run_pages
      where integration = $1 and run_id = $2 and window_from = $3 and window_to = $4 order by page_no`,
    [lease.integration, lease.runId, window.from, window.to],
  );
  const current = rows.filter((row) => row.pass === pass);
  return {
    marks: current.map(({ mark }) => mark),
    fingerprints: current.map(({ fingerprint }) => fingerprint),
    seen: rows.flatMap((row) => (row.seen === null ? [] : [{ bytes: row.seen, isCurrent: row.pass === pass }])),
  };
}
