import { parseJson } from '../../../src/kit/json.ts';
import type { ApplyTarget } from '../../../src/reconcile/apply-target.ts';
import { decideHeld } from '../../../src/reconcile/decide-held.ts';
import type { Arriving, LockedRecord } from '../../../src/reconcile/decision.ts';
import type { MessageOutcome, Prepared, Tally } from '../../../src/reconcile/incoming.ts';
import { type RecordState, viewsText } from '../../../src/reconcile/record-state.ts';
import type { StoredViews } from '../../../src/reconcile/stored-views.ts';
import { idempotencyKey } from '../../../src/store/records/changes.ts';
import { contentOf, statementHash } from '../../../src/store/records/content.ts';
import { Guard, type Step } from '../../../src/store/records/guard.ts';
import { withoutUnchanged } from '../../../src/store/records/known-records.ts';
import { readReservation } from '../../../src/store/records/stored-record.ts';
import type { Json } from '../../../src/terms.ts';
import { type ChangeRow, type RecordRow, recordKey, type StoreModel } from './state.ts';
import type { Transaction } from './transaction.ts';

/** Applies a batch of messages. The decisions are those of the store itself (decide-held.ts); the model replaces its SQL. */
export function applyPrepared(
  model: StoreModel,
  tx: Transaction,
  target: ApplyTarget,
  prepared: readonly Prepared[],
  shown = 0,
): Tally {
  const { integration } = target;
  const batchSeq = prepared.every(({ arrival }) => arrival.seq !== undefined) ? 0 : model.nextSeq();
  const outcomes: MessageOutcome[] = new Array(prepared.length);
  const known = knownRecords(tx, integration, prepared);
  const arrivals = arrivalsOf(prepared, batchSeq, known, outcomes);
  const seen: string[] = [];
  const open = withoutUnchanged(arrivals, known, outcomes, seen);
  const requestedAt = arrivals[0]?.arrival.effectiveAt;
  if (seen.length > 0 && requestedAt !== undefined) {
    tx.atCommit(() => model.sightings.push({ integration, requestedAt, ids: new Set(seen) }));
  }
  const sighted = lastSighted(model, integration, open);
  const changes = new Map<string, ChangeRow[]>();
  const held = heldOf(model, tx, target, prepared, { open, sighted, unchanged: shown + seen.length });
  for (const arriving of open.map((one) => held.get(one.index) ?? one)) {
    const { id } = arriving;
    const row = tx.record(integration, id);
    const decision = decideHeld(arriving, row && lockedRecord(row), sighted.get(id));
    if (decision.kind === 'dropped' || decision.kind === 'dead') {
      outcomes[arriving.index] = { outcome: decision.kind, id };
      continue;
    }
    const { version, isOverruled } = decision;
    const more = { id, version, ...(isOverruled && { isOverruled }) };
    if (decision.kind !== 'change') {
      const { reason } = decision;
      outcomes[arriving.index] = { outcome: decision.kind, ...more, ...(reason !== undefined && { reason }) };
      if (decision.state && row) tx.putRecord(integration, id, { ...row, ...stateOf(decision.state) });
      continue;
    }
    const { content, event, state } = decision;
    outcomes[arriving.index] = { outcome: event, ...more };
    const { prepared: made, held: isHeld } = arriving;
    const own = made.kind === 'record' && isHeld === undefined && !isOverruled ? made.listed : undefined;
    const listed = own ?? (row?.listed === undefined ? undefined : -1);
    tx.putRecord(integration, id, { version, hash: content.hash, text: content.text, listed, ...stateOf(state) });
    const key = idempotencyKey(integration, 'reservation', id, version, content.hash);
    const change = { version, event, idempotencyKey: key, at: model.now(), text: content.text };
    changes.set(id, [...(changes.get(id) ?? []), change]);
  }
  for (const { index } of held.values())
    outcomes[index] = { ...(outcomes[index] as MessageOutcome), isHeld: true, isOverruled: true };
  for (const [i, one] of prepared.entries()) {
    const { outcome, id, isOverruled } = outcomes[i] ?? {};
    if (id === undefined || outcome !== 'unchanged' || isOverruled) continue;
    const row = tx.record(integration, id);
    if (row && one.kind === 'record' && one.listed !== undefined && row.listed !== one.listed)
      tx.putRecord(integration, id, { ...row, listed: one.listed });
  }
  for (const [id, versions] of changes) {
    tx.atCommit(() => {
      const name = recordKey(integration, id);
      model.changes.set(name, [...(model.changes.get(name) ?? []), ...versions]);
    });
  }
  enqueue(model, tx, target, changes);
  return tally(outcomes);
}

