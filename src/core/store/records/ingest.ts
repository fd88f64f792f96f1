import type { Brand } from '../../brand/brand.ts';
import { noteOf } from '../../canonical/notes.ts';
import { decodeRecord, type Guest } from '../../canonical/reservation.ts';
import type { Outgoing } from '../../deliver/handover.ts';
import { decide } from '../../pipeline.ts';
import { type Held, holdsOn, type Shown } from '../../reconcile/accidents/guard.ts';
import type { Decided } from '../../reconcile/accidents/signs.ts';
import {
  type Decision,
  recordKey,
  type Statement,
  type StatementOutcome,
  type Stored,
  type Summary,
  summaryOf,
} from '../../reconcile/forms.ts';
import { aboutProfile } from '../../reconcile/profile.ts';
import type { Quarantined } from '../../reconcile/quarantine.ts';
import { continuedBy } from '../../reconcile/separate-profile.ts';
import { numberOf, type Tx, together } from '../db/pool.ts';
import { lockErasures, withoutErased } from '../erasure/erased.ts';
import { enqueue } from '../outbox/enqueue.ts';
import { closeWaiting, insertDeadLetters } from './dead-letters.ts';
import { countDrift } from './drift.ts';
import { judgeSteps } from './guard.ts';
import { isNoted, writeHistory } from './history.ts';
import { insertSighting, markListed } from './listed.ts';
import { withStoredIds } from './partner-ids.ts';
import { keepSold } from './sold.ts';
import { type ChangeStep, isChange, lockRecords, writeRecords } from './write.ts';

/**
 * Takes a batch of statements in, inside the caller's transaction: all or nothing. Records are locked in the order of their ids, so that two
 * nodes rarely deadlock; if they do, or if both insert the same record, one transaction is run again. `shown`: rows that the page showed and
 * that are not among the statements.
 *
 *   lock ─▶ decide ─▶ write
 */
export async function ingest(
  tx: Tx,
  brand: Brand,
  arrived: readonly Statement[],
  shown: Shown = { unchanged: 0 },
  outgoing?: Outgoing,
): Promise<Summary> {
  const named = await withStoredIds(tx, brand, arrived);
  const [anyErased, seq, stored] = await together([
    lockErasures(tx, brand),
    nextSeq(tx, named),
    lockRecords(tx, brand, named),
  ]);
  const left = anyErased ? await withoutErased(tx, brand, named) : named;
  const statements = left.map((one) => numbered(one, seq));

  // With what is stored. Then, if the page shows that a hold is over, as if it had kept back nothing. Then without what the guard holds.
  const given = decideBatch(brand, stored, statements);
  const over = overIn(given);
  const known = over.size === 0 ? stored : withoutHolds(stored, given, over);
  const first = over.size === 0 ? given : decideBatch(brand, known, statements);
  const held = await judgeSteps(tx, brand, first.steps, { ...shown, over });
  const { steps } = held.size === 0 ? first : decideBatch(brand, known, statements, held);

  const changes = steps.filter(isChange);
  const seen = steps.filter(({ decision }) => 'isShown' in decision && decision.isShown);
  const requested = statements[0]?.receipt;
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
    writeRecords(tx, brand, steps, (key) => stored.has(key)),
    enqueue(tx, brand, changes, outgoing),
    insertDeadLetters(tx, brand, steps),
    countDrift(tx, brand.integration, changes),
    markListed(tx, brand, steps),
    keepSold(tx, brand.integration, steps),
  ]);
  const awaited = changes.filter(({ stored }) => stored?.version === 0 && stored.claims !== undefined);
  if (awaited.length > 0)
    await closeWaiting(
      tx,
      brand.integration,
      awaited.map(({ statement }) => statement.id),
    );
  const withdrawn = await mergedWithdrawals(tx, brand.integration, changes);
  if (withdrawn.length > 0) await ingest(tx, brand, withdrawn, undefined, outgoing);
  const erasesPayload = left.some((one, i) => one !== named[i] && one.receipt.cause !== 'run');
  return { ...summaryOf(steps.map(outcomeOf)), ...(erasesPayload && { erasesPayload }) };
}

const numbered = (statement: Statement, seq: number): Statement =>
  statement.receipt.seq === undefined ? { ...statement, receipt: { ...statement.receipt, seq } } : statement;

async function nextSeq(tx: Tx, statements: readonly Statement[]): Promise<number> {
  if (statements.every(({ receipt }) => receipt.seq !== undefined)) return 0;
  return numberOf(tx)(`select nextval('intake_seq')`);
}

export interface Batch {
  readonly steps: readonly Decided[];
  /** The records afterwards, by type and id. */
  readonly rows: ReadonlyMap<string, Stored>;
}

/** Decides statements in the order of arrival, so that two about one record build on each other. */
export function decideBatch(
  brand: Brand,
  stored: ReadonlyMap<string, Stored>,
  statements: readonly Statement[],
  held: ReadonlyMap<Statement, readonly Held[]> = new Map(),
): Batch {
  const rows = new Map(stored);
  const steps = statements.map((statement): Decided => {
    const key = recordKey(statement);
    const before = rows.get(key);
    const decision = decide(brand, before, statement, held.get(statement));
    const after = storedAfter(decision, before);
    if (after !== undefined) rows.set(key, after);
    return { statement, stored: before, decision };
  });
  return { steps, rows };
}

