import type { Answered } from '../kit/http.ts';
import { retryAfterMs } from '../kit/retry-after.ts';
import type { Outcome } from './destination.ts';

/**
 * | answer              | what becomes of the delivery                                                  |
 * | 2xx                 | delivered                                                                     |
 * | 429, Retry-After    | waits so long, without using a try; others flow past (busy.ts)                |
 * | 429, 408, 425, 5xx  | tried again on the schedule                                                   |
 * | 401, 403            | dead: our credentials are refused (they were renewed once, if they could be)  |
 * | any other 3xx, 4xx  | dead: refused for good                                                        |
 * | no answer           | tried again on the schedule; a private address that is not allowed is dead    |
 */
export function outcomeOf(answered: Answered, nowMs: number): Outcome {
  const durationMs = Math.round(answered.durationMs);
  if (answered.kind === 'failed') return { ...failure(answered), durationMs };
  const { status, headers } = answered;
  const known = { status, durationMs };
  if (status >= 200 && status < 300) return { kind: 'delivered', ...known };
  // A date is by the destination's clock, which need not be ours.
  const theirNowMs = Date.parse(headers.date ?? '');
  const afterMs = retryAfterMs(headers['retry-after'], Number.isNaN(theirNowMs) ? nowMs : theirNowMs);
  const told = { ...known, message: `The destination answered ${status}.`, answer: beginning(answered.bytes) };
  if (status === 429) {
    const wait = afterMs === undefined ? {} : { afterMs, free: true };
    return { kind: 'retry', code: 'deliver.rate_limited', ...told, ...wait };
  }
  if (status === 408 || status === 425 || status >= 500) {
    return { kind: 'retry', code: 'deliver.server_error', ...told, ...(afterMs !== undefined && { afterMs }) };
  }
  const code = status === 401 || status === 403 ? 'deliver.auth_failed' : 'deliver.refused';
  return { kind: 'dead', code, ...told };
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
    case 'too_large':
      return { kind: 'retry', code: 'deliver.answer_unreadable', message: `${message}.` };
    default:
      return { kind: 'retry', code: 'deliver.unreachable', message: `${message}.` };
  }
}

const keptBytes = 2_048;

/** As much of an answer as is kept for the operator. */
export function beginning(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, keptBytes));
}
