import type { Timers } from '../kit/clock.ts';
import type { Calling } from './calling.ts';
import type { Claiming } from './claiming.ts';
import type { Gathering } from './gathering.ts';
import type { DestinationConfig } from './ports.ts';

interface ChannelParts {
  readonly claiming: Claiming;
  readonly gathering: Gathering;
  readonly calling: Calling;
}

/** When a channel claims, and how many records it may lease. */
export class ClaimPace {
  readonly #config: DestinationConfig;
  readonly #clock: Timers;
  readonly #parts: ChannelParts;

  constructor(config: DestinationConfig, clock: Timers, parts: ChannelParts) {
    this.#config = config;
    this.#clock = clock;
    this.#parts = parts;
  }

  /** Answers arrive one by one, so the next claim waits briefly until the calls have little left to do. */
  get mayClaim(): boolean {
    const { claiming, gathering, calling } = this.#parts;
    if (claiming.lanes.size === 0 || claiming.pausedMs > 0) return false;
    if (calling.isIdle) return true;
    if (this.capacity <= 0 || calling.isStoreBehind) return false;
    const { concurrency, batch } = this.#config;
    const { queue, gatherMs } = gathering;
    if (queue.count > 0) return queue.count * 2 <= concurrency * batch;
    if (calling.waitingForAnswer * 2 <= concurrency) return true;
    return this.#clock.uptimeMs() >= claiming.lastClaimAtMs + gatherMs;
  }

  /**
   * How many more records may be leased: as many as the calls can take. A quick destination that takes records one by one may have
   * up to four per call, since a commit or a claim returns hundreds for little more than the cost of one.
   */
  get capacity(): number {
    const { calling, gathering } = this.#parts;
    const { concurrency, batch, rate } = this.#config;
    const perCall = calling.isQuick && !rate ? Math.max(batch, 4) : batch;
    return concurrency * perCall - calling.waitingForAnswer * batch - gathering.queue.size;
  }
}
