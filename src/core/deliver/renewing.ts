import type { Timers } from '../../kit/clock.ts';
import type { Destination, Outcome } from './destination.ts';

/** How to read the settings of a destination with its secrets, and to open it with them. */
export interface Renewal<Settings = unknown> {
  readonly read: () => Promise<SettingsRead<Settings>>;
  readonly open: (settings: Settings) => Destination;
  readonly clock: Pick<Timers, 'uptimeMs'>;
}

export type SettingsRead<Settings> =
  | { readonly kind: 'ok'; readonly settings: Settings }
  | { readonly kind: 'missing'; readonly message: string };

/** Secrets are read again this often while they are in use. */
const readAgainMs = 5_000;

/** A destination as opened with one set of secrets. */
class Opening {
  readonly secrets: string;
  readonly #destination: Destination;
  #running = 0;
  #isRetired = false;

  constructor(secrets: string, destination: Destination) {
    this.secrets = secrets;
    this.#destination = destination;
  }

  async deliver(...call: Parameters<Destination['deliver']>): Promise<readonly Outcome[]> {
    this.#running += 1;
    try {
      return await this.#destination.deliver(...call);
    } finally {
      this.#running -= 1;
      await this.#closeIfUnused();
    }
  }

  /** Closes it once its calls have ended. */
  async retire(): Promise<void> {
    this.#isRetired = true;
    await this.#closeIfUnused();
  }

  async #closeIfUnused(): Promise<void> {
    if (this.#isRetired && this.#running === 0) await this.#destination.close().catch(() => {});
  }
}

/**
 * A destination whose secrets are outside its document, so that nothing announces their change. They are read again every few seconds
 * and when credentials are refused; the destination is then opened with the new ones. A delivery that was refused with replaced
 * credentials is sent again.
 */
export function renewingDestination<Settings>(
  { read, open, clock }: Renewal<Settings>,
  settings: Settings,
): Destination {
  const openWith = (some: Settings) => new Opening(JSON.stringify(some), open(some));
  let current = openWith(settings);
  let missing: string | undefined;
  let readAtMs = clock.uptimeMs();
  let reading: Promise<void> | undefined;

  async function readAgain(): Promise<void> {
    const text = await read();
    readAtMs = clock.uptimeMs();
    missing = text.kind === 'missing' ? text.message : undefined;
    if (text.kind === 'missing' || JSON.stringify(text.settings) === current.secrets) return;
    const previous = current;
    current = openWith(text.settings);
    await previous.retire();
  }

  /** If the secrets cannot be looked up, those in use stay. */
  function renew(): Promise<void> {
    reading ??= readAgain()
      .catch(() => {})
      .finally(() => {
        reading = undefined;
      });
    return reading;
  }

  return {
    async deliver(batch, limits) {
      if (missing !== undefined || clock.uptimeMs() - readAtMs >= readAgainMs) await renew();
      if (missing !== undefined) {
        const message = missing;
        return batch.map(() => ({ kind: 'retry', code: 'deliver.auth_failed', message }));
      }
      const used = current;
      const outcomes = await used.deliver(batch, limits);
      if (!outcomes.some(isRefused)) return outcomes;
      if (used === current) await renew();
      return used === current ? outcomes : outcomes.map((outcome) => (isRefused(outcome) ? replaced : outcome));
    },
    close: () => current.retire(),
  };
}

const isRefused = (outcome: Outcome): boolean => 'code' in outcome && outcome.code === 'deliver.auth_failed';

const replaced: Outcome = {
  kind: 'retry',
  code: 'deliver.auth_failed',
  message: 'The destination refused credentials that were replaced meanwhile; the next try uses the new ones.',
  free: true,
  mayHaveArrived: true,
};
