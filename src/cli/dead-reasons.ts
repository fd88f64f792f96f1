import type { DryRecord } from '../store/runs/dry-runs.ts';

/** A reason for which records of a dry run would become dead letters. */
export interface DeadReason {
  readonly code: string;
  readonly message: string;
  records: number;
}

const mostReasons = 10;

/** Counts the reasons: a dry run stores no dead letters that could be listed afterwards. */
export class DeadReasons {
  readonly #reasons = new Map<string, DeadReason>();

  add({ alone, outcome }: Pick<DryRecord, 'alone' | 'outcome'>): void {
    // A bare row of a known reservation is a dead letter only by itself.
    if (alone.kind !== 'dead' || outcome.outcome !== 'dead') return;
    const { code, message } = alone.deadLetter;
    const key = `${code} ${message}`;
    const known = this.#reasons.get(key);
    if (known === undefined) this.#reasons.set(key, { code, message, records: 1 });
    else known.records++;
  }

  /** The most frequent ones first. */
  most(): readonly DeadReason[] {
    return [...this.#reasons.values()].toSorted((a, b) => b.records - a.records).slice(0, mostReasons);
  }
}
