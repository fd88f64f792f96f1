import type { ErrorCode } from '../../../errors.ts';
import { messageIn } from '../../../kit/own-words.ts';
import { isObject, type Json, type JsonObject } from '../../../terms.ts';
import type { BodyError } from '../../documents/pull.ts';
import { pathReader } from '../../json-path/read.ts';
import type { Answered, FailureReason } from '../http.ts';
import { wordsIn } from './answer.ts';

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
  const [, ruleForRange] = otherStatuses.find(([least]) => answered.status >= least) ?? [];
  return ruleForRange ?? rule('fail', 'pull.unexpected_status');
}

type Meaning = BodyError['means'];

const rules: Readonly<Record<Meaning, Rule>> = {
  auth: { action: 'renew', code: 'pull.auth_failed', counts: false },
  rate: { action: 'wait', code: 'pull.rate_limited', counts: false },
  not_found: { action: 'fail', code: 'pull.not_found', counts: false },
  // Retried like a 5xx, but the API is up: it does not open the circuit.
  fault: { action: 'again', code: 'pull.error_in_answer', counts: false },
};

const meaningText: Readonly<Record<Meaning, string>> = {
  auth: 'refused credentials',
  rate: 'too many requests',
  not_found: 'not found',
  fault: 'an error',
};

interface FoundError {
  readonly rule: Rule & { readonly code: ErrorCode };
  readonly message: string;
  /** The partner's own words. */
  readonly said: string;
}

/**
 * The error in an answer whose status says success. Declared errors apply to any answer; the usual spellings (success: false, a
 * filled error, status: error) only to one without rows, because partners also send warnings beside a good list.
 */
export function errorIn(body: Json, declared: readonly BodyError[], hasRows: () => boolean): FoundError | undefined {
  for (const error of declared) {
    if (!Object.entries(error.when).every(([path, wanted]) => holds(pathReader(path)(body), wanted))) continue;
    return bodyError(error.means, (error.message === undefined ? undefined : pathReader(error.message)(body)) ?? body);
  }
  return isObject(body) && looksLikeError(body) && !hasRows() ? bodyError(meaningOf(body), body) : undefined;
}

function bodyError(means: Meaning, words: Json): FoundError {
  const message = `the partner answered with success, but its body reports ${meaningText[means]}`;
  return { rule: rules[means], message, said: wordsIn(words) };
}

function holds(value: Json | undefined, wanted: BodyError['when'][string]): boolean {
  if (typeof wanted === 'object' && wanted !== null && !Array.isArray(wanted))
    return value !== undefined && !holds(value, wanted.not);
  return [wanted]
    .flat()
    .some((one) => (one === null ? isEmpty(value) : value !== undefined && text(value) === text(one)));
}

function text(value: Json): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function looksLikeError(body: Readonly<Record<string, Json>>): boolean {
  const flags = ['success', 'Success', 'ok'].flatMap((key) => own(body, key) ?? []);
  if (flags.some((flag) => /^true$/i.test(String(flag)))) return false;
  if (flags.some((flag) => /^false$/i.test(String(flag)))) return true;
  const states = ['status', 'result'].flatMap((key) => own(body, key) ?? []);
  if (states.some((state) => typeof state === 'string' && /^(?:error|fail|failed|failure)$/i.test(state))) return true;
  return ['error', 'errors', 'Error', 'Errors'].some((key) => !saysNone(own(body, key)));
}

/** Empty, or words and numbers for no error: { ErrorCode: "0", ErrorMessage: "Success" }. */
function saysNone(error: Json | undefined): boolean {
  if (isEmpty(error) || (typeof error === 'string' && noError.test(error))) return true;
  if (Array.isArray(error)) return error.every(saysNone);
  if (!isObject(error as Json)) return false;
  const fields = Object.entries(error as JsonObject);
  const codes = fields.filter(([name]) => /code$/i.test(name)).map(([, value]) => value);
  if (codes.length > 0) return codes.every((code) => /^0+$/.test(String(code)) || noError.test(String(code)));
  return fields.some(([name, value]) => /(?:message|text|description)$/i.test(name) && noError.test(String(value)));
}

const noError = /^(?:success|successful|ok|none|no errors?)\.?$/i;
const refusal = /\bunauthori[sz]ed\b|\b(?:invalid|wrong|unknown) (?:api[ _-]?key|credentials|token)\b/i;

/** From a status number in the body, or from words that only mean refused credentials; any other error is a fault. */
function meaningOf(body: Readonly<Record<string, Json>>): Meaning {
  const inner = own(body, 'error');
  const places = [body, ...(isObject(inner) ? [inner] : [])];
  const numbers = places.flatMap((place) =>
    ['code', 'status', 'status_code', 'statusCode', 'error_code', 'errorCode'].map((key) => Number(own(place, key))),
  );
  if (numbers.includes(401)) return 'auth';
  if (numbers.includes(429)) return 'rate';
  if (numbers.includes(404)) return 'not_found';
  return refusal.test(messageIn(body) ?? '') ? 'auth' : 'fault';
}

function own(body: Readonly<Record<string, Json>>, key: string): Json | undefined {
  return Object.hasOwn(body, key) ? body[key] : undefined;
}

function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === false || value === 0) return true;
  if (value === '0' || value === 'false') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
