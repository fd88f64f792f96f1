import type { ErrorCode } from '../../errors.ts';
import type { Answered, FailureReason } from '../http.ts';

/**
 * The reaction to an answer.
 * parse     read it
 * empty     a list without rows
 * again     retry with exponential backoff, at most five tries
 * wait      retry after the time the partner names
 * renew     renew the credentials, then retry once
 * shrink    halve the window; for a single day, as `again`
 * fail      end the run: a retry would get the same answer
 * stop      the process is shutting down
 */
export type Action = 'parse' | 'empty' | 'again' | 'wait' | 'renew' | 'shrink' | 'fail' | 'stop';

export interface Rule {
  readonly action: Action;
  /** Counts towards opening the circuit. A refusal does not: the API is up. */
  readonly counts: boolean;
  /** The run's error code if this ends it. */
  readonly code: ErrorCode;
}

const rule = (action: Action, code: ErrorCode, counts = false): Rule => ({ action, code, counts });

const byStatus: Readonly<Record<number, Rule>> = {
  200: rule('parse', 'pull.unexpected_status'),
  201: rule('parse', 'pull.unexpected_status'),
  203: rule('parse', 'pull.unexpected_status'),
  204: rule('empty', 'pull.unexpected_status'),
  400: rule('fail', 'pull.bad_request'),
  401: rule('renew', 'pull.auth_failed'),
  403: rule('fail', 'pull.forbidden'),
  404: rule('fail', 'pull.not_found'),
  408: rule('shrink', 'pull.timeout'),
  410: rule('fail', 'pull.not_found'),
  413: rule('shrink', 'pull.too_large'),
  425: rule('again', 'pull.server_error'),
  429: rule('wait', 'pull.rate_limited'),
  504: rule('shrink', 'pull.timeout', true),
};

const otherStatuses: readonly (readonly [least: number, rule: Rule])[] = [
  [500, rule('again', 'pull.server_error', true)],
  [400, rule('fail', 'pull.refused')],
  [100, rule('fail', 'pull.unexpected_status')],
];

const byReason: Readonly<Record<FailureReason, Rule>> = {
  timeout: rule('shrink', 'pull.timeout', true),
  reset: rule('again', 'pull.unreachable', true),
  refused: rule('again', 'pull.unreachable', true),
  dns: rule('again', 'pull.unreachable', true),
  protocol: rule('again', 'pull.unreachable', true),
  tls: rule('fail', 'pull.tls'),
  blocked: rule('fail', 'pull.blocked_address'),
  too_large: rule('shrink', 'pull.too_large'),
  redirect: rule('fail', 'pull.redirect'),
  unsendable: rule('fail', 'pull.bad_request'),
  aborted: rule('stop', 'pull.unreachable'),
};

export function ruleFor(answered: Answered): Rule {
  if (answered.kind === 'failed') return byReason[answered.reason];
  const exact = byStatus[answered.status];
  if (exact !== undefined) return exact;
  const [, found] = otherStatuses.find(([least]) => answered.status >= least) ?? [];
  return found ?? rule('fail', 'pull.unexpected_status');
}
