import { hash } from 'node:crypto';
import { encodeRecord } from '../../canonical/encode.ts';
import type { DirectLeaseBatch } from '../../deliver/direct-leases.ts';
import { jsonbText, parseJson } from '../../kit/json.ts';
import { difference } from '../../reconcile/difference.ts';
import type { Outcome, Prepared, RecordDeadLetter, Tally } from '../../reconcile/incoming.ts';
import { isOlder, reconcile } from '../../reconcile/reconcile.ts';
import type { EntityType, EpochMs, Json } from '../../terms.ts';
import { texts } from '../db/columns.ts';
import { type Tx, together } from '../db/pool.ts';
import { withoutErased } from '../erasure/erased.ts';
import { insertDeadLetters } from '../operate/dead-letter-insert.ts';
import { enqueue } from '../outbox/enqueue.ts';
import { type ApplyTarget, type Change, type Item, idempotencyKey, type Receipt, writeChanges } from './changes.ts';
import { countDrift } from './drift.ts';
import { type FirstState, lockRecords, moveEffectiveTime } from './locked-records.ts';
import { insertSighting, lastSighted } from './sightings.ts';

export type { ApplyTarget } from './changes.ts';

export interface ApplyWays {
  /** Changes may take the short way to their destinations. */
  readonly leaseBatch?: DirectLeaseBatch;
  /** Asked before rows are written that others write too, whatever record they work on: they are written in turn. */
  readonly inTurn?: () => Promise<unknown>;
}

/**
 * Takes a batch of prepared records into the store, inside the caller's transaction: all of it happens or nothing. Records
 * that a poll shows unchanged cost one read and no write to their row; the others are locked in the order of their ids, so
 * that two nodes hardly ever wait for each other in a circle; if so, one is run anew.
 */
export async function applyPrepared(
  tx: Tx,
  target: ApplyTarget,
  given: readonly Prepared[],
  { leaseBatch, inTurn }: ApplyWays = {},
): Promise<Tally> {
  const [prepared, seq, known] = await together(tx, () => [
    withoutErased(tx, target, given),
    nextSeq(tx, given),
    knownRecords(tx, target, given),
  ]);
  const outcomes: Outcome[] = new Array(prepared.length);
  const receipts: Receipt[] = [];
  const dead: { letter: RecordDeadLetter; arrival: Prepared['arrival'] }[] = [];
  const items: Item[] = [];
  for (const [index, one] of prepared.entries()) {
    const itemSeq = one.arrival.seq ?? seq;
    if (one.kind === 'record') {
      const { incoming, arrival } = one;
      const encoded = encodeRecord(incoming.record);
      const text = jsonbText(encoded);
      items.push({ index, incoming, arrival, seq: itemSeq, text, isVerbatim: text === encoded, hash: sha256(text) });
    } else if (one.kind === 'dropped') {
      outcomes[index] = { outcome: 'dropped', id: one.id };
      receipts.push({
        item: { arrival: one.arrival, seq: itemSeq },
        type: 'reservation',
        id: one.id,
        outcome: 'dropped',
        reason: one.reason,
        raw: one.raw,
        notes: '[]',
      });
    } else {
      const { deadLetter } = one;
      outcomes[index] = { outcome: 'dead', ...(deadLetter.id !== undefined && { id: deadLetter.id }) };
      dead.push({ letter: deadLetter, arrival: one.arrival });
      if (deadLetter.id === undefined) continue;
      receipts.push({
        item: { arrival: one.arrival, seq: itemSeq },
        type: deadLetter.type,
        id: deadLetter.id,
        outcome: 'dead',
        reason: deadLetter.code,
        raw: deadLetter.raw,
        notes: '[]',
      });
    }
  }

  const seenUnchanged: string[] = [];
  const changes: Change[] = [];
  const moved = new Map<EntityType, Moved>();
  for (const type of ['reservation', 'guest'] as const) {
    const ofType = items.filter((item) => item.incoming.type === type);
    if (ofType.length === 0) continue;
    const stored = known.get(type);
    const open = stored ? withoutUnchanged(ofType, stored, outcomes, seenUnchanged) : ofType;
    if (open.length === 0) continue;
    const times = await takeIn(tx, target, type, open, stored, { outcomes, receipts, changes });
    if (times.size > 0) moved.set(type, times);
  }

  const requested = items[0]?.arrival;
  await together(tx, () => [
    ...(seenUnchanged.length > 0 && requested
      ? [insertSighting(tx, target.integration, requested.effectiveAt, requested.causeId, seenUnchanged)]
      : []),
    ...writeChanges(tx, target, receipts, changes),
    // After the changes: a state may have come in this very batch and then been confirmed by a later one of the same content.
    ...[...moved].map(([type, times]) => moveEffectiveTime(tx, target.integration, type, times)),
    enqueue(tx, target, changes, leaseBatch),
    inTurn?.(),
    insertDeadLetters(tx, target, dead),
    countDrift(tx, target.integration, changes),
  ]);
  return tally(outcomes);
}

