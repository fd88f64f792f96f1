import { jsonbText } from '../../../kit/json.ts';
import { isRefusedData } from '../../../kit/sql-state.ts';
import type { Json } from '../../../terms.ts';
import type { Brand } from '../../brand/brand.ts';
import type { Handover } from '../../deliver/handover.ts';
import type { FormedCommit, Lease, StagedKey } from '../../intake/pull/ports.ts';
import type { StagedRow } from '../../intake/pull/run/run-state.ts';
import type { Summary } from '../../reconcile/forms.ts';
import { columnsOf } from '../db/columns.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { changeHeld } from '../lease.ts';
import { processedOf, settleDeadLetters } from '../records/dead-letters.ts';
import { ingest } from '../records/ingest.ts';
import { Fenced, fencedTransaction, withoutRefused } from './page-transaction.ts';
import { addCounters, heldRun, runTable, withTally } from './row.ts';

/** Keeps the rows of a flat list until the run has read all pages. An identical row, from a second pass or another window, is kept once. */
export async function stageRows(tx: Tx, lease: Lease, rows: readonly StagedRow[]): Promise<void> {
  if (rows.length === 0) return;
  const texts = rows.map(({ row }) => jsonbText(JSON.stringify(row)));
  await tx.query(
    `insert into staged_rows (integration, run_id, key, row_hash, row_no, requested_at, row)
     select $1, $2, key, sha256(convert_to(text, 'UTF8')), nextval('intake_seq'), to_timestamp(ms / 1000.0), text::json
       from unnest($3::text[], $4::float8[], $5::text[]) with ordinality as t (key, ms, text, no) order by no
     on conflict do nothing`,
    [lease.integration, lease.runId, ...columnsOf(rows, 'key', 'requestedAt'), texts],
  );
}

/** The next keys to group, with all their rows. */
export async function stagedKeys(pool: Pool, lease: Lease, most: number): Promise<StagedKey[]> {
  const { rows } = await pool.query<{ key: string; rows: Json[]; ms: number }>(
    `select key, json_agg(row order by row_no) as rows, extract(epoch from min(requested_at))::float8 * 1000 as ms
       from staged_rows
      where integration = $1 and run_id = $2
        and key in (select distinct key from staged_rows where integration = $1 and run_id = $2 order by key limit $3)
      group by key order by key`,
    [lease.integration, lease.runId, most],
  );
  return rows.map(({ key, rows: list, ms }) => ({ key, rows: list, requestedAt: ms }));
}

/** Applies reservations made from staged rows and removes those rows, in one transaction. */
export async function commitFormed(
  { pool, handover }: { readonly pool: Pool; readonly handover: Handover },
  lease: Lease,
  leaseMs: number,
  formed: FormedCommit,
  brand: Brand,
): Promise<Summary | 'fenced'> {
  const write = (written: FormedCommit) =>
    fencedTransaction(pool, async (tx) => {
      const outgoing = handover.begin();
      const tally = await ingest(tx, brand, written.statements, written.shown, outgoing);
      await settleDeadLetters(tx, lease.integration, lease.runId, processedOf(written.statements, tally.outcomes));
      await tx.query('delete from staged_rows where integration = $1 and run_id = $2 and key = any($3)', [
        lease.integration,
        lease.runId,
        formed.keys,
      ]);
      const counters = addCounters(withTally(formed.counted, tally), 5);
      const set = `due_at = now() + $4 * interval '1 ms', waiting = null, ${counters.sql}`;
      const isOurs = await changeHeld(tx, runTable, heldRun(lease), set, [leaseMs, ...counters.values]);
      if (!isOurs) throw new Fenced();
      return { tally, outgoing };
    });
  const done = await write(formed).catch(async (error: unknown) => {
    if (!isRefusedData(error)) throw error;
    return write({ ...formed, statements: await withoutRefused(pool, brand, formed.statements) });
  });
  if (done === 'fenced') return done;
  done.outgoing.send();
  return done.tally;
}
