import type { ErrorCode } from '../../errors.ts';
import type { EnvelopeProblem } from './envelope.ts';

/** The answers a sender can get, one constructor per row of the contract. */
export type Answer =
  /** Of several events in one body the first one's id, and how many there were. */
  | { readonly status: 202 | 200; readonly eventId: string; readonly events: number }
  | {
      readonly status: 400 | 401 | 404 | 405 | 408 | 410 | 413 | 415 | 422 | 429 | 431 | 503;
      readonly code: ErrorCode;
      readonly title: string;
      readonly detail: string;
      readonly problems?: readonly EnvelopeProblem[];
      readonly retryAfterS?: number;
      /** For the operator's list of rejections; a sender never sees it. */
      readonly reason: string;
    };
export type Refused = Exclude<Answer, { status: 202 | 200 }>;

export const accepted = (eventId: string, events = 1): Answer => ({ status: 202, eventId, events });
export const duplicate = (eventId: string, events = 1): Answer => ({ status: 200, eventId, events });

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
  title: 'JSON that is refused',
  detail: `The body holds what is refused: ${reason.replaceAll('_', ' ')}${position === undefined ? '' : ` at byte ${position}`}.`,
  reason,
});

/** One body for every reason: which part of the proof failed helps an attacker more than a sender, who has the sandbox. */
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
  detail: 'This endpoint takes no events any more.',
  reason,
});

export const wrongMethod = (): Refused => ({
  status: 405,
  code: 'push.wrong_method',
  title: 'Wrong method',
  detail: 'Events are sent by POST.',
  reason: 'wrong_method',
});

export const tooLarge = (limitBytes: number): Refused => ({
  status: 413,
  code: 'push.too_large',
  title: 'Body too large',
  detail: `The body may have ${limitBytes} bytes.`,
  reason: 'too_large',
});

export const wrongMediaType = (
  reason: 'content_type' | 'charset' | 'content_encoding' | 'transfer_encoding',
): Refused => ({
  status: 415,
  code: 'push.wrong_media_type',
  title: 'Wrong media type',
  detail: 'The body must be application/json in UTF-8, neither compressed nor otherwise encoded.',
  reason,
});

export const badEnvelope = (problems: readonly EnvelopeProblem[]): Refused => ({
  status: 422,
  code: 'push.bad_envelope',
  title: 'Envelope not valid',
  detail: problems.map(({ detail }) => detail).join(' '),
  problems,
  reason: problems.map(({ pointer }) => pointer).join(' '),
});

export const rateLimited = (reason: 'endpoint_rate' | 'address_rate', retryAfterS: number): Refused => ({
  status: 429,
  code: 'push.rate_limited',
  title: 'Too many requests',
  detail: 'More requests came than are taken; send this one again later.',
  retryAfterS,
  reason,
});

export const unavailable = (
  reason: 'store_unreachable' | 'store_slow' | 'backlog_full' | 'draining',
  retryAfterS: number,
): Refused => ({
  status: 503,
  code: 'push.unavailable',
  title: 'Not available',
  detail: 'The event was not taken; send it again later.',
  retryAfterS,
  reason,
});

/** The body of an answer. Errors are RFC 9457 problems; none repeats anything of the payload. */
export function answerBody(answer: Answer, requestId: string): { type: string; body: string } {
  if (!('code' in answer)) {
    const status = answer.status === 202 ? 'accepted' : 'duplicate';
    const several = answer.events > 1 ? `,"events":${answer.events}` : '';
    const body = `{"status":"${status}","event_id":${JSON.stringify(answer.eventId)}${several}}`;
    return { type: 'application/json', body };
  }
  const { code, title, status, detail, problems } = answer;
  return {
    type: 'application/problem+json',
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