/** The messages that the guard holds back, by index. Two messages about one record in a batch are judged by themselves. */
function heldOf(
  model: StoreModel,
  tx: Transaction,
  target: ApplyTarget,
  prepared: readonly Prepared[],
  {
    open,
    sighted,
    unchanged,
  }: { readonly open: readonly Arriving[]; readonly sighted: ReadonlyMap<string, Date>; readonly unchanged: number },
): ReadonlyMap<number, Arriving> {
  const { integration } = target;
  const memory = model.memories.get(integration) ?? new Map();
  model.memories.set(integration, memory);
  const guard = Guard.of({ ...target, ...(target.guard && { guard: { ...target.guard, memory } }) }, prepared);
  if (guard === undefined) return new Map();
  const steps = open.map((arriving): Step => {
    const row = tx.record(integration, arriving.id);
    const before = row && lockedRecord(row);
    return { arriving, before, decision: decideHeld(arriving, before, sighted.get(arriving.id)) };
  });
  const suspicion = guard.count(steps, { unchanged });
  if (suspicion === undefined) return new Map();
  const { normal, held } = guard.decide(suspicion, steps, tx.normal(integration, guard.feed), model.now());
  tx.putNormal(integration, guard.feed, normal);
  return held;
}

type Known = ReadonlyMap<string, { readonly id: string; readonly version: number; readonly pulledHash: string }>;

function knownRecords(tx: Transaction, integration: string, prepared: readonly Prepared[]): Known {
  const known = new Map<string, { id: string; version: number; pulledHash: string }>();
  for (const one of prepared) {
    const id = one.kind === 'record' ? one.incoming.id : one.message?.id;
    if (one.arrival.cause !== 'run' || id === undefined) continue;
    const row = tx.record(integration, id);
    if (row) known.set(id, { id, version: row.version, pulledHash: row.pulledHash ?? row.hash });
  }
  return known;
}

function arrivalsOf(
  prepared: readonly Prepared[],
  batchSeq: number,
  known: Known,
  outcomes: MessageOutcome[],
): Arriving[] {
  return prepared.flatMap((one, index): Arriving[] => {
    const { arrival, message } = one;
    const about = { index, type: 'reservation' as const, arrival, seq: arrival.seq ?? batchSeq, prepared: one };
    if (one.kind === 'record') {
      const alone = contentOf(one.incoming.record);
      return [{ ...about, id: one.incoming.id, alone, hash: statementHash(alone, message), contentOf }];
    }
    if (message !== undefined && (arrival.cause !== 'run' || known.has(message.id))) {
      return [{ ...about, id: message.id, alone: undefined, hash: '', contentOf }];
    }
    const id = one.kind === 'dropped' ? one.id : one.deadLetter.id;
    outcomes[index] = { outcome: one.kind, ...(id !== undefined && { id }) };
    return [];
  });
}

function lastSighted(model: StoreModel, integration: string, arrivals: readonly Arriving[]): ReadonlyMap<string, Date> {
  const found = new Map<string, Date>();
  for (const { id, arrival } of arrivals) {
    if (arrival.cause === 'run') continue;
    for (const { integration: its, requestedAt, ids } of model.sightings) {
      const isLater = requestedAt > Math.max(arrival.effectiveAt, found.get(id)?.getTime() ?? 0);
      if (its === integration && isLater && ids.has(id)) found.set(id, new Date(requestedAt));
    }
  }
  return found;
}

const stateOf = ({ moment, views, pulledHash }: RecordState) => ({ moment, views: viewsText(views), pulledHash });

function lockedRecord({ version, moment, hash, text, views, pulledHash }: RecordRow): LockedRecord {
  return {
    version,
    moment,
    hash,
    get status() {
      return (parseJson(text) as { status?: string }).status;
    },
    get data(): Json {
      return parseJson(text);
    },
    reservation: () => readReservation(text),
    views: views === undefined ? undefined : (JSON.parse(views) as StoredViews),
    pulledHash,
  };
}

/** The rules are those of store/outbox/enqueue.ts. */
function enqueue(
  model: StoreModel,
  tx: Transaction,
  { integration, destinations }: ApplyTarget,
  changes: ReadonlyMap<string, readonly ChangeRow[]>,
): void {
  const now = model.now();
  for (const destination of destinations.reservation) {
    for (const [id, versions] of changes) {
      const [first, last] = [versions[0] as ChangeRow, versions.at(-1) as ChangeRow];
      const before = tx.outboxRow({ integration, destination, id });
      const isIdle = before !== undefined && before.nextVersion > before.lastVersion && !before.isHeld;
      tx.putOutbox(
        before === undefined
          ? {
              integration,
              destination,
              id,
              nextVersion: first.version,
              lastVersion: last.version,
              deliveredVersion: 0,
              attempt: 0,
              fence: 0,
              leased: false,
              isHeld: false,
              dueAt: now,
            }
          : { ...before, lastVersion: last.version, dueAt: isIdle ? now : before.dueAt },
      );
    }
  }
}

function tally(outcomes: readonly MessageOutcome[]): Tally {
  const counts = { changed: 0, unchanged: 0, superseded: 0, dropped: 0, dead: 0, held: 0 };
  for (const { outcome, isHeld } of outcomes) {
    if (isHeld) counts.held += 1;
    if (outcome === 'held') continue;
    if (outcome === 'unchanged' || outcome === 'superseded' || outcome === 'dropped' || outcome === 'dead') {
      counts[outcome] += 1;
    } else counts.changed += 1;
  }
  return { ...counts, outcomes };
}
