import type { ApplyTarget } from '../../reconcile/apply-target.ts';
import type { Content } from '../../reconcile/content.ts';
import { type Arriving, letterOf } from '../../reconcile/decision.ts';
import type { MessageOutcome, Prepared, Tally } from '../../reconcile/incoming.ts';
import type { RecordState } from '../../reconcile/record-state.ts';
import type { EntityType } from '../../terms.ts';
import { type Tx, together } from '../db/pool.ts';
import { lockErasures, withoutErased } from '../erasure/erased.ts';
import { insertDeadLetters } from '../operate/dead-letter-insert.ts';
import { enqueue } from '../outbox/enqueue.ts';
import { writeChanges } from './changes.ts';
import { contentOf, statementHash } from './content.ts';
import { countDrift } from './drift.ts';
import { Guard, judgeSteps, type Shown, type Step } from './guard.ts';
import { isNews, type KnownRecords, knownRecords, type PreparedRecord, withoutUnchanged } from './known-records.ts';
import { markListed } from './listed.ts';
import { mergedWithdrawals } from './merged-withdrawals.ts';
import { withStoredIds } from './partner-ids.ts';
import { moveViews } from './record-state.ts';
import { insertSighting } from './sightings.ts';
import { type Taken, takeIn } from './take-in.ts';

/** Called after the commit of changes, so that this node delivers them at once. */
export type OnChanged = (target: ApplyTarget) => void;

/**
 * Applies a batch of prepared messages inside the caller's transaction: all or nothing. Records that a poll shows
 * unchanged cost one read and no write to their row. The others are locked in the order of their ids, so that two nodes rarely
 * deadlock; if they do, one transaction is run again. `shown`: rows that the page showed and that are not among the messages.
 */
export async function applyPrepared(
  tx: Tx,
  target: ApplyTarget,
  arrived: readonly Prepared[],
  shown: Shown = { unchanged: 0 },
): Promise<Tally> {
  const messages = await withStoredIds(tx, target, arrived);
  const [anyErased, seq, known] = await together([
    lockErasures(tx, target),
    nextSeq(tx, messages),
    knownRecords(tx, target, messages),
  ]);
  const contents = new Contents();
  const news = () => messages.filter(isNews(messages, (one) => contents.of(one).hash, known));
  const prepared = anyErased ? await withoutErased(tx, target, messages, news()) : messages;
  const taken: Taken = { outcomes: new Array(prepared.length), entries: [], changes: [], dead: [] };
  const arrivals = arrivalsOf(prepared, contents, seq, known, taken);
  const seenUnchanged: string[] = [];
  const guard = Guard.of(target, messages);
  const unchanged = () => shown.unchanged + seenUnchanged.length;
  const judged = (steps: readonly Step[]) =>
    judgeSteps(tx, guard as Guard, target, steps, { ...shown, unchanged: unchanged() });
  const moved = new Map<EntityType, ReadonlyMap<string, RecordState>>();
  for (const type of ['reservation', 'guest'] as const) {
    const ofType = arrivals.filter((arriving) => arriving.type === type);
    if (ofType.length === 0) continue;
    const stored = known.get(type);
    const open = stored ? withoutUnchanged(ofType, stored, taken.outcomes, seenUnchanged) : ofType;
    if (open.length === 0) continue;
    const states = await takeIn(tx, target, { type, arrivals: open, known: stored, guard: guard && judged }, taken);
    if (states.size > 0) moved.set(type, states);
  }

  const requested = arrivals[0]?.arrival;
  const { entries, changes, dead } = taken;
  await together([
    ...(seenUnchanged.length > 0 && requested
      ? [insertSighting(tx, target.integration, requested.effectiveAt, requested.causeId, seenUnchanged)]
      : []),
    ...writeChanges(tx, target, entries, changes),
    // After the changes: a later message of this batch may have confirmed a state from an earlier one.
    ...[...moved].map(([type, states]) => moveViews(tx, target.integration, type, states)),
    enqueue(tx, target, changes),
    insertDeadLetters(tx, target, dead),
    countDrift(tx, target.integration, changes),
    markListed(tx, target, unchangedRows(prepared, taken.outcomes)),
  ]);
  await guard?.settle(tx, target, taken.outcomes);
  const withdrawn = await mergedWithdrawals(tx, target.integration, changes);
  if (withdrawn.length > 0) await applyPrepared(tx, target, withdrawn);
  return tally(taken.outcomes);
}

