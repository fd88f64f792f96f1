import type { Brand } from '../../brand/brand.ts';
import { decide } from '../../pipeline.ts';
import { type Held, holdsOn } from '../../reconcile/accidents/guard.ts';
import type { Step } from '../../reconcile/accidents/signs.ts';
import type { Aside } from '../../reconcile/aside.ts';
import type { Decision, Outcome, Statement, Stored } from '../../reconcile/forms.ts';
import type { EntityType } from '../../terms.ts';

export const recordKey = ({ type, id }: { readonly type: EntityType; readonly id: string }): string => `${type} ${id}`;

export interface Batch {
  readonly steps: readonly Step[];
  /** The records afterwards, by type and id. */
  readonly rows: ReadonlyMap<string, Stored>;
}

/** Decides statements in the order of arrival, so that two about one record build on each other. */
export function decideBatch(
  brand: Brand,
  stored: ReadonlyMap<string, Stored>,
  statements: readonly Statement[],
  held: ReadonlyMap<Statement, readonly Held[]> = new Map(),
  /** What each would make if nothing were stored. */
  alone: ReadonlyMap<Statement, Decision> = new Map(),
): Batch {
  const rows = new Map(stored);
  const steps = statements.map((statement): Step => {
    const key = recordKey(statement);
    const before = rows.get(key);
    const own = held.get(statement);
    const known = before === undefined && own === undefined ? alone.get(statement) : undefined;
    const decision = known ?? decide(brand, before, statement, own);
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
    if (step.statement.arrival.cause !== 'run' || step.stored?.version === 0) continue;
    const after = rows.get(recordKey(step.statement))?.views?.aside ?? [];
    for (const hold of new Set(holdsOn(step))) {
      const { of, still } = counts.get(hold) ?? { of: 0, still: 0 };
      counts.set(hold, { of: of + 1, still: still + Number(after.some((one) => one.hold === hold)) });
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
  const isKept = (one: Aside) => one.isRefused || !over.has(one.hold);
  return new Map(
    [...stored].map(([key, { views, ...row }]) => {
      const isShown = row.version > 0 && rows.get(key)?.views?.aside?.some((one) => !isKept(one));
      return [key, { ...row, views: views && isShown ? { ...views, aside: views.aside?.filter(isKept) } : views }];
    }),
  );
}

/** The record as the next statement finds it; undefined if this one leaves it as it was. */
function storedAfter(decision: Decision, before: Stored | undefined): Stored | undefined {
  if (decision.kind === 'change') {
    const { version, event, text, state } = decision;
    return { version, event, text, ...state, sightedAt: before?.sightedAt };
  }
  const state = 'state' in decision ? decision.state : undefined;
  if (state === undefined) return undefined;
  return before ? { ...before, ...state } : { version: 0, event: 'created', text: '{}', ...state };
}

export function outcomeOf({ statement: { id }, decision }: Step): Outcome {
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
