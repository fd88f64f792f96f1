import type { Lane } from './ports.ts';

/** Brands with due work, served in turn: a brand with a million changes gets one turn, then every other brand gets one. */
export class LaneRing {
  #lanes = new Map<string, Lane>();

  get size(): number {
    return this.#lanes.size;
  }

  /** A lane that is already in the ring keeps its place. */
  add(lane: Lane): void {
    this.#lanes.set(lane.integration, lane);
  }

  remove(lane: Lane): void {
    this.#lanes.delete(lane.integration);
  }

  /** The lane whose turn it is; it moves to the end. */
  next(): Lane | undefined {
    for (const lane of this.#lanes.values()) {
      this.#lanes.delete(lane.integration);
      this.#lanes.set(lane.integration, lane);
      return lane;
    }
    return undefined;
  }

  clear(): void {
    this.#lanes.clear();
  }
}
