import type { EntityType } from '../../../terms.ts';
import { columnsOf } from '../db/columns.ts';
import { numberOf, onlyRow, type Pool, withLongStatements } from '../db/pool.ts';

/** The usual size of a step. */
export const resentAtOnce = 5_000;

/** The records of a brand that a destination receives. */
export interface ResendLane {
  readonly integration: string;
  readonly destination: string;
  readonly type: EntityType;
}

/**
 * Queues the newest version of the next records after an id, or of some, for a destination, with its original idempotency key. Records that
 * have work queued or are held back do not change, nor do those of which a newer version was delivered meanwhile. In steps, so that
 * intake never waits long for a row. `last` is undefined after the last step.
 */
export async function resendStep(
  pool: Pool,
  { integration, destination, type }: ResendLane,
  after: string,
  ids?: readonly string[],
  limit = resentAtOnce,
): Promise<{ readonly read: number; readonly queued: number; readonly last: string | undefined }> {
  const { last, read, queued } = await onlyRow(pool)<{ last: string | null; read: number; queued: number }>(
    `with step as (
       select id, version from records
        where integration = $1 and type = $3 and version > 0 and id > $4 and ($6::text[] is null or id = any($6)) order by id limit $5
     ), put as (
       insert into outbox as o (integration, destination, type, id, next_version, last_version, due_at)
       select $1, $2, $3, id, version, version, now() from step order by id
           on conflict (integration, destination, type, id) do update
          set next_version = excluded.next_version, last_version = excluded.last_version, due_at = now(), attempt = 0
        where o.next_version > o.last_version and o.held_by is null and o.last_version <= excluded.last_version
       returning id)
     select (select max(id) from step) as last, (select count(*)::int from step) as read,
            (select count(*)::int from put) as queued`,
    [integration, destination, type, after, limit, ids],
  );
  return { read, queued, last: last === null || read < limit ? undefined : last };
}

/** The records of these lanes. */
export const countRecords = (pool: Pool, lanes: readonly ResendLane[]): Promise<number> =>
  numberOf(pool)(
    `select count(*)::int as records from unnest($1::text[], $2::text[]) as l (integration, type)
       join records r using (integration, type) where r.version > 0`,
    columnsOf(lanes, 'integration', 'type'),
  );

/** How much of these lanes is not delivered yet: waiting records, and records that a dead letter holds back. */
export const undelivered = (
  pool: Pool,
  lanes: readonly ResendLane[],
  id?: string,
): Promise<{ readonly waiting: number; readonly held: number }> =>
  // Uses the indexes of due rows and of open dead letters, so that a million delivered rows cost nothing.
  onlyRow(pool)(
    `select coalesce(sum(w.count), 0)::int as waiting, coalesce(sum(h.count), 0)::int as held
       from unnest($1::text[], $2::text[], $3::text[]) as l (integration, destination, type)
      cross join lateral (select count(*) from outbox o where o.integration = l.integration
                             and o.destination = l.destination and o.type = l.type and o.due_at is not null
                             and ($4::text is null or o.id = $4)) w
      cross join lateral (select count(*) from dead_letters d where d.integration = l.integration and d.kind = 'delivery'
                             and d.state = 'open' and d.destination = l.destination and d.type = l.type
                             and ($4::text is null or d.id = $4)) h`,
    [...columnsOf(lanes, 'integration', 'destination', 'type'), id],
  );

/**
 * What waited in preview is due from now on, bookings before profiles: a new profile that says nothing beyond the bookings then takes no
 * call.
 */
export const makeDue = (pool: Pool, integration: string, destination: string) =>
  withLongStatements(pool, (db) =>
    db.query(
      `update outbox set due_at = now() + case type when 'guest' then interval '1 second' else interval '0' end
        where integration = $1 and destination = $2 and due_at <= now()`,
      [integration, destination],
    ),
  );

/** The rest is due by itself, in the order of its retries. */
const most = 10_000;

/** Makes retries of these destinations due, without their backoff. */
export async function retryNow(pool: Pool, destinations: readonly string[], integrations: readonly string[]) {
  await pool.query(
    `update outbox o set due_at = now()
       from unnest($1::text[]) as d (name) cross join unnest($2::text[]) as i (name)
      cross join lateral (
        select type, id from outbox w where w.integration = i.name and w.destination = d.name and w.due_at > now() and not w.leased
         order by w.due_at limit ${most}) w
      where o.integration = i.name and o.id = w.id and o.type = w.type and o.destination = d.name and o.due_at > now() and not o.leased`,
    [destinations, integrations],
  );
}
