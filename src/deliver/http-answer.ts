import type { Answered } from '../kit/http.ts';
import { ownWords } from '../kit/own-words.ts';
import { retryAfterMs } from '../kit/retry-after.ts';
import type { Outcome } from './destination.ts';
import { vendorWords } from './vendor-words.ts';

/**
 * | answer              | outcome of the delivery                                                       |
 * |---------------------|-------------------------------------------------------------------------------|
 * | 2xx                 | delivered                                                                     |
 * | 429 with Retry-After| waits that long without using a try; other records flow past (busy.ts)        |
 * | 429, 408, 425, 5xx  | retried on the schedule                                                       |
 * | 401, 403            | dead: our credentials are refused (after one renewal, if they can be renewed) |
 * | any other 3xx, 4xx  | dead: refused for good                                                        |
 * | no answer           | retried on the schedule; a private address that is not allowed is dead        |
 * The message has the answer's own explanation, without the values of the `sent` body.
 */
export function outcomeOf(answered: Answered, nowMs: number, sent: string | undefined): Outcome {
  const durationMs = Math.round(answered.durationMs);
  if (answered.kind === 'failed') return { ...failure(answered), durationMs };
  const { status, headers } = answered;
  const known = { status, durationMs };
  if (status >= 200 && status < 300) return { kind: 'delivered', ...known };
  const afterMs = askedWaitMs(headers, nowMs);
  const answer = beginning(answered.bytes);
  const message = `The destination answered ${status}${vendorWords(sent)(undefined, ownWords(answer))}.`;
  const details = { ...known, message, answer };
  if (status === 429) {
    const wait = afterMs === undefined ? {} : { afterMs, free: true };
    return { kind: 'retry', code: 'deliver.rate_limited', ...details, ...wait };
  }
  if (status === 408 || status === 425 || status >= 500) {
    return { kind: 'retry', code: 'deliver.server_error', ...details, ...(afterMs !== undefined && { afterMs }) };
  }
  const code = status === 401 || status === 403 ? 'deliver.auth_failed' : 'deliver.refused';
  return { kind: 'dead', code, ...details };
}

/** The wait that a Retry-After asks for. A date is compared with the destination's clock, which may differ from ours. */
export function askedWaitMs(headers: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const theirNowMs = Date.parse(headers.date ?? '');
  return retryAfterMs(headers['retry-after'], Number.isNaN(theirNowMs) ? nowMs : theirNowMs);
}

function failure({ reason, message }: Answered & { kind: 'failed' }): Outcome {
  switch (reason) {
    case 'blocked':
      return { kind: 'dead', code: 'deliver.blocked_address', message: `${message}.` };
    case 'redirect':
      return { kind: 'dead', code: 'deliver.refused', message: `${message}; redirects are not followed.` };
    case 'unsendable':
      return { kind: 'dead', code: 'deliver.refused', message: `${message}.` };
    case 'timeout':
    case 'aborted':
      return { kind: 'retry', code: 'deliver.timeout', message: `${message}.` };
    default:
      return { kind: 'retry', code: 'deliver.unreachable', message: `${message}.` };
  }
}

export const keptBytes = 2_048;

/** The part of an answer that is kept for the operator. */
export function beginning(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, keptBytes));
}
