import type { Reservation } from '../../canonical/reservation.ts';
import type { Lease, RunStore, UnlistedNote, UnlistedRow } from '../../intake/pull/ports.ts';
import type { Window } from '../../intake/pull/windows.ts';
import { shortHash } from '../../kit/short-hash.ts';
import { type Pool, transaction } from '../db/pool.ts';
import { readReservation } from '../records/stored-record.ts';

/** The most that one run follows up; the next run continues. */
const mostRows = 500;

/**
 * Reservations of earlier lists that this run did not list although both their dates lie inside the range, so that a list by
 * arrival, departure or stay must show them. Marks of reservations that are listed again are removed.
 */
export async function findUnlisted(
  pool: Pool,
  lease: Lease,
  range: Window,
  { integration, isFlat, identity }: Parameters<RunStore['unlisted']>[2],
): Promise<readonly UnlistedRow[]> {
  const seen = isFlat ? await stagedKeyHashes(pool, lease) : await seenHashes(pool, lease);
  const isListed = (key: string) => seen.has(identity(key));
  await clearListed(pool, integration, isListed);
  const { rows } = await pool.query<UnlistedRow>(
    `select p.key, p.id, p.version, p.check_in, p.check_out, p.status,
            coalesce(p.asked_at > now() - interval '1 day' and p.answer is not null, false) as "isAskedRecently"
       from pulled p
      where p.integration = $1 and p.check_in >= $2 and p.check_out <= $3 and p.status not in ('cancelled', 'no_show')
      order by p.asked_at nulls first, p.check_in, p.key`,
    [integration, range.from, range.to],
  );
  return rows.filter(({ key }) => !isListed(key)).slice(0, mostRows);
}

async function seenHashes(pool: Pool, { integration, runId }: Lease): Promise<Set<number>> {
  const { rows } = await pool.query<{ seen: Buffer }>(
    'select seen from run_pages where integration = $1 and run_id = $2 and seen is not null',
    [integration, runId],
  );
  const seen = new Set<number>();
  for (const row of rows) {
    // Copied because a Float64Array needs 8-byte alignment, which a buffer from the driver may lack.
    const pairs = new Float64Array(new Uint8Array(row.seen).buffer);
    for (let i = 0; i < pairs.length; i += 2) seen.add(pairs[i] ?? 1);
  }
  return seen;
}

async function stagedKeyHashes(pool: Pool, { integration, runId }: Lease): Promise<Set<number>> {
  const { rows } = await pool.query<{ key: string }>(
    'select distinct key from staged_rows where integration = $1 and run_id = $2',
    [integration, runId],
  );
  return new Set(rows.map(({ key }) => shortHash(key)));
}

async function clearListed(pool: Pool, integration: string, isListed: (key: string) => boolean): Promise<void> {
  const { rows } = await pool.query<{ key: string }>(
    'select key from pulled where integration = $1 and missing_since is not null',
    [integration],
  );
  const again = rows.filter(({ key }) => isListed(key)).map(({ key }) => key);
  if (again.length === 0) return;
  await pool.query(
    `update pulled set missing_since = null, missing_sync = null, missing_run = null, answer = null, asked_at = null
      where integration = $1 and key = any($2)`,
    [integration, again],
  );
}

/** Marks reservations as not listed. One that the partner now has with other dates is not missing: only its dates are updated. */
export async function noteUnlisted(
  pool: Pool,
  { runId }: Lease,
  integration: string,
  sync: string,
  notes: readonly UnlistedNote[],
): Promise<void> {
  if (notes.length === 0) return;
  await transaction(pool, async (tx) => {
    const marked = notes.filter(({ isElsewhere }) => isElsewhere !== true);
    await tx.query(
      `update pulled p set missing_since = coalesce(p.missing_since, now()), missing_sync = coalesce(p.missing_sync, $2),
              missing_run = coalesce(p.missing_run, $3), answer = case when t.is_asked then t.answer else p.answer end,
              asked_at = case when t.is_asked then now() else p.asked_at end
         from unnest($4::text[], $5::text[], $6::boolean[]) as t (id, answer, is_asked)
        where p.integration = $1 and p.id = t.id`,
      [
        integration,
        sync,
        runId,
        marked.map(({ id }) => id),
        marked.map(({ answer }) => answer ?? null),
        marked.map(({ isAsked }) => isAsked),
      ],
    );
    const found = notes.flatMap(({ id, record }) => (record ? [{ id, ...record }] : []));
    await tx.query(
      `update pulled p set check_in = t.check_in::date, check_out = t.check_out::date, status = t.status, content = -1
         from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as t (id, check_in, check_out, status)
        where p.integration = $1 and p.id = t.id`,
      [
        integration,
        found.map(({ id }) => id),
        found.map(({ check_in }) => check_in),
        found.map(({ check_out }) => check_out),
        found.map(({ status }) => status),
      ],
    );
  });
}

export async function storedReservation(pool: Pool, integration: string, id: string): Promise<Reservation | undefined> {
  const { rows } = await pool.query<{ text: string }>(
    `select data::text as text from records where integration = $1 and type = 'reservation' and id = $2 and version > 0`,
    [integration, id],
  );
  return rows[0] && readReservation(rows[0].text);
}

export interface UnlistedReservation {
  readonly id: string;
  readonly sync: string;
  readonly since: Date;
  readonly answer: 'present' | 'absent' | null;
  readonly asked_at: Date | null;
  readonly check_in: string;
  readonly check_out: string;
  readonly status: string;
}

/** Reservations still expected that the partner no longer lists, newest first. */
export async function listUnlisted(pool: Pool, integration: string, limit: number): Promise<UnlistedReservation[]> {
  const { rows } = await pool.query<UnlistedReservation>(
    `select p.id, p.missing_sync as sync, p.missing_since as since, p.answer, p.asked_at, r.data->>'check_in' as check_in, r.data->>'check_out' as check_out,
            r.data->>'status' as status
       from pulled p join records r on r.integration = p.integration and r.type = 'reservation' and r.id = p.id and r.version > 0
      where p.integration = $1 and p.missing_since is not null and r.data->>'status' not in ('cancelled', 'no_show')
      order by p.missing_since desc, p.id limit $2`,
    [integration, limit],
  );
  return rows;
}

/** How many reservations of each brand disappeared from its lists during the last day, and of how many known ones. */
export async function recentlyUnlisted(pool: Pool): Promise<{ integration: string; count: number }[]> {
  const { rows } = await pool.query<{ integration: string; count: number }>(
    `select integration, count(*)::int as count from pulled where missing_since > now() - interval '1 day' group by integration`,
  );
  return rows;
}
