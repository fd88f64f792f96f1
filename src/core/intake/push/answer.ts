import type { ErrorCode } from '../../../errors.ts';
import type { EnvelopeProblem } from './envelope.ts';

/** The answers a sender can get, one constructor per row of the contract. */
export type WebhookAnswer =
  /** `eventId` is the first event's id when one body holds several. */
  | { readonly status: 202 | 200; readonly eventId: string; readonly events: number; readonly xml?: string }
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

/** Senders of XML expect a document, and 200. */
export const inXml = (eventId: string, xml: string): WebhookAnswer => ({ status: 200, eventId, events: 1, xml });

const refusal = (
  status: Refused['status'],
  code: ErrorCode,
  title: string,
  reason: string,
  detail: string,
): Refused => ({ status, code, title, detail, reason });

export const notUtf8 = () => refusal(400, 'push.not_utf8', 'Not UTF-8', 'not_utf8', 'The body is not valid UTF-8.');

export function notJson(position: number | undefined): Refused {
  const where = position === undefined ? '.' : `: see character ${position}.`;
  return refusal(400, 'push.not_json', 'Not JSON', 'not_json', `The body is not JSON${where}`);
}

export const notXml = (fault: string) =>
  refusal(400, 'push.not_xml', 'Not XML', 'not_xml', `The body is not XML that is accepted: ${fault}.`);

export function unsafeJson(reason: string, position: number | undefined): Refused {
  const what = `${reason.replaceAll('_', ' ')}${position === undefined ? '' : ` at byte ${position}`}`;
  const detail = `The body contains JSON that is not accepted: ${what}.`;
  return refusal(400, 'push.unsafe_json', 'Unsafe JSON', reason, detail);
}

/** The same body for every reason: details would help an attacker, and a sender has the sandbox to diagnose its signature. */
export function unauthorized(reason: string): Refused {
  const detail = 'The signature and timestamp of the request could not be verified.';
  return refusal(401, 'push.unauthorized', 'Not authenticated', reason, detail);
}

export function unknownEndpoint(): Refused {
  const detail = 'There is no endpoint at this address.';
  return refusal(404, 'push.unknown_endpoint', 'Unknown endpoint', 'unknown_endpoint', detail);
}

export function retiredEndpoint(reason: 'retired' | 'push_disabled'): Refused {
  const detail = 'This endpoint no longer accepts events.';
  return refusal(410, 'push.retired_endpoint', 'Retired endpoint', reason, detail);
}

export const wrongMethod = () =>
  refusal(405, 'push.wrong_method', 'Wrong method', 'wrong_method', 'Send events by POST.');

export function tooLarge(limitBytes: number): Refused {
  const detail = `The body exceeds the limit of ${limitBytes} bytes.`;
  return refusal(413, 'push.too_large', 'Body too large', 'too_large', detail);
}

export function wrongMediaType(reason: 'content_type' | 'charset' | 'content_encoding' | 'transfer_encoding'): Refused {
  const detail =
    'The body must be application/json in UTF-8 (or XML, where that was agreed), without compression or any other content encoding.';
  return refusal(415, 'push.wrong_media_type', 'Wrong media type', reason, detail);
}

export function badEnvelope(problems: readonly EnvelopeProblem[]): Refused {
  const reason = problems.map(({ pointer }) => pointer).join(' ');
  const detail = problems.map((one) => one.detail).join(' ');
  return { ...refusal(422, 'push.bad_envelope', 'Invalid envelope', reason, detail), problems };
}

export function rateLimited(reason: 'endpoint_rate' | 'address_rate', retryAfterS: number): Refused {
  const detail = 'The rate limit is exceeded; retry after the number of seconds in Retry-After.';
  return { ...refusal(429, 'push.rate_limited', 'Too many requests', reason, detail), retryAfterS };
}

export function unavailable(
  reason: 'store_unreachable' | 'store_slow' | 'backlog_full' | 'draining',
  retryAfterS: number,
): Refused {
  const detail = 'The event was not accepted; retry after the number of seconds in Retry-After.';
  return { ...refusal(503, 'push.unavailable', 'Unavailable', reason, detail), retryAfterS };
}

/** Only in a rehearsal, when the partner asked for it: the sender must retry. */
export function deliberate(): Refused {
  const detail = 'This is the test of your retries: send the same event again, after growing delays.';
  return refusal(500, 'push.deliberate_failure', 'Refused on purpose', 'deliberate', detail);
}

export const problemType = 'application/problem+json; charset=utf-8';

/** The response body. Errors are RFC 9457 problems and never quote the payload. */
export function answerBody(answer: WebhookAnswer, requestId: string): { type: string; body: string } {
  if (!('code' in answer)) {
    if (answer.xml !== undefined) return { type: 'text/xml; charset=utf-8', body: answer.xml };
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
