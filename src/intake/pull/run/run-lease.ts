import { repeat } from '../../../kit/clock.ts';
import type { WaitReason } from '../../../outbound/ask/ports.ts';
import type { PullPorts } from '../ports.ts';
import { limitsOf } from './limits.ts';
import type { Run } from './run-state.ts';

/** This node's lease on a run: extended while the work runs, and reported as lost once another node has taken the run over. */
export class RunLease {
  readonly #ports: Pick<PullPorts, 'runs' | 'limits' | 'clock'>;
  readonly #run: Run;
  readonly #abort = new AbortController();
  #isLost = false;
  /** Why the run is waiting, if it is; stored with each extension. */
  waiting: WaitReason | undefined;

  constructor(ports: Pick<PullPorts, 'runs' | 'limits' | 'clock'>, run: Run) {
    this.#ports = ports;
    this.#run = run;
  }

  /** Aborted when the lease is lost, the process stops or the work is over. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  get ms(): number {
    return limitsOf(this.#ports).leaseMs;
  }

  lose(): void {
    this.#isLost = true;
    this.#abort.abort();
  }

  /** Runs the work under the lease. */
  async during<T>(stopping: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const stop = () => this.#abort.abort();
    if (stopping?.aborted) stop();
    stopping?.addEventListener('abort', stop, { once: true });
    const stopBeat = repeat(this.#ports.clock, this.ms / 3, () => void this.#extend());
    try {
      return await work();
    } finally {
      stopBeat();
      stop();
      stopping?.removeEventListener('abort', stop);
    }
  }

  async #extend(): Promise<void> {
    // If the store does not answer, the lease runs out by itself and the next commit is refused.
    const isHeld = await this.#ports.runs.extend(this.#run, this.ms, this.waiting).catch(() => true);
    if (!isHeld) this.lose();
  }
}
