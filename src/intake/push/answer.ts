import type { ErrorCode } from '../../errors.ts';
import type { EnvelopeProblem } from './envelope.ts';

/** The answers a sender can get, one constructor per row of the contract. */
export type WebhookAnswer =
  /** `eventId` is the first event's id when one body holds several. */
  | { readonly status: 202 | 200; readonly eventId: string; readonly events: number }
  | {
      readonly status: 400 | 401 | 404 | 405 | 408 | 410 | 413 | 415 | 422 | 429 | 431 | 500 | 503;
      readonly code: ErrorCode;
      readonly title: string;
      readonly detail: string;
      readonly problems?: readonly EnvelopeProblem[];
      readonly retryAfterS?: number;
      /** For the operator's list of rejections; a sender never sees it. */
      readonly reason: string;
    };
export type Refused = Exclude<WebhookAnswer, { status: 202 | 200 }>;

export const accepted = (eventId: string, events = 1): WebhookAnswer => ({ status: 202, eventId, events });
export const duplicate = (eventId: string, events = 1): WebhookAnswer => ({ status: 200, eventId, events });

export const notUtf8 = (): Refused => ({
  status: 400,
  code: 'push.not_utf8',
  title: 'Not UTF-8',
  detail: 'The body is not valid UTF-8.',
  reason: 'not_utf8',
});

export const notJson = (position: number | undefined): Refused => ({
  status: 400,
  code: 'push.not_json',
  title: 'Not JSON',
  detail: position === undefined ? 'The body is not JSON.' : `The body is not JSON: see character ${position}.`,
  reason: 'not_json',
});

export const unsafeJson = (reason: string, position: number | undefined): Refused => ({
  status: 400,
  code: 'push.unsafe_json',
  title: 'Unsafe JSON',
  detail: `The body contains JSON that is not accepted: ${reason.replaceAll('_', ' ')}${position === undefined ? '' : ` at byte ${position}`}.`,
  reason,
});

/** The same body for every reason: details would help an attacker, and a sender has the sandbox to diagnose its signature. */
export const unauthorized = (reason: string): Refused => ({
  status: 401,
  code: 'push.unauthorized',
  title: 'Not authenticated',
  detail: 'The signature and timestamp of the request could not be verified.',
  reason,
});

export const unknownEndpoint = (): Refused => ({
  status: 404,
  code: 'push.unknown_endpoint',
  title: 'Unknown endpoint',
  detail: 'There is no endpoint at this address.',
  reason: 'unknown_endpoint',
});

export const retiredEndpoint = (reason: 'retired' | 'push_disabled'): Refused => ({
  status: 410,
  code: 'push.retired_endpoint',
  title: 'Retired endpoint',
  detail: 'This endpoint no longer accepts events.',
  reason,
});

export const wrongMethod = (): Refused => ({
  status: 405,
  code: 'push.wrong_method',
  title: 'Wrong method',
  detail: 'Send events by POST.',
  reason: 'wrong_method',
});

export const tooLarge = (limitBytes: number): Refused => ({
  status: 413,
  code: 'push.too_large',
  title: 'Body too large',
  detail: `The body exceeds the limit of ${limitBytes} bytes.`,
  reason: 'too_large',
});

export const wrongMediaType = (
  reason: 'content_type' | 'charset' | 'content_encoding' | 'transfer_encoding',
): Refused => ({
  status: 415,
  code: 'push.wrong_media_type',
  title: 'Wrong media type',
  detail: 'The body must be application/json in UTF-8, without compression or any other content encoding.',
  reason,
});

export const badEnvelope = (problems: readonly EnvelopeProblem[]): Refused => ({
  status: 422,
  code: 'push.bad_envelope',
  title: 'Invalid envelope',
  detail: problems.map(({ detail }) => detail).join(' '),
  problems,
  reason: problems.map(({ pointer }) => pointer).join(' '),
});

export const rateLimited = (reason: 'endpoint_rate' | 'address_rate', retryAfterS: number): Refused => ({
  status: 429,
  code: 'push.rate_limited',
  title: 'Too many requests',
  detail: 'The rate limit is exceeded; retry after the number of seconds in Retry-After.',
  retryAfterS,
  reason,
});

export const unavailable = (
  reason: 'store_unreachable' | 'store_slow' | 'backlog_full' | 'draining',
  retryAfterS: number,
): Refused => ({
  status: 503,
  code: 'push.unavailable',
  title: 'Unavailable',
  detail: 'The event was not accepted; retry after the number of seconds in Retry-After.',
  retryAfterS,
  reason,
});

/** Only in a rehearsal, when the partner asked for it: the sender must retry. */
export const deliberate = (): Refused => ({
  status: 500,
  code: 'push.deliberate_failure',
  title: 'Refused on purpose',
  detail: 'This is the test of your retries: send the same event again, after growing delays.',
  reason: 'deliberate',
});

export const problemType = 'application/problem+json; charset=utf-8';

/** The response body. Errors are RFC 9457 problems and never quote the payload. */
export function answerBody(answer: WebhookAnswer, requestId: string): { type: string; body: string } {
  if (!('code' in answer)) {
    const status = answer.status === 202 ? 'accepted' : 'duplicate';
    const several = answer.events > 1 ? `,"events":${answer.events}` : '';
    const body = `{"status":"${status}","event_id":${JSON.stringify(answer.eventId)}${several}}`;
    return { type: 'application/json; charset=utf-8', body };
  }
  const { code, title, status, detail, problems } = answer;
  return {
    type: problemType,
    body: JSON.stringify({
      type: `urn:innbound:error:${code}`,
      title,
      status,
      detail,
      code,
      request_id: requestId,
      ...(problems?.[0] && { pointer: problems[0].pointer, errors: problems }),
    }),
  };
}
