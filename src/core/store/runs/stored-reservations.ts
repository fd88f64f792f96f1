import { shortHash } from '../../../kit/short-hash.ts';
import { decodeRecord, type Reservation } from '../../canonical/reservation.ts';
import type { BookingKeys, Lease, RunStore, Unlisted, UnlistedNote, UnlistedRow } from '../../intake/pull/ports.ts';
import type { ListedRow } from '../../intake/pull/run/run-state.ts';
import type { Window } from '../../intake/pull/window/windows.ts';
import { cellOf, columnOf, hitsOne, mapOf, type Pool, rowsOf, type UnreadRow } from '../db/pool.ts';

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
  { brand, isFlat, identity }: Parameters<RunStore['unlisted']>[2],
): Promise<Unlisted> {
  const { integration, idPrefix = '' } = brand;
  const seen = isFlat ? await stagedKeyHashes(pool, lease) : await seenHashes(pool, lease);
  const { rows } = await pool.query<
    ListedRow & { readonly id: string; readonly isMarked: boolean; readonly isInside: boolean }
  >(
    `select substr(coalesce(partner_id, id), $4) as key, id, listed, unlisted is not null as "isMarked",
            arrival between $2 and $3 and created_at < (select started_at from runs where integration = $1 and run_id = $5) as "isInside"
       from records
      where integration = $1 and type = 'reservation' and listed is not null and (unlisted is not null or arrival between $2 and $3)`,
    [integration, range.from, range.to, idPrefix.length + 1, lease.runId],
  );
  // A reservation that was grouped from flat rows remembers the hash of their key, which may differ from its id.
  const isListed = ({ key, listed }: ListedRow) => seen.has(identity(key)) || seen.has(-listed);
  const again = rows.filter((row) => row.isMarked && isListed(row)).map(({ id }) => id);
  if (again.length > 0) {
    await pool.query(
      `update records set unlisted = null where integration = $1 and type = 'reservation' and id = any($2)`,
      [integration, again],
    );
  }
  const keys = new Map(rows.flatMap((row) => (isListed(row) ? [] : [[row.id, row.key]])));
  const missing = keys.size === 0 ? [] : await expected(pool, integration, range, [...keys.keys()]);
  const shown = rows.filter((row) => row.isInside && isListed(row)).length;
  return {
    missing: missing.map((row) => ({ ...row, key: keys.get(row.id) ?? row.id })),
    expected: shown + missing.length,
  };
}

/** Those of the reservations that a list of the range must show. Reading their dates means parsing the records, so only these few are read. */
const expected = (
  pool: Pool,
  integration: string,
  range: Window,
  ids: readonly string[],
): Promise<Omit<UnlistedRow, 'key'>[]> =>
  rowsOf(pool)(
    `select id, d.*, coalesce((unlisted ->> 'asked_at')::timestamptz > now() - interval '1 day' and unlisted ->> 'answer' is not null, false)
                     as "isAskedRecently"
       from records cross join lateral json_to_record(data) as d (check_in text, check_out text, status text)
      where integration = $1 and type = 'reservation' and id = any($4) and d.check_in >= $2 and d.check_out <= $3
        and d.status not in ('cancelled', 'no_show')
      order by unlisted ->> 'asked_at' nulls first, arrival, id limit ${mostRows}`,
    [integration, range.from, range.to, ids],
  );

async function seenHashes(pool: Pool, { integration, runId }: Lease): Promise<Set<number>> {
  const pages = await columnOf(pool)<Buffer>(
    'select seen from run_pages where integration = $1 and run_id = $2 and seen is not null',
    [integration, runId],
  );
  const seen = new Set<number>();
  for (const page of pages) {
    // Copied because a Float64Array needs 8-byte alignment, which a buffer from the driver may lack.
    const pairs = new Float64Array(new Uint8Array(page).buffer);
    for (let i = 0; i < pairs.length; i += 2) seen.add(pairs[i] ?? 1);
  }
  return seen;
}

