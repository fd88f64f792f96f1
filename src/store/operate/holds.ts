import type { Hold } from '../../reconcile/accidents/judge.ts';
import type { ApplyTarget } from '../../reconcile/apply-target.ts';
import { type Pool, type Tx, transaction } from '../db/pool.ts';
import { lockNormal, saveNormal } from '../records/guard.ts';

/** A hold with the brand and the feed that it belongs to. */
export interface BrandHold extends Hold {
  readonly integration: string;
  readonly feed: 'pull' | 'push';
  /** The rows that it held, and those that nobody has decided about yet. */
  readonly rows: number;
  readonly open: number;
}

export interface HoldFilter {
  readonly id?: string | undefined;
  readonly state?: Hold['state'] | undefined;
  readonly integrations?: readonly string[] | undefined;
}

/** Newest first. Reads one short row for each feed that ever had several rows change alike. */
export async function listHolds(db: Pool | Tx, { id, state, integrations }: HoldFilter = {}): Promise<BrandHold[]> {
  const { rows } = await db.query<{
    integration: string;
    feed: 'pull' | 'push';
    hold: Hold;
    rows: number;
    open: number;
  }>(
    `select g.integration, g.feed, h.hold, d.rows, d.open
       from guards g cross join lateral jsonb_array_elements(g.normal -> 'holds') as h (hold)
      cross join lateral (
            select count(*)::int as rows, (count(*) filter (where state = 'open'))::int as open from dead_letters
             where integration = g.integration and code = 'record.held' and detail -> 'holds' ? (h.hold ->> 'id')) d
      where ($1::text is null or h.hold ->> 'id' = $1) and ($2::text is null or h.hold ->> 'state' = $2)
        and ($3::text[] is null or g.integration = any($3))
      order by (h.hold -> 'at')::float8 desc limit 500`,
    [id ?? null, state ?? null, integrations ?? null],
  );
  return rows.map(({ hold, ...row }) => ({ ...hold, ...row }));
}

export async function findHold(db: Pool | Tx, id: string): Promise<BrandHold | undefined> {
  const [found] = await listHolds(db, { id });
  return found;
}

/** Its rows that wait for a decision, oldest first; only these ids if there are any. */
export async function heldRows(db: Pool | Tx, { id, integration }: BrandHold, only?: readonly string[]) {
  const { rows } = await db.query<{ id: string; kind: 'event' | 'record'; record_id: string }>(
    `select dead_letter_id::text as id, kind, id as record_id from dead_letters
      where integration = $1 and code = 'record.held' and state = 'open' and detail -> 'holds' ? $2
        and ($3::text[] is null or id = any($3))
      order by dead_letter_id`,
    [integration, id, only ?? null],
  );
  return rows;
}

/** The rows of a hold that were held under other documents than these. */
export async function rowsUnderOthers(db: Pool, { id, integration }: BrandHold, target: ApplyTarget) {
  const { rows } = await db.query<{ id: string }>(
    `select dead_letter_id::text as id from dead_letters
      where integration = $1 and code = 'record.held' and state = 'open' and detail -> 'holds' ? $2
        and (connector_version, integration_version) is distinct from ($3, $4)
      order by dead_letter_id limit 500`,
    [integration, id, target.connectorVersion, target.integrationVersion],
  );
  return rows.map((row) => row.id);
}

/** Closes a hold that is open; false if somebody else did. */
export async function closeHold(
  tx: Tx,
  { id, integration, feed }: BrandHold,
  state: 'ended' | 'released' | 'refused',
  by: string,
): Promise<boolean> {
  const { normal, now } = await lockNormal(tx, integration, feed);
  const open = normal.holds.find((hold) => hold.id === id && hold.state === 'open');
  if (open === undefined) return false;
  const closed: Hold = { ...open, state, closedAt: now, closedBy: by };
  await saveNormal(tx, integration, feed, {
    ...normal,
    holds: normal.holds.map((one) => (one === open ? closed : one)),
  });
  return true;
}

export async function dropHeldRows(
  tx: Tx,
  { id, integration }: BrandHold,
  by: string,
  reason: string,
): Promise<number> {
  const { rowCount } = await tx.query(
    `update dead_letters set state = 'dropped', closed_at = now(), closed_by = $3, closed_reason = $4
      where integration = $1 and code = 'record.held' and state = 'open' and detail -> 'holds' ? $2`,
    [integration, id, by, reason],
  );
  return rowCount ?? 0;
}

/**
 * Ends the holds whose rows came back in order: at least half of them, and none waits that was held after the last of these. Rows that
 * the partner no longer shows are closed with them: the stored values stay. A hold of which no row waits ends too: an operator decided about
 * its rows under another hold.
 */
export async function endHolds(pool: Pool): Promise<void> {
  for (const hold of await listHolds(pool, { state: 'open' })) {
    const { rows } = await pool.query<{ right: boolean }>(
      `select count(*) filter (where closed_by = 'run') * 2 >= count(*) filter (where closed_by = 'run' or state = 'open')
              and coalesce(max(closed_at) filter (where closed_by = 'run') > max(last_at) filter (where state = 'open'), true) as right
         from dead_letters where integration = $1 and code = 'record.held' and detail -> 'holds' ? $2`,
      [hold.integration, hold.id],
    );
    if (rows[0]?.right !== true) continue;
    await transaction(pool, async (tx) => {
      if (!(await closeHold(tx, hold, 'ended', 'run'))) return;
      await dropHeldRows(tx, hold, 'run', 'The partner’s answers are normal again.');
    });
  }
}
