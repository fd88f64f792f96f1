import type { Operation } from './compile-operation.ts';
import type { Person } from './people.ts';
import type { Scope } from './template.ts';

/**
 * Where a batch may hold a key once only, the newest item is sent for all with that key, and they share its outcome. The owner of a shared
 * address goes before the others, whose items say nothing but the address.
 */
export function newestOfEach(
  { unique }: Operation,
  items: readonly PlannedItem[],
): { sent: PlannedItem[]; instead: Map<PlannedItem, PlannedItem[]> } {
  if (unique === undefined) return { sent: [...items], instead: new Map() };
  const sent: PlannedItem[] = [];
  const instead = new Map<PlannedItem, PlannedItem[]>();
  for (const group of Map.groupBy(items, ({ scope, key }) => unique(scope)?.toLowerCase() ?? key).values()) {
    const newest = group.reduce((a, b) =>
      (isOfOwner(b) === isOfOwner(a) ? b.changedAt >= a.changedAt : isOfOwner(b)) ? b : a,
    );
    sent.push(newest);
    instead.set(
      newest,
      group.filter((item) => item !== newest),
    );
  }
  return { sent, instead };
}

const isOfOwner = ({ scope }: PlannedItem): boolean => (scope.guest as Person | undefined)?.is_shared !== true;

/**
 * The order of requests in a call. Withdrawals and erasures are sent after everything that could create the guest again, also for
 * another booking of the same batch. A moment is last: it is sent once everything else of its version was accepted, so that only a
 * lost answer to the moment itself can repeat it.
 */
const stages = [
  'new_guest',
  'moved',
  'usual',
  'details',
  'consented',
  'stay',
  'removed',
  'withdrawn',
  'erased',
  'moment',
] as const;

export type Stage = (typeof stages)[number];

export interface PlannedItem {
  /** The delivery of the batch that it belongs to. */
  readonly index: number;
  /** The subject within the delivery: a guest, or the record. */
  readonly subject: number;
  readonly operation: Operation;
  readonly stage: Stage;
  readonly scope: Scope;
  /** Values of earlier answers, shared by the requests of one subject; `found` in templates. */
  readonly found: Record<string, string>;
  /** The idempotency key; each guest of a message has its own. */
  readonly key: string;
  readonly changedAt: number;
}

/**
 * The requests of a batch, operation by operation, in their order. A delivery that moves a person away from an address waits for a second round
 * if an older one still names that address: sent afterwards, the older one would create the old contact again.
 */
export function inTurn(items: readonly PlannedItem[]): (readonly [Operation, readonly PlannedItem[]])[] {
  const rounds: PlannedItem[][] = [[]];
  let named = new Set<string | undefined>();
  for (const own of inOrder(items)) {
    const people = own.flatMap(({ scope }) => (scope.guest as Person | undefined) ?? []);
    if (people.some(({ previous }) => previous?.key !== undefined && named.has(previous.key))) {
      rounds.push([]);
      named = new Set();
    }
    for (const { key } of people) named.add(key);
    rounds.at(-1)?.push(...own);
  }
  const isFinal = ({ stage }: PlannedItem) => stage === 'withdrawn' || stage === 'erased';
  const last = rounds.pop() ?? [];
  const final = rounds.flatMap((round) => round.filter(isFinal));
  return [...rounds.map((round) => round.filter((item) => !isFinal(item))), [...last, ...final]].flatMap((round) => {
    const sorted = round.toSorted((a, b) => stages.indexOf(a.stage) - stages.indexOf(b.stage));
    return [...Map.groupBy(sorted, ({ operation }) => operation)];
  });
}

/** The requests of each delivery, the oldest change first. */
const inOrder = (items: readonly PlannedItem[]): PlannedItem[][] =>
  [...Map.groupBy(items, ({ index }) => index).values()].sort(([a], [b]) => (a?.changedAt ?? 0) - (b?.changedAt ?? 0));
