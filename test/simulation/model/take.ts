import type { Brand } from '../../../src/core/brand/brand.ts';
import { decodeRecord } from '../../../src/core/canonical/reservation.ts';
import type { Outgoing } from '../../../src/core/deliver/handover.ts';
import type { Claimed } from '../../../src/core/deliver/ports.ts';
import { countBatch, heldIn, type Shown } from '../../../src/core/reconcile/accidents/guard.ts';
import { evaluate } from '../../../src/core/reconcile/accidents/judge.ts';
import type { Decided } from '../../../src/core/reconcile/accidents/signs.ts';
import { feedOf, type Statement, type Stored, type Summary, summaryOf } from '../../../src/core/reconcile/forms.ts';
import type { StoredClaims } from '../../../src/core/reconcile/stored-claims.ts';
import { idempotencyKey } from '../../../src/core/store/records/history.ts';
import { decideBatch, outcomeOf, overIn, withoutHolds } from '../../../src/core/store/records/ingest.ts';
import { claimColumns, listedBy } from '../../../src/core/store/records/write.ts';
import { type ChangeRow, healthyRemote, type OutboxRow, type RecordRow, recordKey, type StoreModel } from './state.ts';
import type { Transaction } from './transaction.ts';

/** Takes a batch of statements in. The decisions are those of the store itself (pipeline.ts); the model replaces its SQL. */
export function take(
  model: StoreModel,
  tx: Transaction,
  brand: Brand,
  arrived: readonly Statement[],
  { unchanged = 0, outgoing }: { readonly unchanged?: number; readonly outgoing: Outgoing },
): Summary {
  const { integration } = brand;
  const seq = arrived.every(({ receipt }) => receipt.seq !== undefined) ? 0 : model.nextSeq();
  const statements = arrived.map((one) => ({ ...one, receipt: { seq, ...one.receipt } }));
  const stored = storedRows(model, tx, integration, statements);
  const given = decideBatch(brand, stored, statements);
  const over = overIn(given);
  const known = over.size === 0 ? stored : withoutHolds(stored, given, over);
  const first = over.size === 0 ? given : decideBatch(brand, known, statements);
  const held = heldOf(model, tx, brand, first.steps, { unchanged, over });
  const { steps } = held.size === 0 ? first : decideBatch(brand, known, statements, held);
  const seen: string[] = [];
  const changes = new Map<string, ChangeRow[]>();
  for (const { statement, decision } of steps) {
    const { id, listed: own } = statement;
    const row = tx.record(integration, id);
    if (decision.kind === 'change') {
      const { version, event, text, state } = decision;
      const listed = listedBy(statement, decision) ?? (row?.listed === undefined ? undefined : -1);
      tx.putRecord(integration, id, {
        version,
        event,
        text,
        listed,
        ...state,
        claims: claimColumns(state.claims).claims,
      });
      const key = idempotencyKey(integration, 'reservation', id, version, text);
      const change = { version, event, idempotencyKey: key, at: model.now(), text };
      changes.set(id, [...(changes.get(id) ?? []), change]);
      continue;
    }
    if (decision.kind === 'dead' || row === undefined) continue;
    if ('isShown' in decision && decision.isShown) seen.push(id);
    else if (decision.state)
      tx.putRecord(integration, id, {
        ...row,
        ...decision.state,
        claims: claimColumns(decision.state.claims).claims,
        ...(claimColumns(decision.state.claims).held !== undefined && row.listed !== undefined && { listed: -1 }),
      });
    const after = tx.record(integration, id) as RecordRow;
    const isListed = decision.kind === 'unchanged' && !decision.isOverruled && own !== undefined;
    if (isListed && after.listed !== own) tx.putRecord(integration, id, { ...after, listed: own });
  }
  const requestedAt = statements[0]?.receipt.effectiveAt;
  if (seen.length > 0 && requestedAt !== undefined) {
    tx.atCommit(() => model.sightings.push({ integration, requestedAt, ids: new Set(seen) }));
  }
  for (const [id, versions] of changes) {
    tx.atCommit(() => {
      const name = recordKey(integration, id);
      model.changes.set(name, [...(model.changes.get(name) ?? []), ...versions]);
    });
  }
  enqueue(model, tx, brand, changes, outgoing);
  return summaryOf(steps.map(outcomeOf));
}

