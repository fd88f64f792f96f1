import { hash } from 'node:crypto';
import { jsonbText, storedText } from '../../../kit/json.ts';
import type { EpochMs, IntegrationName } from '../../../terms.ts';
import type { Brand } from '../../brand/brand.ts';
import type { Closing } from '../../deliver/replay.ts';
import type { Decided } from '../../reconcile/accidents/signs.ts';
import type { Receipt, Statement, StatementOutcome } from '../../reconcile/forms.ts';
import { rowsTable } from '../db/columns.ts';
import { hitsOne, rowOf, type Tx } from '../db/pool.ts';

const letters = rowsTable(4, {
  text: ['kind', 'fingerprint', 'type', 'id', 'code', 'message', 'detail', 'raw', 'cause', 'cause_id'],
});

/** Stores records that could not become canonical. A record that fails at every poll is one dead letter with a counter and the newest payload. */
export async function insertDeadLetters(tx: Tx, target: Brand, steps: readonly Decided[]): Promise<void> {
  const distinct = new Map(
    steps.flatMap(({ statement: { receipt }, decision }) => {
      if (decision.kind !== 'dead') return [];
      const { deadLetter: letter } = decision;
      const raw = jsonbText(JSON.stringify(letter.raw));
      const fingerprint = letter.kind === 'event' ? receipt.causeId : (letter.id ?? hash('sha256', raw));
      const { kind, type, id, code } = letter;
      const row = {
        kind,
        fingerprint,
        type,
        id,
        code,
        raw,
        cause: receipt.cause,
        cause_id: receipt.causeId,
        message: storedText(letter.message),
        detail: jsonbText(JSON.stringify(letter.detail)),
      };
      return [[`${kind} ${fingerprint}`, row] as const];
    }),
  );
  if (distinct.size === 0) return;
  await tx.query(
    `insert into dead_letters as d (integration, kind, fingerprint, type, id, code, message, detail, raw, cause, cause_id,
                                    connector_version, integration_version)
     select $1, kind, fingerprint, type, id, code, message, detail::jsonb, raw::jsonb, cause, cause_id, $2, $3
       from ${letters.sql}
         on conflict (integration, kind, fingerprint) where state = 'open' do update
        set times = d.times + 1, last_at = now(), code = excluded.code, message = excluded.message,
            detail = excluded.detail, raw = excluded.raw, cause = excluded.cause, cause_id = excluded.cause_id,
            connector_version = excluded.connector_version, integration_version = excluded.integration_version`,
    [target.integration, target.connectorVersion, target.integrationVersion, ...letters.values([...distinct.values()])],
  );
}

/** Messages that named these reservations before they were stored: they count now. */
export async function closeWaiting(tx: Tx, integration: string, ids: readonly string[]): Promise<void> {
  await tx.query(
    `update dead_letters set state = 'replayed', closed_at = now(), closed_by = 'run',
            closed_reason = 'The reservation came: the message was applied to it.'
      where integration = $1 and kind = 'event' and type = 'reservation' and id = any($2) and state = 'open'
        and code in ('record.unknown_reservation', 'push.not_hydrated')`,
    [integration, ids],
  );
}

/** A pulled record that was processed: stored, unchanged, superseded or dropped by a rule. */
interface Processed {
  readonly id: string;
  readonly requestedAt: EpochMs;
  readonly mode: Receipt['mode'];
}

export function processedOf(statements: readonly Statement[], outcomes: readonly StatementOutcome[]): Processed[] {
  return outcomes.flatMap(({ outcome, id }, i) => {
    const arrival = statements[i]?.receipt;
    if (outcome === 'dead' || id === undefined || arrival === undefined) return [];
    return [{ id, requestedAt: arrival.effectiveAt, mode: arrival.mode }];
  });
}

const done = rowsTable(3, { text: ['id', 'mode'], float8: ['ms'] });

/**
 * Closes the dead letters of pulled records that a later answer of the partner corrected: a replay would only bring back an older state.
 * A row of a list says everything, so it settles both kinds; an answer for one reservation may lack fields of the list's row and
 * settles only the dead letter of such an answer. Events are left: an event may carry fields that no later message has.
 */