interface KnownRecord {
  readonly id: string;
  readonly version: number;
  readonly hash: string;
}

type KnownRecords = ReadonlyMap<string, KnownRecord>;

/** The rows that a poll's records have already, by type; for what comes otherwise nobody asks. */
async function knownRecords(
  tx: Tx,
  target: ApplyTarget,
  prepared: readonly Prepared[],
): Promise<ReadonlyMap<EntityType, KnownRecords>> {
  const ids = new Map<EntityType, string[]>();
  for (const one of prepared) {
    if (one.kind !== 'record' || one.arrival.cause !== 'run') continue;
    const { type, id } = one.incoming;
    const ofType = ids.get(type);
    if (ofType) ofType.push(id);
    else ids.set(type, [id]);
  }
  const asked = [...ids].map(async ([type, ofType]): Promise<[EntityType, KnownRecords]> => {
    const { rows } = await tx.query<KnownRecord>({
      name: 'known-records',
      text: `select id, version, encode(hash, 'hex') as hash from records
              where integration = $1 and type = $2 and id = any($3::text[])`,
      values: [target.integration, type, texts(ofType)],
    });
    return [type, new Map(rows.map((row) => [row.id, row]))];
  });
  return new Map(await Promise.all(asked));
}

/** A poll's records whose content is the stored one need nothing more: they are set aside before any row is locked. */
function withoutUnchanged(
  items: readonly Item[],
  known: KnownRecords,
  outcomes: Outcome[],
  seen: string[],
): readonly Item[] {
  const times = new Map<string, number>();
  for (const { incoming } of items) times.set(incoming.id, (times.get(incoming.id) ?? 0) + 1);
  return items.filter((item) => {
    const row = known.get(item.incoming.id);
    const settled =
      row !== undefined && item.arrival.cause === 'run' && row.hash === item.hash && times.get(item.incoming.id) === 1;
    if (settled) {
      outcomes[item.index] = { outcome: 'unchanged', id: item.incoming.id, version: row.version };
      seen.push(item.incoming.id);
    }
    return !settled;
  });
}

/** Records whose stored state was said again, later: since when it counts now. */
type Moved = ReadonlyMap<string, { readonly effectiveAt: EpochMs; readonly seq: number }>;