/** Rows that differ from those that their records agreed with, and change nothing. */
function unchangedRows(prepared: readonly Prepared[], outcomes: readonly MessageOutcome[]) {
  return prepared.flatMap((one, i) => {
    const { outcome, id, isOverruled } = outcomes[i] ?? {};
    const isSame = outcome === 'unchanged' && !isOverruled && one.kind === 'record';
    return isSame && id !== undefined && one.listed !== undefined ? [{ id, listed: one.listed }] : [];
  });
}

/** The text and hash of each message, made once. */
class Contents {
  readonly #made = new Map<PreparedRecord, { readonly alone: Content; readonly hash: string }>();

  of(one: PreparedRecord): { readonly alone: Content; readonly hash: string } {
    const known = this.#made.get(one);
    if (known !== undefined) return known;
    const alone = contentOf(one.incoming.record);
    const made = { alone, hash: statementHash(alone, one.message), contentOf };
    this.#made.set(one, made);
    return made;
  }
}

/** The messages that concern a record. The others end here: dropped or dead, without a stored record to merge them into. */
function arrivalsOf(
  prepared: readonly Prepared[],
  contents: Contents,
  batchSeq: number,
  known: ReadonlyMap<EntityType, KnownRecords>,
  { outcomes, entries, dead }: Taken,
): Arriving[] {
  const arrivals: Arriving[] = [];
  const made = new Set<string>();
  for (const [index, one] of prepared.entries()) {
    const { arrival, message } = one;
    const seq = arrival.seq ?? batchSeq;
    if (one.kind === 'record') {
      const { type, id } = one.incoming;
      arrivals.push({ index, type, id, arrival, seq, prepared: one, ...contents.of(one), contentOf });
      if (type === 'reservation') made.add(id);
      continue;
    }
    const knows = (id: string) => made.has(id) || known.get('reservation')?.has(id) === true;
    const isMergeable = arrival.cause !== 'run' || knows(message?.id ?? '');
    if (message !== undefined && isMergeable) {
      const { id } = message;
      arrivals.push({
        index,
        type: 'reservation',
        id,
        arrival,
        seq,
        prepared: one,
        alone: undefined,
        hash: '',
        contentOf,
      });
      continue;
    }
    const item = { arrival, seq };
    if (one.kind === 'dropped') {
      const { type = 'reservation', id, reason, raw } = one;
      outcomes[index] = { outcome: 'dropped', id };
      entries.push({ item, type, id, outcome: 'dropped', reason, raw, notes: '[]' });
      continue;
    }
    const deadLetter = letterOf(one);
    const { id, type, code, raw } = deadLetter;
    outcomes[index] = { outcome: 'dead', ...(id !== undefined && { id }) };
    dead.push({ letter: deadLetter, arrival });
    if (id !== undefined) entries.push({ item, type, id, outcome: 'dead', reason: code, raw, notes: '[]' });
  }
  return arrivals;
}

async function nextSeq(tx: Tx, prepared: readonly Prepared[]): Promise<number> {
  if (prepared.every((one) => one.arrival.seq !== undefined)) return 0;
  const { rows } = await tx.query<{ seq: number }>(`select nextval('intake_seq') as seq`);
  return rows[0]?.seq ?? 0;
}

function tally(outcomes: readonly MessageOutcome[]): Tally {
  const counts = { changed: 0, unchanged: 0, superseded: 0, dropped: 0, dead: 0, held: 0 };
  for (const { outcome, isHeld } of outcomes) {
    if (isHeld) counts.held++;
    if (outcome === 'held') continue;
    if (outcome === 'unchanged' || outcome === 'superseded' || outcome === 'dropped' || outcome === 'dead') {
      counts[outcome]++;
    } else {
      counts.changed++;
    }
  }
  return { ...counts, outcomes };
}
