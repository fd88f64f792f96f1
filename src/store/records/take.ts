import type { Brand } from '../../brand/brand.ts';
import { decide } from '../../pipeline.ts';
import type { Shown } from '../../reconcile/accidents/guard.ts';
import { type Decision, type Statement, type Tally, tally } from '../../reconcile/forms.ts';
import { type Tx, together } from '../db/pool.ts';
import { lockErasures, withoutErased } from '../erasure/erased.ts';
import { keepSold } from '../measures/stays.ts';
import { insertDeadLetters } from '../operate/dead-letter-insert.ts';
import { enqueue } from '../outbox/enqueue.ts';
import { mergedWithdrawals } from '../persons/merged-withdrawals.ts';
import { decideBatch, outcomeOf, overIn, recordKey, withoutHolds } from './decide-batch.ts';
import { countDrift } from './drift.ts';
import { judgeSteps } from './guard.ts';
import { insertSighting, markListed } from './listed.ts';
import { lockRecords, type Wanted } from './lock.ts';
import { withStoredIds } from './partner-ids.ts';
import { dropUnused, isChange, isNoted, writeHistory, writeRecords } from './write.ts';

/** Called after the commit of changes, so that this node delivers them at once. */
export type OnChanged = (brand: Brand) => void;

/**
 * Takes a batch of statements in, inside the caller's transaction: all or nothing. Records are locked in the order of their ids, so that two
 * nodes rarely deadlock; if they do, one transaction is run again. `shown`: rows that the page showed and that are not among the statements.
 *
 *   lock ─▶ decide ─▶ write
 */
export async function take(
  tx: Tx,
  brand: Brand,
  arrived: readonly Statement[],
  shown: Shown = { unchanged: 0 },
): Promise<Tally> {
  const named = await withStoredIds(tx, brand, arrived);
  const [anyErased, seq] = await together([lockErasures(tx, brand), nextSeq(tx, named)]);
  const left = anyErased ? await withoutErased(tx, brand, named) : named;
  const statements = left.map((one) => numbered(one, seq));

  // What each makes if nothing is stored: a new record is inserted complete.
  const alone = new Map(statements.map((one) => [one, decide(brand, undefined, one)]));
  const { stored, inserted } = await lockRecords(tx, brand, wantedBy(statements, alone));

  // With what is stored. Then, if the page shows that a hold is over, as if it had kept back nothing. Then without what the guard holds.
  const given = decideBatch(brand, stored, statements, undefined, alone);
  const over = overIn(given);
  const known = over.size === 0 ? stored : withoutHolds(stored, given, over);
  const first = over.size === 0 ? given : decideBatch(brand, known, statements, undefined, alone);
  const held = await judgeSteps(tx, brand, first.steps, { ...shown, over });
  const { steps, rows } = held.size === 0 ? first : decideBatch(brand, known, statements, held, alone);

  const changes = steps.filter(isChange);
  const seen = steps.filter(({ decision }) => 'isShown' in decision && decision.isShown);
  const requested = statements[0]?.arrival;
  await together([
    ...(seen.length > 0 && requested
      ? [
          insertSighting(
            tx,
            brand.integration,
            requested.effectiveAt,
            requested.causeId,
            seen.map((one) => one.statement.id),
          ),
        ]
      : []),
    writeHistory(tx, brand, steps.filter(isNoted)),
    writeRecords(tx, brand, steps, inserted),
    enqueue(tx, brand, changes),
    insertDeadLetters(tx, brand, steps),
    countDrift(tx, brand.integration, changes),
    markListed(tx, brand, steps),
    keepSold(tx, brand.integration, steps),
  ]);
  const unused = [...rows].filter(([, { version, views }]) => version === 0 && views === undefined);
  if (unused.length > 0)
    await dropUnused(
      tx,
      brand,
      unused.map(([key]) => key),
    );
  const withdrawn = await mergedWithdrawals(tx, brand.integration, changes);
  if (withdrawn.length > 0) await take(tx, brand, withdrawn);
  return tally(steps.map(outcomeOf));
}

const numbered = (statement: Statement, seq: number): Statement =>
  statement.arrival.seq === undefined ? { ...statement, arrival: { ...statement.arrival, seq } } : statement;

async function nextSeq(tx: Tx, statements: readonly Statement[]): Promise<number> {
  if (statements.every(({ arrival }) => arrival.seq !== undefined)) return 0;
  const { rows } = await tx.query<{ seq: number }>(`select nextval('intake_seq') as seq`);
  return rows[0]?.seq ?? 0;
}

/**
 * The records to lock. A statement that makes a record by itself brings its first version; an event that does not gets an empty row, so
 * that two nodes do not decide about it at once. A run's statement that makes no record changes only one that is stored.
 */
function wantedBy(
  statements: readonly Statement[],
  alone: ReadonlyMap<Statement, Decision>,
): ReadonlyMap<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  for (const statement of statements) {
    const { type, id, arrival, says } = statement;
    const decision = alone.get(statement);
    const change = decision?.kind === 'change' ? decision : undefined;
    if (id === '' || (change === undefined && says === undefined)) continue;
    const key = recordKey(statement);
    const before = wanted.get(key);
    const eventAt = arrival.cause === 'run' ? Infinity : arrival.effectiveAt;
    wanted.set(key, {
      type,
      id,
      first: before === undefined ? change && { statement, change } : before.first,
      isInserted: before?.isInserted === true || change !== undefined || arrival.cause !== 'run',
      eventAt: Math.min(before?.eventAt ?? Infinity, eventAt),
    });
  }
  return wanted;
}
