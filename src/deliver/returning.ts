import type { LeasedInDoubt } from './direct-leases.ts';
import type { Lease } from './lease.ts';
import type { Leased } from './leased-queue.ts';
import type { DeliverPorts, Lane } from './ports.ts';

const retryAfterMs = 1_000;

/** Gives up the leases of records that were not sent, so that they can be claimed again at once. If that fails, the leases expire. */
export class Returning {
  readonly #ports: Pick<DeliverPorts, 'store' | 'clock'>;
  readonly #destination: string;
  readonly #onReturned: (lane: Lane) => void;
  #running = 0;

  /** `onReturned` is called when records of the lane are due again. */
  constructor(ports: Pick<DeliverPorts, 'store' | 'clock'>, destination: string, onReturned: (lane: Lane) => void) {
    this.#ports = ports;
    this.#destination = destination;
    this.#onReturned = onReturned;
  }

  get isIdle(): boolean {
    return this.#running === 0;
  }

  async putBack({ lane, claims }: Leased): Promise<void> {
    const { store } = this.#ports;
    const key = this.#keyOf(lane);
    // A record that may have arrived earlier stays marked as such.
    const tried = claims.filter(({ interrupted }) => interrupted);
    const untried = claims.filter(({ interrupted }) => !interrupted);
    this.#running += 1;
    if (tried.length > 0) await store.abandon(key, tried).catch(() => {});
    if (untried.length > 0) await store.putBack(key, untried).catch(() => {});
    this.#running -= 1;
    this.#onReturned(lane);
  }

  /** The answer to the commit that made these leases was lost, so the store may be unreachable for a while. */
  async putBackInDoubt(lane: Lane, leased: LeasedInDoubt, lease: Lease, closing: AbortSignal): Promise<void> {
    const { store, clock } = this.#ports;
    const { claims, transaction } = leased;
    while (!closing.aborted && lease.leftMs > 0) {
      const status = await store.putBackIfCommitted(this.#keyOf(lane), claims, transaction).catch(() => 'undecided');
      if (status === 'committed') this.#onReturned(lane);
      if (status !== 'undecided') return;
      await clock.wait(retryAfterMs, closing);
    }
  }

  #keyOf(lane: Lane) {
    return { integration: lane.integration, destination: this.#destination };
  }
}
