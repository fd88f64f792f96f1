import type { PullSettings } from '../../documents/pull.ts';
import { limitsOf } from './limits.ts';
import type { Admission, AskPorts } from './ports.ts';

/** Decides whether a request may be sent now: Retry-After is over, the circuit is closed, and the rate has a slot. */
export class AdmissionGate {
  readonly #ports: Pick<AskPorts, 'partners' | 'clock' | 'limits'>;
  readonly #settings: Pick<PullSettings, 'account' | 'rate'>;
  readonly api: string;
  #isClean = false;

  constructor(
    ports: Pick<AskPorts, 'partners' | 'clock' | 'limits'>,
    settings: Pick<PullSettings, 'account' | 'rate' | 'base_url'>,
  ) {
    this.#ports = ports;
    this.#settings = settings;
    this.api = new URL(settings.base_url).origin;
  }

  /** `hasWaited`: the caller has waited for as long as Retry-After asked. */
  async admit(hasWaited: boolean): Promise<Admission> {
    const { account, rate } = this.#settings;
    const mostMs = limitsOf(this.#ports).parkMs;
    const admission = await this.#ports.partners.admit(this.api, account, { rate, hasWaited, mostMs });
    if (admission.kind === 'go') this.#isClean = admission.clean;
    return admission;
  }

  /** Writes nothing if the store has no failure recorded for the API, the usual case. */
  async succeeded(): Promise<void> {
    if (!this.#isClean) await this.#ports.partners.succeeded(this.api);
  }

  async failed(what: string): Promise<void> {
    await this.#ports.partners.failed(this.api, limitsOf(this.#ports).cooldownMs, what);
  }
}