async function stagedKeyHashes(pool: Pool, { integration, runId }: Lease): Promise<Set<number>> {
  const keys = await columnOf(pool)<string>(
    'select distinct key from staged_rows where integration = $1 and run_id = $2',
    [integration, runId],
  );
  return new Set(keys.map(shortHash));
}

/** Marks reservations as not listed, except those that the partner now has with other dates: they are not missing. */
export async function noteUnlisted(
  pool: Pool,
  { runId }: Lease,
  integration: string,
  sync: string,
  notes: readonly UnlistedNote[],
): Promise<void> {
  const marked = notes.filter(({ isElsewhere }) => isElsewhere !== true);
  if (marked.length === 0) return;
  await pool.query(
    `update records r
        set unlisted = jsonb_build_object('since', now(), 'sync', $2::text, 'run', $3::text) || coalesce(r.unlisted, '{}')
              || case when t.is_asked then jsonb_build_object('answer', t.answer, 'asked_at', now()) else '{}' end
       from unnest($4::text[], $5::text[], $6::boolean[]) as t (id, answer, is_asked)
      where r.integration = $1 and r.type = 'reservation' and r.id = t.id`,
    [
      integration,
      sync,
      runId,
      marked.map(({ id }) => id),
      marked.map(({ answer }) => answer ?? null),
      marked.map(({ isAsked }) => isAsked),
    ],
  );
}

export async function storedReservation(pool: Pool, integration: string, id: string): Promise<Reservation | undefined> {
  const text = await cellOf(pool)<string>(
    `select data::text as text from records where integration = $1 and type = 'reservation' and id = $2 and version > 0`,
    [integration, id],
  );
  return text === undefined ? undefined : decodeRecord('reservation', text);
}

/** Reservations still expected that the partner no longer lists, newest first. */
export const listUnlisted = (pool: Pool, integration: string, limit: number): Promise<UnreadRow[]> =>
  rowsOf(pool)(
    `select id, unlisted ->> 'sync' as sync, (unlisted ->> 'since')::timestamptz as since, unlisted ->> 'answer' as answer,
            (unlisted ->> 'asked_at')::timestamptz as asked_at, d.*
       from records cross join lateral json_to_record(data) as d (check_in text, check_out text, status text)
      where integration = $1 and type = 'reservation' and unlisted is not null and version > 0 and d.status not in ('cancelled', 'no_show')
      order by since desc, id limit $2`,
    [integration, limit],
  );

/** How many rooms each stored reservation has, by id. */
export const storedRooms = (
  pool: Pool,
  integration: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> =>
  mapOf(pool)(
    `select id, json_array_length(data->'rooms') as rooms from records
      where integration = $1 and type = 'reservation' and id = any($2) and version > 0`,
    [integration, ids],
  );

/**
 * Which other brand has received most of these bookings, if this one has none yet. Ids alone are not enough: two properties may number
 * their bookings from 1. The first page of a new brand beside 999 others with 100 such bookings each takes half a second, that of an older
 * brand a millisecond (two shared cores under load).
 */
export async function receivedElsewhere(
  pool: Pool,
  integration: string,
  others: () => Promise<readonly string[]>,
  bookings: readonly BookingKeys[],
): Promise<string | undefined> {
  const hasOwn = await hitsOne(pool)(
    `select from records where integration = $1 and type = 'reservation' and version > 0 limit 1`,
    [integration],
  );
  if (hasOwn) return undefined;
  const names = await others();
  if (names.length === 0) return undefined;
  return cellOf(pool)(
    `select r.integration from json_to_recordset($2) as w (id text, check_in text, check_out text, confirmation_number text)
       cross join unnest($1::text[]) as o (integration)
       join records r on r.integration = o.integration and r.type = 'reservation' and r.id = w.id and r.version > 0
      where r.data ->> 'check_in' = w.check_in and r.data ->> 'check_out' = w.check_out
        and r.data ->> 'confirmation_number' is not distinct from w.confirmation_number
      group by 1 having count(*) * 2 > $3 limit 1`,
    [names, JSON.stringify(bookings), bookings.length],
  );
}