/** Of so many rows that an accident kept back, one may still show its value when it is over. */
const fewLeft = 8;

/**
 * The holds that a page shows to be over: nearly all values that they kept back came back in order, so the few rows that still show theirs
 * mean it.
 */
export function overIn({ steps, rows }: Batch): ReadonlySet<string> {
  const counts = new Map<string, { of: number; still: number }>();
  for (const step of steps) {
    if (step.statement.receipt.cause !== 'run' || step.stored?.version === 0) continue;
    const after = rows.get(recordKey(step.statement))?.claims?.quarantine ?? [];
    for (const hold of new Set(holdsOn(step))) {
      const { of, still } = counts.get(hold) ?? { of: 0, still: 0 };
      counts.set(hold, {
        of: of + 1,
        still: still + Number(after.some((one) => one.hold === hold && one.state === 'held')),
      });
    }
  }
  return new Set(
    [...counts].flatMap(([hold, { of, still }]) => (of >= fewLeft && still * fewLeft <= of ? [hold] : [])),
  );
}

/** The records as if these holds had never kept back what the page still shows. */
export function withoutHolds(
  stored: ReadonlyMap<string, Stored>,
  { rows }: Batch,
  over: ReadonlySet<string>,
): ReadonlyMap<string, Stored> {
  const isKept = (one: Quarantined) => one.state !== 'held' || !over.has(one.hold);
  return new Map(
    [...stored].map(([key, { claims, ...row }]) => {
      const isShown = row.version > 0 && rows.get(key)?.claims?.quarantine?.some((one) => !isKept(one));
      const quarantine = claims?.quarantine?.filter(isKept);
      return [key, { ...row, claims: claims && isShown ? { ...claims, quarantine } : claims }];
    }),
  );
}

/** The record as the next statement finds it; undefined if this one leaves it as it was. */
export function storedAfter(decision: Decision, before: Stored | undefined): Stored | undefined {
  if (decision.kind === 'change') {
    const { version, event, text, state } = decision;
    return { version, event, text, ...state, sightedAt: before?.sightedAt };
  }
  const state = 'state' in decision ? decision.state : undefined;
  if (state === undefined) return undefined;
  return before ? { ...before, ...state } : { version: 0, event: 'created', text: '{}', ...state };
}

export function outcomeOf({ statement: { id }, decision }: Decided): StatementOutcome {
  const named = id === '' ? undefined : { id };
  if (decision.kind === 'dropped') return { outcome: 'dropped', ...named, reason: decision.reason };
  if (decision.kind === 'dead') return { outcome: 'dead', ...named, reason: decision.deadLetter.message };
  const { version, isOverruled, isHeld, reason } = decision;
  return {
    outcome: decision.kind === 'change' ? decision.event : decision.kind,
    ...named,
    version,
    ...(reason !== undefined && { reason }),
    ...(isOverruled && { isOverruled }),
    ...(isHeld && { isHeld }),
  };
}

/**
 * A guest who withdraws consent withdraws it under every address. Destinations still know the profiles that were merged into this one by
 * their own addresses, so these withdraw it too: as separate records, each in its own order.
 */
async function mergedWithdrawals(
  tx: Tx,
  integration: string,
  changes: readonly ChangeStep[],
): Promise<readonly Statement[]> {
  const withdrawn = new Map(changes.filter(isWithdrawal).map((change) => [survivorOf(change), change]));
  if (withdrawn.size === 0) return [];
  const { rows } = await tx.query<{ id: string; survivor: string; data: string }>(
    `select p.merged_from as id, p.profile_id as survivor, r.data::text as data
       from (select distinct merged_from, profile_id from profile_pins
              where integration = $1 and profile_id = any($2) and merged_from is not null) p
       join records r on r.integration = $1 and r.type = 'guest' and r.id = p.merged_from
      order by p.merged_from`,
    [integration, [...withdrawn.keys()]],
  );
  return rows.flatMap(({ id, survivor, data }) => {
    const change = withdrawn.get(survivor);
    const guest = decodeRecord('guest', data);
    return change === undefined || guest.marketing_consent === false ? [] : [withdrawalOf(id, guest, change)];
  });
}

const isWithdrawal = ({ statement: { type }, stored, decision }: ChangeStep): boolean =>
  type === 'guest' &&
  (decision.record as Guest).marketing_consent === false &&
  (stored === undefined || decodeRecord('guest', stored.text).marketing_consent !== false);

const survivorOf = ({ statement: { id }, decision }: ChangeStep): string => continuedBy(decision.record as Guest) ?? id;

function withdrawalOf(id: string, guest: Guest, change: ChangeStep): Statement {
  const { effectiveAt } = change.statement.receipt;
  const survivor = survivorOf(change);
  const reason = `This profile was merged into ${survivor}, whose guest withdrew consent.`;
  return aboutProfile(
    id,
    { mode: 'pull', effectiveAt, cause: 'guest', causeId: `withdrawal of ${survivor}` },
    {
      record: { ...guest, marketing_consent: false },
      notes: [noteOf('consent_withdrawn', 'marketing_consent', { reason })],
      consent: change.decision.state.claims?.consent ?? { value: false, source: 'pull', at: effectiveAt },
    },
  );
}
