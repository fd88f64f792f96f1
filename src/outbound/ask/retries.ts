import type { Answered } from '../http.ts';
import { retryAfterMs } from '../retry-after.ts';
import {
  type AskerOptions,
  type AskOptions,
  type AskPlan,
  type AskPorts,
  type Failure,
  limitsOf,
  type NoAnswer,
  type WaitReason,
} from './ports.ts';

export const mostTries = 5;
const mostWaits = 10;
const firstDelayMs = 2_000;
const longestDelayMs = 60_000;

/** Exponential backoff with full jitter, so that nodes that failed together do not retry together. */
export function backoffMs(failures: number, random: number): number {
  return Math.round(random * Math.min(longestDelayMs, firstDelayMs * 2 ** (failures - 1)));
}

/** Bounds of a partner's Retry-After: less than a second is not a pause, more than an hour looks like an outage. */
const retryAfterBounds = { leastMs: 1_000, mostMs: 3_600_000 } as const;

/**
 * How often one request may still fail or be asked to wait. Each function returns undefined if the request should be repeated, or else
 * the reason: its tries are used up, the run is parked, or the process is stopping.
 */
export function retriesOf(
  ports: Pick<AskPorts, 'clock' | 'random' | 'partners' | 'limits'>,
  { account }: Pick<AskPlan['settings'], 'account'>,
  options: AskerOptions,
  { counts, tried }: AskOptions,
) {
  let { failures, waits, waitedMs: waitedBeforeMs } = tried ?? { failures: 0, waits: 0, waitedMs: 0 };

  function park(ms: number, reason: WaitReason): NoAnswer {
    // Waiting for our own rate limit is not the partner's fault.
    const waitedMs = reason === 'rate' ? waitedBeforeMs : waitedBeforeMs + ms;
    return { kind: 'park', ms, reason, tried: { failures, waits, waitedMs } };
  }

  async function waitOrPark(ms: number, reason: WaitReason): Promise<NoAnswer | undefined> {
    if (options.parkable && ms > limitsOf(ports).parkMs) return park(ms, reason);
    options.onWait?.(reason, ms);
    counts.waitedMs += ms;
    await ports.clock.wait(ms, options.signal);
    return options.signal.aborted ? { kind: 'stopped' } : undefined;
  }

  /** The wait that the partner names. */
  function namedMs(answered: Answered | undefined): number | undefined {
    if (answered?.kind !== 'answer') return undefined;
    return retryAfterMs(answered.headers['retry-after'], ports.clock.now(), retryAfterBounds);
  }

  return {
    park,
    waitOrPark,
    hasFailed: () => failures > 0,
    /** A failure that may pass: exponential backoff with full jitter, five tries in all. */
    async retry(failure: Failure, answered?: Answered): Promise<NoAnswer | undefined> {
      failures++;
      if (failures >= mostTries) return { kind: 'failed', ...failure };
      const named = namedMs(answered);
      if (named !== undefined) await ports.partners.pause(account, named);
      return waitOrPark(named ?? backoffMs(failures, ports.random()), 'backoff');
    },
    /** The partner asked us to wait (429). The pause is stored, so a restart keeps it. */
    async waitAsTold(failure: Failure, answered: Answered): Promise<NoAnswer | undefined> {
      waits++;
      if (waits > mostWaits) return { kind: 'failed', ...failure };
      const ms = namedMs(answered) ?? Math.max(1_000, backoffMs(waits, ports.random()));
      await ports.partners.pause(account, ms);
      return waitOrPark(ms, 'retry_after');
    },
  };
}
