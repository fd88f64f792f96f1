import type { Closing } from '../../deliver/replay.ts';
import type { Tx } from '../db/pool.ts';

/** The open dead letter, locked against a concurrent close. Undefined if it is not open. */
export async function lockDeadLetter(
  tx: Tx,
  id: string,
): Promise<{ integration: string; kind: 'event' | 'record' | 'delivery'; cause_id: string | null } | undefined> {
  const { rows } = await tx.query(
    `select integration, kind, cause_id from dead_letters where dead_letter_id = $1::bigint and state = 'open' for update`,
    [id],
  );
  return rows[0];
}

export async function closeDeadLetter(
  tx: Tx,
  id: string,
  state: 'replayed' | 'dropped',
  closing: Closing,
): Promise<void> {
  await tx.query(
    `update dead_letters set state = $2, closed_at = now(), closed_by = $3, closed_reason = $4
      where dead_letter_id = $1::bigint and state = 'open'`,
    [id, state, closing.by, closing.reason ?? null],
  );
}

/** Retries the held version at once, with a full set of tries and the same idempotency key. */
export async function retryHeld(tx: Tx, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update outbox o set held_by = null, attempt = 0, due_at = now()
       from dead_letters d
      where d.dead_letter_id = $1::bigint and o.integration = d.integration and o.destination = d.destination
        and o.type = d.type and o.id = d.id and o.held_by = d.dead_letter_id`,
    [id],
  );
  return rowCount === 1;
}

/** Whether the held version tells the destination whom to erase. */
export async function holdsErasure(tx: Tx, id: string): Promise<boolean> {
  const { rows } = await tx.query(
    `select from dead_letters d join outbox o on o.integration = d.integration and o.destination = d.destination and o.type = d.type
            and o.id = d.id and o.held_by = d.dead_letter_id
       join history c on c.integration = o.integration and c.type = o.type and c.id = o.id and c.version = o.next_version
      where d.dead_letter_id = $1::bigint and c.outcome = 'erased'`,
    [id],
  );
  return rows.length > 0;
}

/** Skips the held version: the destination never receives it, and the versions behind it are delivered. */
export async function passOverHeld(
  tx: Tx,
  id: string,
  node: string,
  why = 'An operator dropped it.',
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `with passed as (
       update outbox o
          set held_by = null, attempt = 0, next_version = o.next_version + 1,
              due_at = case when o.next_version < o.last_version then now() end
         from dead_letters d
        where d.dead_letter_id = $1::bigint and o.integration = d.integration and o.destination = d.destination
          and o.type = d.type and o.id = d.id and o.held_by = d.dead_letter_id
       returning o.integration, o.destination, o.type, o.id, o.next_version - 1 as version)
     insert into attempts (integration, destination, type, id, version, attempt, outcome, code, message, node)
     select integration, destination, type, id, version, 0, 'skipped', 'dropped', $3, $2 from passed`,
    [id, node, why],
  );
  return rowCount === 1;
}

/**
 * Skips the held version and those behind it up to a newer one, which carries the complete state. An erasure in between is not skipped: it
 * alone tells the destination whom to erase.
 */
export async function skipHeldTo(tx: Tx, id: string, version: number, node: string): Promise<void> {
  await tx.query(
    `with held as (
       select o.integration, o.destination, o.type, o.id, o.next_version,
              coalesce((select min(c.version) from history c where c.integration = o.integration and c.type = o.type and c.id = o.id
                           and c.version >= o.next_version and c.version < $2 and c.outcome = 'erased'), $2) as following
         from outbox o join dead_letters d
           on d.dead_letter_id = $1::bigint and o.integration = d.integration and o.destination = d.destination
          and o.type = d.type and o.id = d.id and o.held_by = d.dead_letter_id
     ), moved as (
       update outbox o set held_by = null, attempt = 0, next_version = h.following, due_at = now() from held h
        where o.integration = h.integration and o.destination = h.destination and o.type = h.type and o.id = h.id)
     insert into attempts (integration, destination, type, id, version, attempt, outcome, code, message, node)
     select integration, destination, type, id, version, 0, 'skipped', 'replaced',
            'A replay under today’s documents made a newer version.', $3
       from held, generate_series(next_version, following - 1) as version`,
    [id, version, node],
  );
}
