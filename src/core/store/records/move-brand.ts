import type { IntegrationName } from '../../../terms.ts';
import { decodeRecord, type Reservation } from '../../canonical/reservation.ts';
import type { Booking } from '../../persons/match-bookings.ts';
import type { Time } from '../../reconcile/content.ts';
import { asEarlierSystem, type StoredClaims } from '../../reconcile/stored-claims.ts';
import { texts } from '../db/columns.ts';
import { columnOf, numberOf, type Pool, rowOf, type Tx } from '../db/pool.ts';
import { updateStates } from './write.ts';

/** How many reservations are read or written at once. */
const atOnce = 500;

/** The reservations of a brand that end on or after a day, as far as two systems may both know them. */
export async function bookingsOfBrand(db: Pool | Tx, integration: string, from: string): Promise<Booking[]> {
  const bookings: Booking[] = [];
  for (let after: string | undefined = ''; after !== undefined; ) {
    const { rows }: { rows: { id: string; data: string }[] } = await db.query(
      `select id, data::text as data from records
        where integration = $1 and type = 'reservation' and version > 0 and event not in ('erased', 'removed')
          and data ->> 'check_out' >= $2 and id > $3
        order by id limit ${atOnce}`,
      [integration, from, after],
    );
    bookings.push(...rows.map(({ data }) => bookingOf(decodeRecord('reservation', data))));
    after = rows.length < atOnce ? undefined : rows.at(-1)?.id;
  }
  return bookings;
}

function bookingOf({ id, confirmation_number, check_in, check_out, status, guests, extra = {} }: Reservation): Booking {
  return {
    id,
    confirmationNumber: confirmation_number,
    numbers: Object.values(extra).flatMap((one) =>
      typeof one === 'string' || typeof one === 'number' ? String(one) : [],
    ),
    checkIn: check_in,
    checkOut: check_out,
    isCancelled: status === 'cancelled' || status === 'no_show',
    guests,
  };
}

/** The syncs of a brand whose last run was not complete, or that never ran. */
export const incompleteSyncs = (db: Pool | Tx, integration: string, syncs: readonly string[]): Promise<string[]> =>
  columnOf(db)(
    `select t.sync from unnest($2::text[]) as t (sync)
      where (select state from runs r where r.integration = $1 and r.sync = t.sync and r.finished_at is not null
              order by r.queued_at desc limit 1) is distinct from 'complete'`,
    [integration, syncs],
  );

/** Events of a brand that were accepted and are not processed yet. */
export const waitingEvents = (db: Pool | Tx, integration: string): Promise<number> =>
  numberOf(db)(
    `select count(*)::int as count from events where integration = $1 and state in ('pending', 'hydrate', 'waiting')`,
    [integration],
  );

/** The days of the backfill that a move queued, if it is not over. */
export const openBackfill = (db: Pool, integration: string): Promise<{ from: string; to: string } | undefined> =>
  rowOf(db)(
    `select from_date::text as from, to_date::text as to from runs
      where integration = $1 and sync = 'backfill' and state in ('queued', 'running') and from_date is not null`,
    [integration],
  );

export interface Move {
  readonly integration: IntegrationName;
  /** The integration whose feed the brand takes over. */
  readonly to: IntegrationName;
  readonly prefix: string;
  /** Whether the new system is read again; otherwise its events are applied again. */
  readonly isListed: boolean;
  readonly matched: readonly { readonly id: string; readonly partnerId: string }[];
}

/**
 * Ends the feed of the old system and prepares the brand's records for the new one, inside the transaction that puts the new documents in
 * force: either all of it happened or nothing. Runs in progress are fenced; the old system's address is retired, the new one's becomes the
 * brand's; what was known of the old system's lists and habits is forgotten.
 */
export async function moveFeeds(tx: Tx, { integration, to, prefix, isListed, matched }: Move): Promise<void> {
  await tx.query(
    `update runs set state = 'failed', error_code = 'pull.interrupted', error_message = 'The brand moved to another system.',
            finished_at = now(), due_at = null, node = null, fence = fence + 1
      where integration = any($1) and state in ('queued', 'running')`,
    [[integration, to]],
  );
  for (let n = 0; n < matched.length; n += atOnce) {
    await continueBookings(tx, integration, prefix, matched.slice(n, n + atOnce));
  }
  await tx.query('update records set listed = null, unlisted = null where integration = $1 and listed is not null', [
    integration,
  ]);
  await tx.query('delete from guards where integration = $1', [integration]);
  await tx.query('delete from partner_accounts where integration = $1', [integration]);
  await tx.query('update syncs set read_at = null, feed = null where integration = $1', [integration]);
  await tx.query('update endpoints set retired_at = now() where integration = $1 and retired_at is null', [
    integration,
  ]);
  await tx.query('update endpoints set integration = $1 where integration = $2 and retired_at is null', [
    integration,
    to,
  ]);
  await tx.query(
    `update events set integration = $1 where integration = $2 and state in ('pending', 'hydrate', 'waiting')`,
    [integration, to],
  );
  if (isListed) return;
  await tx.query(
    `update events set integration = $1, state = 'pending', outcome = null, reason = null
      where integration = $2 and state = 'done' and body is not null`,
    [integration, to],
  );
}

/** Everything stated about these reservations so far was stated by the old system: the new one adds to it and clears none of it. */
async function continueBookings(
  tx: Tx,
  integration: IntegrationName,
  prefix: string,
  matched: Move['matched'],
): Promise<void> {
  const ids = matched.map(({ id }) => id);
  const { rows } = await tx.query<{ id: string; data: string; claims: StoredClaims | null; ms: number; seq: number }>(
    `select id, data::text as data, claims, (extract(epoch from effective_at) * 1000)::float8 as ms, seq from records
      where integration = $1 and type = 'reservation' and id = any($2) order by id for update`,
    [integration, ids],
  );
  const states = rows.map(({ id, data, claims, ms, seq }) => {
    const time: Time = [ms, seq];
    const earlier = asEarlierSystem(claims ?? undefined, decodeRecord('reservation', data), time);
    return { statement: { type: 'reservation' as const, id }, state: { time, claims: earlier } };
  });
  await updateStates(tx, integration, states);
  await tx.query(
    `update records r set partner_id = $4 || t.partner_id from unnest($2::text[], $3::text[]) as t (id, partner_id)
      where r.integration = $1 and r.type = 'reservation' and r.id = t.id`,
    [integration, texts(ids), texts(matched.map(({ partnerId }) => partnerId)), prefix],
  );
}