export async function settleDeadLetters(
  tx: Tx,
  integration: IntegrationName,
  runId: string,
  processed: readonly Processed[],
): Promise<void> {
  if (processed.length === 0) return;
  await tx.query({
    name: 'settle-dead-letters',
    // `exists` is evaluated once: a brand without open dead letters pays one index lookup per page.
    // A lateral lookup per record forces an index: after a wrong mapping, a brand may have very many open dead letters.
    text: `
     update dead_letters d
        set state = 'dropped', closed_at = now(), closed_by = 'run',
            closed_reason = 'Corrected: run ' || $2 || ' brought a later state of this record, and it was processed.'
       from ${done.sql}
      cross join lateral (
            select integration, dead_letter_id from dead_letters
             where integration = (select $1::text) and kind = 'record' and fingerprint = t.id and state = 'open' limit 1) found
      where exists (select from dead_letters where integration = $1 and kind = 'record' and state = 'open')
        and d.integration = found.integration and d.dead_letter_id = found.dead_letter_id
        and (t.mode <> 'single' or d.detail -> 'requested_by_id' = 'true')
        and to_timestamp(t.ms / 1000.0) > coalesce(
              (select max(r.effective_at) from history r
                where r.integration = d.integration and r.type = d.type and r.id = d.id
                  and r.outcome = 'dead' and r.cause_id = d.cause_id),
              d.last_at)`,
    values: [
      integration,
      runId,
      ...done.values(processed.map(({ id, requestedAt, mode }) => ({ id, ms: requestedAt, mode }))),
    ],
  });
}

/** The open dead letter, locked against a concurrent close. Undefined if it is not open. */
export const lockDeadLetter = (
  tx: Tx,
  id: string,
): Promise<{ integration: string; kind: 'event' | 'record' | 'delivery'; cause_id: string | null } | undefined> =>
  rowOf(tx)(
    `select integration, kind, cause_id from dead_letters where dead_letter_id = $1::bigint and state = 'open' for update`,
    [id],
  );

export async function closeDeadLetter(
  tx: Tx,
  id: string,
  state: 'replayed' | 'dropped',
  closing: Closing,
): Promise<void> {
  await tx.query(
    `update dead_letters set state = $2, closed_at = now(), closed_by = $3, closed_reason = $4
      where dead_letter_id = $1::bigint and state = 'open'`,
    [id, state, closing.by, closing.reason],
  );
}

/** The row of the outbox that the dead letter $1 holds back. */
const isHeldBy = `d.dead_letter_id = $1::bigint and o.integration = d.integration and o.destination = d.destination and o.type = d.type and o.id = d.id
  and o.held_by = d.dead_letter_id`;

/** Retries the held version at once, with a full set of tries and the same idempotency key. */
export const retryHeld = (tx: Tx, id: string): Promise<boolean> =>
  hitsOne(tx)(`update outbox o set held_by = null, attempt = 0, due_at = now() from dead_letters d where ${isHeldBy}`, [
    id,
  ]);

/** Whether the held version tells the destination whom to erase. */
export async function holdsErasure(tx: Tx, id: string): Promise<boolean> {
  return hitsOne(tx)(
    `select from dead_letters d join outbox o on ${isHeldBy}
       join history c on c.integration = o.integration and c.type = o.type and c.id = o.id and c.version = o.next_version
      where c.outcome = 'erased' limit 1`,
    [id],
  );
}

/** Skips the held version: the destination never receives it, and the versions behind it are delivered. */
export const passOverHeld = (tx: Tx, id: string, node: string, why = 'An operator dropped it.'): Promise<boolean> =>
  hitsOne(tx)(
    `with passed as (
       update outbox o
          set held_by = null, attempt = 0, next_version = o.next_version + 1,
              due_at = case when o.next_version < o.last_version then now() end
         from dead_letters d where ${isHeldBy}
       returning o.integration, o.destination, o.type, o.id, o.next_version - 1 as version)
     insert into attempts (integration, destination, type, id, version, attempt, outcome, code, message, node)
     select integration, destination, type, id, version, 0, 'skipped', 'dropped', $3, $2 from passed`,
    [id, node, why],
  );

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
         from outbox o join dead_letters d on ${isHeldBy}
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
