import { jsonbText, parseJson } from '../../kit/json.ts';
import type { ApplyTarget } from '../../reconcile/apply-target.ts';
import type { Content } from '../../reconcile/content.ts';
import { decideFirst } from '../../reconcile/decide.ts';
import { decideHeld, heldLetter } from '../../reconcile/decide-held.ts';
import type { Arriving, Decision, LockedRecord } from '../../reconcile/decision.ts';
import type { Arrival, Incoming, MessageOutcome, Prepared, RecordDeadLetter } from '../../reconcile/incoming.ts';
import type { RecordState } from '../../reconcile/record-state.ts';
import type { EntityType, Json } from '../../terms.ts';
import type { Tx } from '../db/pool.ts';
import { arrivalOf, type Change, type Entry, type Item, idempotencyKey, isInEvent } from './changes.ts';
import type { Step } from './guard.ts';
import { dropUnused, type FirstState, type LockedRecords, lockRecords, type Wanted } from './locked-records.ts';
import { keysText } from './search-keys.ts';

/** The results of a batch, to be written together. */
export interface Taken {
  readonly outcomes: MessageOutcome[];
  readonly entries: Entry[];
  readonly changes: Change[];
  /** Reservations that a list shows unchanged. */
  readonly shown: string[];
  readonly dead: { readonly letter: RecordDeadLetter; readonly arrival: Arrival }[];
}

interface OfOneType {
  readonly type: EntityType;
  readonly arrivals: readonly Arriving[];
  /** The messages to hold back, by index. */
  readonly guard: ((steps: readonly Step[]) => Promise<ReadonlyMap<number, Arriving>>) | undefined;
}

/**
 * Locks the records of one type in the order of their ids and decides each message in the order of arrival, so that two messages of
 * one batch about one record build on each other. Returns new statements for records whose content did not change.
 */
export async function takeIn(
  tx: Tx,
  target: ApplyTarget,
  { type, arrivals, guard }: OfOneType,
  into: Taken,
): Promise<ReadonlyMap<string, RecordState>> {
  const locked = await lockRecords(tx, target.integration, type, wantedBy(arrivals));
  const first = decideAll(arrivals, locked);
  const held = (await guard?.(first.steps)) ?? new Map<number, Arriving>();
  const withHeld = () => arrivals.map((one) => held.get(one.index) ?? one);
  const { steps, rows } = held.size === 0 ? first : decideAll(withHeld(), locked);
  const { stored } = locked;
  const moved = new Map<string, RecordState>();
  for (const { arriving, before, decision } of steps) {
    const { id } = arriving;
    // A refused row is not kept again.
    if (arriving.held?.holds.some(({ state }) => state === 'open')) into.dead.push(heldLetter(arriving, arriving.held));
    if (decision.kind === 'change') {
      moved.delete(id);
      addChange(arriving, decision, { target, before, isInserted: stored.has(id) }, into);
    } else if (decision.kind === 'dropped' || decision.kind === 'dead') {
      addDroppedOrDead(arriving, decision, into);
      if (decision.kind === 'dropped' && decision.state !== undefined && before !== undefined)
        moved.set(id, decision.state);
    } else {
      const { kind, version, reason, state, isOverruled, isShown } = decision;
      const why = reason === undefined ? undefined : { reason };
      into.outcomes[arriving.index] = { outcome: kind, id, version, ...why, ...(isOverruled && { isOverruled }) };
      if (isShown) {
        into.shown.push(id);
        continue;
      }
      if (state !== undefined && before !== undefined) moved.set(id, state);
      const entry = entryOf(arriving);
      // An event without news is settled in its own row.
      if (isInEvent(entry) && arriving.arrival.cause === 'event' && entry.notes === '[]' && arriving.held === undefined)
        continue;
      into.entries.push({ ...entry, outcome: kind, version, ...why });
    }
  }
  for (const { index } of held.values())
    into.outcomes[index] = { ...(into.outcomes[index] as MessageOutcome), isHeld: true, isOverruled: true };
  const unused = [...rows].filter(([, row]) => row.version === 0).map(([id]) => id);
  if (unused.length > 0) await dropUnused(tx, target.integration, type, unused);
  return moved;
}

/** Decides each message in the order of arrival; `rows` are the records afterwards. */
function decideAll(arrivals: readonly Arriving[], { rows: found, sighted }: LockedRecords) {
  const rows = new Map(found);
  const steps = arrivals.map((arriving): Step => {
    const { id } = arriving;
    const before = rows.get(id);
    const decision = decideHeld(arriving, before, sighted.get(id));
    if (decision.kind === 'change') rows.set(id, afterChange(decision));
    else if ('state' in decision && decision.state !== undefined && before !== undefined)
      rows.set(id, withState(before, decision.state));
    return { arriving, before, decision };
  });
  return { steps, rows };
}

function wantedBy(arrivals: readonly Arriving[]): ReadonlyMap<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  for (const arriving of arrivals) {
    const { id, arrival } = arriving;
    const before = wanted.get(id);
    const eventAt = arrival.cause === 'run' ? Infinity : arrival.effectiveAt;
    const oldest = Math.min(before?.eventAt ?? Infinity, eventAt);
    const first = before === undefined ? firstState(arriving) : before.first;
    wanted.set(id, { first, ...(oldest < Infinity && { eventAt: oldest }) });
  }
  return wanted;
}

