import type { EpochMs, IntegrationName } from '../../../terms.ts';
import type { Brand } from '../../brand/brand.ts';
import type { KnownRow, ListedRow } from '../../intake/pull/run/run-state.ts';
import type { Decided } from '../../reconcile/accidents/signs.ts';
import { rowsTable, texts } from '../db/columns.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { storedIds } from './partner-ids.ts';

const asked = rowsTable(2, { text: ['key', 'id'], float8: ['listed'] });
const marked = rowsTable(2, { text: ['id'], float8: ['listed'] });

/**
 * Rows identical to what the partner sent before, mapped by the same documents and program. While nothing else has changed the record,
 * they change nothing, and mapping them again is skipped: about half of a poll's time (`npm run bench -- pull`, unchanged pages, 2-core
 * arm64; bench/mechanisms.md, 10).
 */
export async function knownRows(db: Pool | Tx, target: Brand, rows: readonly ListedRow[]): Promise<KnownRow[]> {
  if (rows.length === 0) return [];
  const ids = await idsOf(db, target, rows);
  const { rows: known } = await db.query<KnownRow>({
    name: 'known-rows',
    // A lateral lookup per row forces the index: as a plain join, PostgreSQL scanned the whole table for each page of a backfill.
    text: `select t.key, t.listed, r.id
             from ${asked.sql}
            cross join lateral (
                  select id from records
                   where integration = $1 and type = 'reservation' and id = t.id and listed = t.listed limit 1) r`,
    values: [target.integration, ...asked.values(rows.map(({ key, listed }, i) => ({ key, id: ids[i], listed })))],
  });
  return known;
}

async function idsOf(db: Pool | Tx, target: Brand, rows: readonly ListedRow[]): Promise<string[]> {
  const { idPrefix = '' } = target;
  const ids = rows.map(({ key }) => idPrefix + key);
  if (idPrefix === '') return ids;
  const stored = await storedIds(db, target, ids);
  return ids.map((id) => stored.get(id) ?? id);
}

/** Records that are unchanged although their row is not: the next time it is recognised. */
export async function markListed(tx: Tx, { integration }: Brand, steps: readonly Decided[]): Promise<void> {
  const rows = steps.flatMap(({ statement: { id, listed }, decision }) =>
    decision.kind === 'unchanged' && !decision.isOverruled && listed !== undefined ? [{ id, listed }] : [],
  );
  if (rows.length === 0) return;
  await tx.query({
    name: 'mark-listed',
    text: `update records r set listed = t.listed from ${marked.sql}
            where r.integration = $1 and r.type = 'reservation' and r.id = t.id and r.id = any(${marked.array('id')})
              and r.listed is distinct from t.listed`,
    values: [integration, ...marked.values(rows)],
  });
}

/** One row for all unchanged reservations of a page, instead of a write to each (bench/mechanisms.md, 11). */
export async function insertSighting(
  tx: Tx,
  integration: IntegrationName,
  requestedAt: EpochMs,
  runId: string,
  ids: readonly string[],
): Promise<void> {
  await tx.query({
    name: 'insert-sighting',
    text: 'insert into sightings (integration, requested_at, run_id, ids) values ($1, to_timestamp($2 / 1000.0), $3, $4::text[])',
    values: [integration, requestedAt, runId, texts(ids)],
  });
}
