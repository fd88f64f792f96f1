import type { Keyring } from '../../../kit/crypto.ts';
import { storedText } from '../../../kit/json.ts';
import type { DeliveryStore, LaneKey, Settlement } from '../../deliver/ports.ts';
import { rowsTable } from '../db/columns.ts';
import { type Pool, transaction } from '../db/pool.ts';
import { erasureLock } from '../erasure/erased.ts';
import {
  noteAnswer,
  noteFailure,
  noteWaitRequest,
  releaseProbe,
  destination as remote,
  takeCalls,
  takeProbe,
} from '../remotes.ts';
import { claim, extend } from './claim.ts';
import { countDue, nextDue, nextDueOfAll } from './due.ts';

/**
 * Writes the results of claimed versions: advances the outbox row, logs the try if it is worth reporting, and keeps a dead letter. Only if the row still has the
 * fence of the claim; a node that is too late changes nothing.
 */
export async function settle(pool: Pool, settlements: readonly Settlement[], node: string): Promise<LaneKey[]> {
  const done = settlements.filter(({ result }) => result.kind === 'delivered' || result.kind === 'skipped');
  const again = settlements.filter(({ result }) => result.kind === 'retry');
  const dead = settlements.filter(({ result }) => result.kind === 'dead');
  const more: LaneKey[] = [];
  if (done.length > 0) more.push(...(await settleDone(pool, done, node)));
  if (again.length > 0) await settleRetry(pool, again, node);
  if (dead.length > 0) await settleDead(pool, dead, node);
  return more;
}

/**
 * The length of the arrays is hidden from the planner. Otherwise it expects few leased rows and reads the whole outbox a thousand times:
 * 1,900 ms instead of 30 ms for a batch of 1,000 at a backlog of 100,000 (2 cores, arm64).
 */
const settled = rowsTable(2, {
  text: ['integration', 'destination', 'type', 'id', 'outcome', 'code', 'message', 'answer'],
  int: ['version', 'attempt', 'status', 'duration_ms', 'tries_used', 'may_have_arrived'],
  bigint: ['fence'],
  float8: ['delay_ms'],
});

/** Sorted in the order in which intake locks rows, so that deadlocks between the two are rare; the loser is retried. */
const results = `
  results as materialized (
    select * from ${settled.sql}
     order by integration, destination, type, id
  )`;

/** Rows that get a dead letter are locked first. */
const held = `
  ${results}, held as materialized (
    select r.* from results r
      join outbox o using (integration, destination, type, id)
     where o.fence = r.fence and o.leased
     order by o.integration, o.destination, o.type, o.id for update of o
  )`;

const log = `
  insert into attempts (integration, destination, type, id, version, attempt, outcome, code, status, message, duration_ms, node)
  select integration, destination, type, id, version, attempt, outcome, code, status, message, duration_ms, $1
    from moved where outcome <> 'delivered' or code is not null or attempt > 1`;

/**
 * By key, not by ctid: intake may raise last_version between our snapshot and our lock, and a row found by its old ctid would then
 * be skipped silently.
 */
const same = 'o.integration = h.integration and o.destination = h.destination and o.type = h.type and o.id = h.id';
const ours = `${same} and o.fence = h.fence and o.leased`;

const resultColumns =
  'h.integration, h.destination, h.type, h.id, h.version, h.attempt, h.outcome, h.code, h.status, h.message, h.duration_ms';

function columnOf(settlements: readonly Settlement[], node: string): unknown[] {
  const rows = settlements.map(({ result, fence, ...s }) => {
    const retry = result.kind === 'retry' ? result : undefined;
    const key = { integration: s.integration, destination: s.destination, type: s.type, id: s.id };
    return {
      ...key,
      version: s.version,
      fence,
      attempt: s.attempt,
      outcome: result.kind,
      code: s.code,
      message: storedText(s.message),
      status: s.status,
      duration_ms: s.durationMs === undefined ? undefined : Math.round(s.durationMs),
      delay_ms: retry?.delayMs ?? 0,
      tries_used: retry?.triesUsed ?? 0,
      may_have_arrived: retry?.mayHaveArrived ? 1 : 0,
      answer: storedText(s.answer),
    };
  });
  return [node, ...settled.values(rows)];
}

/** The next version has been waiting since it was made: it must not wait for a whole `batch.wait` again. */
const madeAt = `(select c.at from history c where c.integration = o.integration and c.id = o.id and c.type = o.type
                    and c.version = o.next_version + 1 and c.diff is not null limit 1)`;

/** The brand left the destination while the version was on its way: it is claimed again, as a removal. */
const sentBefore = `(o.leaving and h.outcome = 'delivered' and coalesce(h.code, 'erased') = 'erased')`;

