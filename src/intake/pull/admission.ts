import type { PullSettings } from '../../documents/pull.ts';
import type { EpochMs } from '../../terms.ts';
import { limitsOf } from './limits.ts';
import type { Admission, PullPorts } from './ports.ts';

/**
 * How long one admission covers the requests that follow it. Another node's failure reaches this one at most this much later.
 * Admitting every page separately: 18,700 instead of 20,200 records/s (`scripts/bench pull`, unchanged pages, 2-core arm64).
 */
const coveredMs = 100;

/** Decides whether a request may be sent now: Retry-After is over, the circuit is closed, and the rate has a slot. */
export class AdmissionGate {
  readonly #ports: Pick<PullPorts, 'partners' | 'clock' | 'limits'>;
  readonly #settings: Pick<PullSettings, 'account' | 'rate'>;
  readonly api: string;
  #coveredUntil: EpochMs = 0;
  #isClean = false;

  constructor(
    ports: Pick<PullPorts, 'partners' | 'clock' | 'limits'>,
    settings: Pick<PullSettings, 'account' | 'rate' | 'base_url'>,
  ) {
    this.#ports = ports;
    this.#settings = settings;
    this.api = new URL(settings.base_url).origin;
  }

  /** `hasWaited`: the caller has waited for as long as Retry-After asked. */
  async admit(hasWaited: boolean): Promise<Admission> {
    const now = this.#ports.clock.now();
    const leftMs = this.#coveredUntil - now;
    // More time left than was ever granted means that the clock was set back.
    if (leftMs > 0 && leftMs <= coveredMs) {
      this.#isClean = true;
      return { kind: 'go', clean: true };
    }
    const { account, rate } = this.#settings;
    const mostMs = limitsOf(this.#ports).parkMs;
    const admission = await this.#ports.partners.admit(this.api, account, { rate, hasWaited, mostMs });
    if (admission.kind === 'go') {
      this.#isClean = admission.clean;
      // With a rate, each request takes its own slot.
      if (admission.clean && rate === undefined) this.#coveredUntil = now + coveredMs;
    }
    return admission;
  }

  /** An answer other than success: the next request asks for admission again. */
  revoke(): void {
    this.#coveredUntil = 0;
  }

  /** Writes nothing if the store has no failure recorded for the API, the usual case. */
  async succeeded(): Promise<void> {
    if (!this.#isClean) await this.#ports.partners.succeeded(this.api);
  }

  async failed(what: string): Promise<void> {
    await this.#ports.partners.failed(this.api, limitsOf(this.#ports).cooldownMs, what);
  }
}