/** Undefined if the message alone is not a complete record. */
function firstState(arriving: Arriving): FirstState | undefined {
  const decision = decideFirst(arriving);
  if (decision.kind !== 'change') return undefined;
  const { hash, text, record } = decision.content;
  const keys = keysText(arriving.type, record);
  const { trace } = arriving.arrival;
  const [arrival, listed] = [arrivalOf(record), listedBy(arriving, decision)];
  return { ...decision.state, event: decision.event, trace, hash, text, keys, arrival, listed };
}

type Changed = Extract<Decision, { kind: 'change' }>;

interface RowBefore {
  readonly target: ApplyTarget;
  readonly before: LockedRecord | undefined;
  /** The row was inserted with the first state of this batch. */
  readonly isInserted: boolean;
}

/** The row that the record agrees with from now on; undefined if part of the row does not count. */
function listedBy({ prepared, held }: Arriving, { isOverruled }: Changed): number | undefined {
  return prepared.kind === 'record' && held === undefined && !isOverruled ? prepared.listed : undefined;
}

function addChange(
  arriving: Arriving,
  decision: Changed,
  { target, before, isInserted }: RowBefore,
  into: Taken,
): void {
  const { event, version, content, state, diff, notes, isOverruled } = decision;
  const { index, type, id } = arriving;
  const item = itemOf(arriving, content);
  into.outcomes[index] = { outcome: event, id, version, ...(isOverruled && { isOverruled }) };
  into.changes.push({
    entry: into.entries.length,
    type,
    id,
    version,
    event,
    item,
    state,
    diff,
    was: before?.data,
    isStored: before === undefined && isInserted,
    idempotencyKey: idempotencyKey(target.integration, type, id, version, content.hash),
    listed: listedBy(arriving, decision),
  });
  const { retraceable, origins } = item.incoming;
  into.entries.push({
    ...entryOf(arriving),
    notes: jsonbText(JSON.stringify(notes)),
    outcome: event,
    version,
    ...(retraceable !== true && { origins: jsonbText(JSON.stringify(origins())) }),
  });
}

function addDroppedOrDead(
  arriving: Arriving,
  decision: Extract<Decision, { kind: 'dropped' | 'dead' }>,
  into: Taken,
): void {
  const { id, arrival, index } = arriving;
  into.outcomes[index] = { outcome: decision.kind, id };
  if (decision.kind === 'dropped') {
    into.entries.push({ ...entryOf(arriving), notes: '[]', outcome: 'dropped', reason: decision.reason });
    return;
  }
  const { deadLetter } = decision;
  into.dead.push({ letter: deadLetter, arrival });
  const raw = deadLetter.raw;
  into.entries.push({ ...entryOf(arriving), notes: '[]', outcome: 'dead', reason: deadLetter.code, raw });
}

function entryOf({ arrival, seq, type, id, prepared }: Arriving): Omit<Entry, 'outcome'> {
  const { raw, notes } = sourceOf(prepared);
  return { item: { arrival, seq }, type, id, raw, notes: jsonbText(JSON.stringify(notes)) };
}

function sourceOf(prepared: Prepared): Pick<Incoming, 'raw' | 'notes'> {
  if (prepared.message !== undefined && prepared.kind !== 'record') return prepared.message;
  if (prepared.kind === 'record') return prepared.incoming;
  return { raw: prepared.kind === 'dropped' ? prepared.raw : prepared.deadLetter.raw, notes: [] };
}

function itemOf({ index, type, id, arrival, seq, prepared }: Arriving, content: Content): Item {
  const { record, text, isVerbatim, hash } = content;
  const said = prepared.kind === 'record' ? prepared.incoming : prepared.message;
  if (said === undefined) throw new TypeError('a change without a message');
  const { raw, notes, origins, retraceable, drift } = said;
  const incoming: Incoming = {
    type,
    id,
    record,
    raw,
    notes,
    origins,
    ...(retraceable !== undefined && { retraceable }),
    ...(drift !== undefined && { drift }),
  };
  return { index, incoming, arrival, seq, text, isVerbatim, hash };
}

/** The row as the next message of the batch sees it. */
function afterChange({ version, content, state }: Changed): LockedRecord {
  const { record, text, hash } = content;
  let read: Json | undefined;
  return {
    ...state,
    version,
    hash,
    status: 'status' in record ? record.status : undefined,
    get data() {
      read ??= parseJson(text);
      return read;
    },
    reservation: () => {
      if (!('guests' in record)) throw new TypeError('a guest is not a reservation');
      return record;
    },
  };
}

/** Copied by name: the row parses its content only when asked. */
function withState(before: LockedRecord, state: RecordState): LockedRecord {
  const { version, hash } = before;
  return {
    ...state,
    version,
    hash,
    get status() {
      return before.status;
    },
    get data() {
      return before.data;
    },
    reservation: () => before.reservation(),
  };
}