async function settleDone(pool: Pool, settlements: readonly Settlement[], node: string): Promise<LaneKey[]> {
  const { rows } = await pool.query<LaneKey>({
    name: 'outbox-done',
    text: `with ${results}, moved as (
      update outbox o
         set next_version = case when ${sentBefore} then o.next_version else o.next_version + 1 end,
             delivered_version = case when h.outcome = 'delivered' then h.version else o.delivered_version end,
             delivered_at = case when h.outcome = 'delivered' then now() else o.delivered_at end,
             removed = case when h.outcome = 'skipped' or h.code = 'erased' then o.removed else h.code is not null end,
             leaving = o.leaving and (${sentBefore} or o.next_version < o.last_version), attempt = 0, leased = false,
             due_at = case when ${sentBefore} then now() when o.next_version < o.last_version then coalesce(${madeAt}, now()) end
        from results h where ${ours}
      returning ${resultColumns}, o.due_at
    ), logged as (${log}), recovered as (
      update remotes r set told_to_wait = null, state = 'closed', failures = 0, opened_at = null, probe_at = null
        from (select distinct destination from moved where outcome = 'delivered') m
       where r.kind = 'destination' and r.name = m.destination and (r.told_to_wait is not null or r.failures > 0)
      returning r.name
    )
    -- A lane whose circuit has just closed may have a backlog.
    select distinct integration, destination from moved
     where due_at is not null or destination in (select name from recovered)`,
    values: columnOf(settlements, node),
  });
  return rows;
}

async function settleRetry(pool: Pool, settlements: readonly Settlement[], node: string): Promise<void> {
  await pool.query({
    name: 'outbox-retry',
    text: `with ${results}, moved as (
      update outbox o
         set attempt = h.tries_used, leased = h.may_have_arrived = 1, fence = o.fence + 1,
             due_at = now() + h.delay_ms * interval '1 millisecond'
        from results h where ${ours}
      returning ${resultColumns}
    ) ${log}`,
    values: columnOf(settlements, node),
  });
}

/** An answer may quote what was sent. An erasure in between did not find it, and it may also be the answer to the erasure itself. */
const keptAnswer = `
  case when not exists (select from history c where c.integration = held.integration and c.type = held.type and c.id = held.id
                                                and c.version >= held.version and c.outcome = 'erased') then answer end`;

/**
 * The row is held by its dead letter until an operator replays or drops it. If it was sent, it stays marked as leased, since it may
 * have arrived: the next claim says so. No erasure runs meanwhile: a later one finds the dead letter.
 */
async function settleDead(pool: Pool, settlements: readonly Settlement[], node: string): Promise<void> {
  await transaction(pool, async (tx) => {
    await tx.query(`select pg_advisory_xact_lock_shared(${erasureLock})`);
    await tx.query(
      `with ${held}, letters as (
        insert into dead_letters (integration, kind, fingerprint, type, id, destination, version, code, message, detail)
        select integration, 'delivery', destination || ' ' || type || ' ' || id || ' ' || version, type, id,
               destination, version, coalesce(code, 'deliver.refused'), coalesce(message, ''),
               jsonb_strip_nulls(jsonb_build_object('attempt', attempt, 'status', status, 'duration_ms', duration_ms,
                                                    'answer', ${keptAnswer}))
          from held
            on conflict (integration, kind, fingerprint) where state = 'open' do update
           set times = dead_letters.times + 1, last_at = now(), code = excluded.code, message = excluded.message,
               detail = excluded.detail
        returning integration, destination, type, id, dead_letter_id
      ), moved as (
        update outbox o set due_at = null, leased = h.duration_ms is not null, fence = o.fence + 1, held_by = l.dead_letter_id
          from held h join letters l using (integration, destination, type, id)
         where ${same}
        returning ${resultColumns}
      ) ${log}`,
      columnOf(settlements, node),
    );
  });
}

/**
 * The outbox: one row per destination and record, an index on (integration, destination, due_at). A claim moves due_at to
 * the end of the lease and raises the fence. A settlement counts only while the fence is unchanged. The same index finds due
 * records and those that a dead node left behind.
 */
export function outboxStore(pool: Pool, keyring?: Keyring): DeliveryStore {
  return {
    nextDue: (lanes, bounds) => nextDue(pool, lanes, bounds),
    nextDueOfAll: (bounds) => nextDueOfAll(pool, bounds),
    countDue: (lane, limit) => countDue(pool, lane, limit),
    claim: (destination, integrations, mostEach, leaseMs, options = {}) =>
      claim({ pool, keyring }, destination, integrations, mostEach, leaseMs, options),
    extend: (lane, claims, leaseMs) => extend(pool, lane, claims, leaseMs),
    putBack: async (lane, claims) => void (await extend(pool, lane, claims, 0, false)),
    settle: (settlements, node) => settle(pool, settlements, node),
    takeBudget: (destination, wanted, rate) => takeCalls(pool, remote(destination), rate, wanted),
    noteWaitRequest: (destination, request) => noteWaitRequest(pool, remote(destination), request),
    noteFailure: (destination, failure, circuit) => noteFailure(pool, remote(destination), failure, circuit),
    noteAnswer: (destination) => noteAnswer(pool, remote(destination)),
    takeProbe: (destination, leaseMs) => takeProbe(pool, remote(destination), leaseMs),
    releaseProbe: (destination) => releaseProbe(pool, remote(destination)),
  };
}
