import { type AccidentKind, accidentKinds } from './accidents.ts';
import type { Dice } from './random.ts';

/** What a seed determines: how much happens, and what goes wrong when. */
export interface Script {
  readonly nodes: number;
  readonly reservations: number;
  readonly changes: number;
  readonly polls: number;
  readonly loadMs: number;
  /** Chance that a call to the store is lost, or slow. */
  readonly lost: number;
  readonly slow: number;
  readonly slowMs: number;
  readonly listFaults: number;
  readonly sinkFaults: number;
  /** Chance that a change is only listed, never pushed. */
  readonly unpushed: number;
  readonly hasPoison: boolean;
  /** The list has a total. */
  readonly hasTotal: boolean;
  /** A last complete poll at the end, after which the store must show the partner's book. */
  readonly endsWithPoll: boolean;
  /** By how much the clock of each node is wrong from the beginning. */
  readonly clockErrorMs: number;
  readonly faults: readonly Fault[];
  /** The partner's lists of one brand are wrong for a while. */
  readonly accident: { readonly kinds: readonly AccidentKind[]; readonly bookings: number } | undefined;
}

export type Fault =
  | { readonly kind: 'kill'; readonly atMs: number; readonly forMs: number }
  | { readonly kind: 'freeze'; readonly atMs: number; readonly forMs: number }
  | { readonly kind: 'clock'; readonly atMs: number; readonly byMs: number }
  | { readonly kind: 'store_away'; readonly atMs: number; readonly forMs: number }
  | { readonly kind: 'sink_away'; readonly atMs: number; readonly forMs: number };

/** Some seeds have few faults of one kind and many of another, so that faults occur alone and together. */
export function scriptOf(dice: Dice): Script {
  const loadMs = dice.between(2_000, 7_000);
  const often = () => dice.pick([0, 0, 0.01, 0.04]);
  const faults: Fault[] = [];
  const add = (count: number, make: (atMs: number) => Fault) => {
    for (let i = 0; i < count; i++) faults.push(make(dice.between(0, loadMs)));
  };
  const some = (most: number) => (dice.happens(0.5) ? dice.whole(1, most) : 0);
  add(some(3), (atMs) => ({ kind: 'kill', atMs, forMs: dice.between(100, 4_000) }));
  add(some(3), (atMs) => ({ kind: 'freeze', atMs, forMs: dice.between(500, 7_000) }));
  add(some(2), (atMs) => ({ kind: 'clock', atMs, byMs: dice.between(-600_000, 600_000) }));
  add(some(1), (atMs) => ({ kind: 'store_away', atMs, forMs: dice.between(200, 4_000) }));
  add(some(2), (atMs) => ({ kind: 'sink_away', atMs, forMs: dice.between(200, 6_000) }));
  return {
    nodes: dice.whole(1, 3),
    reservations: dice.whole(1, 8),
    changes: dice.whole(8, 24),
    polls: dice.whole(0, 4),
    loadMs,
    lost: often(),
    slow: often(),
    slowMs: dice.pick([400, 2_500]),
    listFaults: often() * 3,
    sinkFaults: often() * 4,
    unpushed: dice.pick([0, 0.2]),
    hasPoison: dice.happens(0.2),
    hasTotal: dice.happens(0.5),
    endsWithPoll: dice.happens(0.3),
    clockErrorMs: dice.pick([0, 0, -240_000, 240_000]),
    faults: faults.sort((a, b) => a.atMs - b.atMs),
    accident: dice.happens(0.25)
      ? {
          kinds: Array.from({ length: dice.whole(1, 2) }, () => dice.pick(accidentKinds)),
          bookings: dice.whole(14, 30),
        }
      : undefined,
  };
}