async function takeIn(
  tx: Tx,
  target: ApplyTarget,
  type: EntityType,
  items: readonly Item[],
  known: ReadonlyMap<string, unknown> | undefined,
  into: { outcomes: Outcome[]; receipts: Receipt[]; changes: Change[] },
): Promise<Moved> {
  const [{ rows, stored }, sighted] = await together(tx, () => [
    lockRecords(tx, target.integration, type, firstStates(items, known)),
    lastSighted(tx, target.integration, items),
  ]);
  const moved = new Map<string, { effectiveAt: EpochMs; seq: number }>();
  for (const item of items) {
    const { incoming, arrival } = item;
    const before = rows.get(incoming.id);
    const status = 'status' in incoming.record ? incoming.record.status : undefined;
    const arrived = { effectiveAt: arrival.effectiveAt, seq: item.seq, hash: item.hash, status };
    let verdict = reconcile(before, arrived);
    let reason: string | undefined;
    if (verdict.kind === 'superseded') reason = 'A newer state is stored.';
    if (verdict.kind === 'change' && before && arrival.cause === 'event') {
      const sighting = sighted.get(incoming.id);
      if (sighting && sighting.getTime() > arrival.effectiveAt) {
        verdict = { kind: 'superseded' };
        reason = `The partner's list, requested at ${sighting.toISOString()}, still showed the stored state.`;
      }
    }
    const receipt = {
      item,
      type,
      id: incoming.id,
      raw: incoming.raw,
      notes: jsonbText(JSON.stringify(incoming.notes)),
    };
    if (verdict.kind !== 'change') {
      const version = before?.version ?? 0;
      into.outcomes[item.index] = { outcome: verdict.kind, id: incoming.id, version };
      into.receipts.push({ ...receipt, outcome: verdict.kind, version, ...(reason !== undefined && { reason }) });
      if (verdict.kind === 'unchanged' && before && isOlder(before, arrived)) {
        rows.set(incoming.id, { ...before, effectiveAt: arrival.effectiveAt, seq: item.seq });
        moved.set(incoming.id, { effectiveAt: arrival.effectiveAt, seq: item.seq });
      }
      continue;
    }
    const { event, version } = verdict;
    // As it would be read again; for a first version, which has nothing to be compared with, nobody asks.
    let read: Json | undefined;
    const data = () => {
      read ??= parseJson(item.text);
      return read;
    };
    into.outcomes[item.index] = { outcome: event, id: incoming.id, version };
    into.changes.push({
      receipt: into.receipts.length,
      type,
      id: incoming.id,
      version,
      event,
      item,
      // Of the first version everything is new, and its data says so already.
      diff: before?.data === undefined ? [] : difference(before.data, data()),
      was: before?.data,
      isStored: before === undefined && stored.has(incoming.id),
      idempotencyKey: idempotencyKey(target.integration, type, incoming.id, version, item.hash),
    });
    into.receipts.push({
      ...receipt,
      outcome: event,
      version,
      ...(incoming.retraceable !== true && { origins: jsonbText(JSON.stringify(incoming.origins())) }),
    });
    rows.set(incoming.id, {
      ...arrived,
      version,
      get data() {
        return data();
      },
    });
    moved.delete(incoming.id);
  }
  return moved;
}

/** What comes first of an id that has no row is the first state of a new record, whatever else comes of the batch. */
function firstStates(
  items: readonly Item[],
  known: ReadonlyMap<string, unknown> | undefined,
): ReadonlyMap<string, FirstState | undefined> {
  const states = new Map<string, FirstState | undefined>();
  for (const { incoming, arrival, seq, hash, text } of items) {
    if (states.has(incoming.id)) continue;
    const isKnown = known?.has(incoming.id) === true;
    states.set(incoming.id, isKnown ? undefined : { effectiveAt: arrival.effectiveAt, seq, hash, text });
  }
  return states;
}

async function nextSeq(tx: Tx, prepared: readonly Prepared[]): Promise<number> {
  if (prepared.every((one) => one.arrival.seq !== undefined)) return 0;
  const { rows } = await tx.query<{ seq: number }>(`select nextval('intake_seq') as seq`);
  return rows[0]?.seq ?? 0;
}

/** One call instead of a hash object: about a microsecond less per record. */
const sha256 = (text: string): string => hash('sha256', text, 'hex');

function tally(outcomes: readonly Outcome[]): Tally {
  const counts = { changed: 0, unchanged: 0, superseded: 0, dropped: 0, dead: 0 };
  for (const { outcome } of outcomes) {
    if (outcome === 'unchanged' || outcome === 'superseded' || outcome === 'dropped' || outcome === 'dead') {
      counts[outcome]++;
    } else {
      counts.changed++;
    }
  }
  return { ...counts, outcomes };
}
