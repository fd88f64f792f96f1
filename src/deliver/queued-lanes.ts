export interface LaneKey {
  readonly integration: string;
  readonly destination: string;
}

/** Passes the lanes of committed changes to the deliveries of this process, which claim them at once, and wakes the other nodes (bench/mechanisms.md, 6). */
export class QueuedLanes {
  readonly #wakeOthers: () => void;
  #offer: ((lanes: readonly LaneKey[]) => void) | undefined;

  constructor(wakeOthers: () => void) {
    this.#wakeOthers = wakeOthers;
  }

  /** Connects the deliveries of this process; undefined when they stop. */
  connect(offer: ((lanes: readonly LaneKey[]) => void) | undefined): void {
    this.#offer = offer;
  }

  add(lanes: readonly LaneKey[]): void {
    this.#offer?.(lanes);
    this.#wakeOthers();
  }
}
