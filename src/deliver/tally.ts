import { latencyBoundsMs, latencyBucket } from '../kit/histogram.ts';
import type { Settlement } from './ports.ts';
import { profilesDestination } from './profiles.ts';

/** What this node delivered for a brand in ten seconds. */
export interface Tallied {
  readonly integration: string;
  /** The start of the ten seconds. */
  readonly at: number;
  delivered: number;
  retried: number;
  dead: number;
  /** From a change to its delivery, see latencyBoundsMs. */
  readonly latency: number[];
}

export const tallyStepMs = 10_000;

/**
 * Counts in memory what was settled, so that a delivery costs no row of a log. A killed node loses the counts of its last seconds, no
 * delivery.
 */
export class DeliveryTally {
  readonly #counts = new Map<string, Tallied>();
  #deliveredTo = new Map<string, number>();

  add(settlements: readonly Settlement[], nowMs: number): void {
    for (const { integration, destination, result, changedAt } of settlements) {
      if (destination === profilesDestination || result.kind === 'skipped') continue;
      const counts = this.#of(integration, nowMs - (nowMs % tallyStepMs));
      if (result.kind === 'retry') counts.retried += 1;
      else counts[result.kind] += 1;
      if (result.kind !== 'delivered') continue;
      this.#deliveredTo.set(destination, nowMs);
      const bucket = latencyBucket(nowMs - (changedAt ?? nowMs));
      counts.latency[bucket] = (counts.latency[bucket] ?? 0) + 1;
    }
  }

  /** Removes and returns the counts of the steps that have ended; of all steps without a time. */
  take(nowMs = Number.POSITIVE_INFINITY): Tallied[] {
    const ended = [...this.#counts].filter(([, { at }]) => at + tallyStepMs <= nowMs);
    for (const [key] of ended) this.#counts.delete(key);
    return ended.map(([, counts]) => counts);
  }

  /** Removes and returns when each destination last accepted something. */
  takeDestinations(): Map<string, number> {
    const taken = this.#deliveredTo;
    this.#deliveredTo = new Map();
    return taken;
  }

  #of(integration: string, at: number): Tallied {
    const key = `${at} ${integration}`;
    const known = this.#counts.get(key);
    if (known) return known;
    const latency = new Array<number>(latencyBoundsMs.length + 1).fill(0);
    const counts = { integration, at, delivered: 0, retried: 0, dead: 0, latency };
    this.#counts.set(key, counts);
    return counts;
  }
}
