import type { Operation } from './compile-operation.ts';
import type { Person } from './people.ts';
import type { Scope } from './template.ts';

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

interface Placed {
  /** The delivery of the batch that it belongs to. */
  readonly index: number;
  readonly operation: Operation;
  readonly stage: Stage;
  readonly scope: Scope;
  readonly changedAt: number;
}

/**
 * The requests of a batch, operation by operation, in their order. A delivery that moves a person away from an address waits for a second round
 * if an older one still names that address: sent afterwards, the older one would create the old contact again.
 */
export function inTurn<Item extends Placed>(items: readonly Item[]): (readonly [Operation, readonly Item[]])[] {
  const rounds: Item[][] = [[]];
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
  const isFinal = ({ stage }: Item) => stage === 'withdrawn' || stage === 'erased';
  const last = rounds.pop() ?? [];
  const final = rounds.flatMap((round) => round.filter(isFinal));
  return [...rounds.map((round) => round.filter((item) => !isFinal(item))), [...last, ...final]].flatMap((round) => {
    const sorted = round.toSorted((a, b) => stages.indexOf(a.stage) - stages.indexOf(b.stage));
    return [...Map.groupBy(sorted, ({ operation }) => operation)];
  });
}

/** The requests of each delivery, the oldest change first. */
const inOrder = <Item extends Placed>(items: readonly Item[]): Item[][] =>
  [...Map.groupBy(items, ({ index }) => index).values()].sort(([a], [b]) => (a?.changedAt ?? 0) - (b?.changedAt ?? 0));
