import type { Answered } from '../http.ts';
import { retryAfterMs } from '../retry-after.ts';
import type { AskCounts, AskerOptions, Failure, NoAnswer } from './asked.ts';
import { backoffMs, mostTries, retryAfterBounds } from './delays.ts';
import { limitsOf } from './limits.ts';
import type { AskPorts, Tried, WaitReason } from './ports.ts';

const mostWaits = 10;

interface Context {
  readonly ports: Pick<AskPorts, 'clock' | 'random' | 'partners' | 'limits'>;
  readonly account: Parameters<AskPorts['partners']['pause']>[0];
  readonly options: AskerOptions;
  readonly counts: AskCounts;
  readonly tried?: Tried;
}

/**
 * How often one request may still fail or be asked to wait. Each method returns undefined if the request should be repeated, or else
 * the reason: its tries are used up, the run is parked, or the process is stopping.
 */
export class Retries {
  readonly #context: Context;
  #failures: number;
  #waits: number;

  constructor(context: Context) {
    this.#context = context;
    this.#failures = context.tried?.failures ?? 0;
    this.#waits = context.tried?.waits ?? 0;
  }

  get hasFailed(): boolean {
    return this.#failures > 0;
  }

  /** A failure that may pass: exponential backoff with full jitter, five tries in all. */
  async retry(failure: Failure, answered?: Answered): Promise<NoAnswer | undefined> {
    this.#failures++;
    if (this.#failures >= mostTries) return { kind: 'failed', ...failure };
    const namedMs = this.#retryAfter(answered);
    const ms = namedMs ?? backoffMs(this.#failures, this.#context.ports.random());
    if (namedMs !== undefined) await this.#remember(ms);
    return this.waitOrPark(ms, 'backoff');
  }

  /** The partner asked us to wait (429). The pause is stored, so a restart keeps it. */
  async waitAsTold(failure: Failure, answered: Answered | undefined): Promise<NoAnswer | undefined> {
    this.#waits++;
    if (this.#waits > mostWaits) return { kind: 'failed', ...failure };
    const ms = this.#retryAfter(answered) ?? Math.max(1_000, backoffMs(this.#waits, this.#context.ports.random()));
    await this.#remember(ms);
    return this.waitOrPark(ms, 'retry_after');
  }

  async waitOrPark(ms: number, reason: WaitReason): Promise<NoAnswer | undefined> {
    const { options, ports } = this.#context;
    if (options.parkable && ms > limitsOf(ports).parkMs) return this.park(ms, reason);
    options.onWait?.(reason, ms);
    this.#context.counts.waitedMs += ms;
    await ports.clock.wait(ms, options.signal);
    return options.signal.aborted ? { kind: 'stopped' } : undefined;
  }

  park(ms: number, reason: WaitReason): NoAnswer {
    const before = this.#context.tried?.waitedMs ?? 0;
    // Waiting for our own rate limit is not the partner's fault.
    const waitedMs = reason === 'rate' ? before : before + ms;
    return { kind: 'park', ms, reason, tried: { failures: this.#failures, waits: this.#waits, waitedMs } };
  }

  #retryAfter(answered: Answered | undefined): number | undefined {
    if (answered?.kind !== 'answer') return undefined;
    return retryAfterMs(answered.headers['retry-after'], this.#context.ports.clock.now(), retryAfterBounds);
  }

  async #remember(ms: number): Promise<void> {
    await this.#context.ports.partners.pause(this.#context.account, ms);
  }
}
