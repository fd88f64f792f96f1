import { checkHistory } from '../history/check.ts';
import type { History, Violation } from '../history/history.ts';
import { accidentBrand } from './brands.ts';
import type { Script } from './faults.ts';
import { World } from './world.ts';

export interface Simulated {
  readonly seed: number;
  readonly history: History;
  readonly violations: readonly Violation[];
  /** Virtual milliseconds. */
  readonly lastedMs: number;
  readonly steps: number;
  readonly script: Script;
}

/** One seed: a world on virtual time with the model of the store, checked by the history checker. */
export async function simulate(seed: number): Promise<Simulated> {
  const world = new World(seed);
  const startedAtMs = world.time.nowMs;
  const history = await world.run();
  const { nowMs, steps } = world.time;
  return {
    seed,
    history,
    violations: [...world.violations, ...checkHistory(history)].filter((one) => !isMixed(one)),
    lastedMs: nowMs - startedAtMs,
    steps,
    script: world.script,
  };
}

/** A held value stays beside what else its row says: together no partner said it. */
const isMixed = ({ rule, message }: Violation): boolean =>
  rule === 'nothing_unsaid' && message.startsWith(`${accidentBrand}/`);
