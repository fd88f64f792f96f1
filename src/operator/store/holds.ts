import type { Brand } from '../../core/brand/brand.ts';
import type { Hold } from '../../core/reconcile/accidents/judge.ts';
import type { Quarantined } from '../../core/reconcile/quarantine.ts';
import type { StoredClaims } from '../../core/reconcile/stored-claims.ts';
import { columnsOf, rowsTable } from '../../core/store/db/columns.ts';
import { columnOf, type Pool, rowsOf, type Tx, transaction } from '../../core/store/db/pool.ts';
import { lockNormal, saveNormal } from '../../core/store/records/guard.ts';
import { claimColumns } from '../../core/store/records/write.ts';
import type { EpochMs } from '../../terms.ts';

/** A hold with the brand and the feed that it belongs to. */
export interface BrandHold extends Hold {
  readonly integration: string;
  readonly feed: 'pull' | 'push';
  /** The records with values that wait for a decision. */
  readonly open: number;
}

export interface HoldFilter {
  readonly id?: string | undefined;
  readonly state?: Hold['state'] | undefined;
  readonly integrations?: readonly string[] | undefined;
}

/** Newest first. Reads one short row for each feed that ever had several rows change alike. */
export async function listHolds(db: Pool | Tx, { id, state, integrations }: HoldFilter = {}): Promise<BrandHold[]> {
  const { rows } = await db.query<{ integration: string; feed: 'pull' | 'push'; hold: Hold; open: number }>(
    `select g.integration, g.feed, h.hold,
            (select count(*)::int from records r
              where r.integration = g.integration and r.held is not null and r.held @> array[h.hold ->> 'id']) as open
       from guards g cross join lateral jsonb_array_elements(g.normal -> 'holds') as h (hold)
      where ($1::text is null or h.hold ->> 'id' = $1) and ($2::text is null or h.hold ->> 'state' = $2)
        and ($3::text[] is null or g.integration = any($3))
      order by (h.hold -> 'at')::float8 desc limit 500`,
    [id, state, integrations],
  );
  return rows.map(({ hold, ...row }) => ({ ...hold, ...row }));
}

/** Fewer are retries of senders that write their body again. */
const fewestReused = 5;

/** What nearly all bookings of a feed had in common during the last day, although nothing is held; and ids that came again with other contents. */
export const toldLately = (
  db: Pool,
): Promise<{ readonly integration: string; readonly sign: string; readonly affected: number; readonly of: number }[]> =>
  rowsOf(db)(
    `select g.integration, t.key as sign, (t.value -> 'affected')::int as affected, (t.value -> 'of')::int as of
       from guards g cross join lateral jsonb_each(g.normal -> 'told') t
      where g.normal ? 'told' and (t.value -> 'at')::float8 > extract(epoch from now() - interval '1 day') * 1000
     union all
     select integration, 'reused', sum(count)::int, sum(count)::int from rejections
      where code = 'push.event_id_reused' and hour > now() - interval '1 day'
      group by integration having sum(count) >= $1`,
    [fewestReused],
  );

export async function findHold(db: Pool | Tx, id: string): Promise<BrandHold | undefined> {
  const [hold] = await listHolds(db, { id });
  return hold;
}

/** A reservation of which a hold keeps something back. */
export interface HeldRecord {
  readonly id: string;
  readonly version: number;
  readonly claims: StoredClaims;
}

const ofHold = `integration = $1 and type = 'reservation' and held is not null and held @> array[$2]`;

/** The records of a hold that were last read under other documents than these. */
export const heldIdsOf = (
  db: Pool | Tx,
  { id, integration }: BrandHold,
  { connectorVersion, integrationVersion }: Brand,
): Promise<string[]> =>
  columnOf(db)(
    `select id from records r where ${ofHold} and (
       select (h.connector_version, h.integration_version) is distinct from ($3, $4) from history h
        where h.integration = r.integration and h.id = r.id and h.type = r.type and h.connector_version is not null
        order by h.entry_id desc limit 1)
      order by id limit 500`,
    [integration, id, connectorVersion, integrationVersion],
  );

/** The next records of a hold, locked; only these ids if there are any. */
export const lockHeld = (
  tx: Tx,
  { id, integration }: BrandHold,
  only: readonly string[] | undefined,
  limit: number,
  after = '',
): Promise<HeldRecord[]> =>
  rowsOf(tx)(
    `select id, version, claims from records where ${ofHold} and ($3::text[] is null or id = any($3)) and id > $5
      order by id limit $4 for update`,
    [integration, id, only, limit, after],
  );

const quarantined = rowsTable(2, { text: ['id', 'claims', 'held'] });

/** Writes the quarantine of these records. */
export async function writeQuarantine(tx: Tx, integration: string, records: readonly HeldRecord[]): Promise<void> {
  await tx.query(
    `update records r set claims = t.claims::json, held = t.held::text[]
       from ${quarantined.sql}
      where r.integration = $1 and r.type = 'reservation' and r.id = t.id`,
    [integration, ...quarantined.values(records.map(({ id, claims }) => ({ id, ...claimColumns(claims) })))],
  );
}

/** A line in the timeline of each record whose held value was dropped. */
export async function noteRefused(
  tx: Tx,
  { id, integration }: BrandHold,
  records: readonly HeldRecord[],
  reason: string,
): Promise<void> {
  await tx.query(
    `insert into history (integration, type, id, effective_at, seq, cause, cause_id, outcome, version, reason)
     select $1, 'reservation', t.id, now(), 0, 'replay', $2, 'dropped', nullif(t.version, 0), $3
       from unnest($4::text[], $5::int[]) as t (id, version)`,
    [integration, id, reason, ...columnsOf(records, 'id', 'version')],
  );
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

/** What was claimed up to now goes on not counting. */
const ended = (one: Quarantined, now: EpochMs): Quarantined => ({ ...one, state: 'ended', until: [now, 0] });

/** A hold that kept nothing back for so long may end while some of its records still wait: the partner no longer shows them. */
const quietMs = 3_600_000;

/**
 * Ends the holds whose values came back in order: all of them, or at least half and none was held lately. The rest is dropped then; the
 * stored values stay.
 */
export async function endHolds(pool: Pool): Promise<void> {
  for (const hold of await listHolds(pool, { state: 'open' })) {
    await transaction(pool, async (tx) => {
      const { now } = await lockNormal(tx, hold.integration, hold.feed);
      const isNormal = hold.open === 0 || (hold.open * 2 <= hold.rows && now - hold.heldAt > quietMs);
      if (!isNormal || !(await closeHold(tx, hold, 'ended', 'run'))) return;
      const left = await lockHeld(tx, hold, undefined, hold.open);
      if (left.length === 0) return;
      const without = left.map(({ claims, ...one }) => {
        const quarantine = claims.quarantine?.map((each) => (each.hold === hold.id ? ended(each, now) : each));
        return { ...one, claims: { ...claims, quarantine } };
      });
      await writeQuarantine(tx, hold.integration, without);
      await noteRefused(tx, hold, left, 'The partner’s answers are normal again: the held value was dropped.');
    });
  }
}
