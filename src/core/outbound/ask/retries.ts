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
const longestWaitMs = 300_000;

/** Exponential backoff with full jitter, so that nodes that failed together do not retry together. */
export function backoffMs(failures: number, random: number): number {
  return Math.round(random * Math.min(longestDelayMs, firstDelayMs * 2 ** (failures - 1)));
}

/** After a 429 that names no time. Ten of them take nine minutes at least: some limits are by the minute, some by the hour. */
export function waitMs(waits: number, random: number): number {
  const most = Math.min(longestWaitMs, firstDelayMs * 2 ** (waits - 1));
  return Math.round((most * (1 + random)) / 2);
}

/** Where partners name the end of a limit, in seconds or as Unix time. */
const limitHeaders = ['x-ratelimit-retry-after', 'x-ratelimit-reset', 'x-rate-limit-reset', 'ratelimit-reset'];

/** Bounds of a partner's Retry-After: less than a second is not a pause, more than an hour looks like an outage. */
const retryAfterBounds = { leastMs: 1_000, mostMs: 3_600_000 } as const;

/**
 * How often one request may still fail or be asked to wait. Each function returns undefined if the request should be repeated, or else
 * the reason: its tries are used up, the run is parked, or the process is stopping.
 */
export function retriesOf(
  ports: Pick<AskPorts, 'clock' | 'random' | 'partners' | 'limits'>,
  { account, wait }: Pick<AskPlan['settings'], 'account' | 'wait'>,
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

  /** The end of the partner's limit, which other headers name on every answer. One that is over says nothing. */
  function limitEndMs(answered: Answered): number | undefined {
    if (answered.kind !== 'answer') return undefined;
    const names = wait === undefined ? limitHeaders : [wait.toLowerCase(), ...limitHeaders];
    return names
      .map((name) => retryAfterMs(answered.headers[name], ports.clock.now(), retryAfterBounds))
      .find((ms = 0) => ms > retryAfterBounds.leastMs);
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
      const ms = namedMs(answered) ?? limitEndMs(answered) ?? waitMs(waits, ports.random());
      await ports.partners.pause(account, ms);
      return waitOrPark(ms, 'retry_after');
    },
  };
}