/** The values that the guard holds back, by statement. */
function heldOf(
  model: StoreModel,
  tx: Transaction,
  { guard, integration }: Brand,
  steps: readonly Decided[],
  shown: Shown,
) {
  const feed = feedOf(steps.map(({ statement }) => statement));
  if (guard === undefined || feed === undefined) return new Map();
  const memory = model.memories.get(integration) ?? new Map();
  model.memories.set(integration, memory);
  const suspicion = countBatch({ limits: guard.limits, memory }, steps, shown);
  if (suspicion === undefined) return new Map();
  const known = { now: model.now(), newId: () => `hld_${model.nextSeq()}`, bookings: 0, expected: 0 };
  const verdict = evaluate(tx.normal(integration, feed), suspicion.batches, guard.limits, known);
  tx.putNormal(integration, feed, verdict.normal);
  return heldIn(suspicion, steps, verdict, shown);
}

/** The rows as the store reads them; a list that showed a row after the oldest statement of the batch is named. */
function storedRows(
  model: StoreModel,
  tx: Transaction,
  integration: string,
  statements: readonly Statement[],
): ReadonlyMap<string, Stored> {
  const stored = new Map<string, Stored>();
  for (const { id } of statements) {
    const row = tx.record(integration, id);
    if (row === undefined) continue;
    const own = statements.filter((one) => one.id === id);
    const oldestAt = Math.min(...own.map(({ receipt }) => receipt.effectiveAt));
    const seenAt = model.sightings.flatMap((one) =>
      one.integration === integration && one.requestedAt > oldestAt && one.ids.has(id) ? [one.requestedAt] : [],
    );
    const { version, event, time, text, claims } = row;
    stored.set(`reservation ${id}`, {
      version,
      event,
      time,
      text,
      claims: claims === undefined ? undefined : (JSON.parse(claims) as StoredClaims),
      ...(seenAt.length > 0 && { sightedAt: Math.max(...seenAt) }),
    });
  }
  return stored;
}

/** The rules are those of store/outbox/enqueue.ts. */
function enqueue(
  model: StoreModel,
  tx: Transaction,
  { integration, destinations }: Brand,
  changes: ReadonlyMap<string, readonly ChangeRow[]>,
  outgoing: Outgoing,
): void {
  const now = model.now();
  for (const destination of destinations.reservation) {
    const lane = { integration, destination };
    const single = [...changes].flatMap(([id, versions]) => (versions.length === 1 ? [id] : []));
    const granted = outgoing.room(lane, single.length);
    const { pausedUntil, state } = model.remotes.get(`destination ${destination}`) ?? healthyRemote;
    const isWaiting = pausedUntil > now || state !== 'closed';
    const leasable = new Set(isWaiting ? [] : single.slice(0, granted?.records));
    const claims: Claimed[] = [];
    for (const [id, versions] of changes) {
      const [first, last] = [versions[0] as ChangeRow, versions.at(-1) as ChangeRow];
      const before = tx.outboxRow({ integration, destination, id }) ?? {
        ...{ integration, destination, id, nextVersion: first.version, lastVersion: first.version - 1 },
        ...{ deliveredVersion: 0, attempt: 0, fence: 0, leased: false, isHeld: false, dueAt: undefined },
      };
      const isIdle = before.nextVersion > before.lastVersion && !before.isHeld;
      const row = { ...before, lastVersion: last.version };
      if (granted !== undefined && isIdle && !before.leased && leasable.has(id)) {
        const fence = before.fence + 1;
        tx.putOutbox({ ...row, dueAt: now + granted.room.leaseMs, leased: true, fence });
        claims.push(claimedOf(row, last, fence));
      } else {
        tx.putOutbox({ ...row, dueAt: isIdle ? now : before.dueAt });
        outgoing.wait(lane);
      }
    }
    if (granted) outgoing.lease(granted.room, claims);
  }
}

const claimedOf = (
  row: OutboxRow,
  { version, event, idempotencyKey, at, text }: ChangeRow,
  fence: number,
): Claimed => ({
  type: 'reservation',
  id: row.id,
  version,
  deliveredVersion: row.deliveredVersion,
  triesUsed: row.attempt,
  fence,
  interrupted: false,
  change: { event, idempotencyKey, at, record: () => decodeRecord('reservation', text) },
});
