import { type Answer, type Exchange, json, problem } from '../exchange.ts';
import type { FaultEntry } from './twist.ts';

/** Faults that any API can have: error responses and network trouble. */

export const answerFaults = {
  rate_limit: {
    what: '429 with Retry-After in seconds',
    value: ['seconds to wait', 2],
    twist: (seconds) => ({ instead: () => tooMany({ 'retry-after': String(seconds) }) }),
  },
  rate_limit_date: {
    what: '429 with Retry-After as an HTTP date',
    value: ['seconds to wait', 2],
    twist: (seconds) => ({
      instead: () => tooMany({ 'retry-after': new Date(Date.now() + seconds * 1000).toUTCString() }),
    }),
  },
  rate_limit_silent: instead('429 without Retry-After', () => tooMany({})),
  server_error: {
    what: 'a server error',
    value: ['status', 500],
    twist: (status) => ({ instead: () => problem(status, 'server_error', 'Something broke on our side.') }),
  },
  unauthorized: instead('401 for any credentials', () => problem(401, 'unauthorized', 'The credentials have expired.')),
  html_page: instead('200 with an HTML page, as from a login or maintenance page in front of the API', () =>
    ok('text/html; charset=utf-8', '<!doctype html><title>Please sign in</title>'),
  ),
  xml: instead('200 with XML', () =>
    ok('application/xml', '<?xml version="1.0"?><reservations><reservation/></reservations>'),
  ),
  empty_body: instead('200 with an empty body', () => ok('application/json', '')),
  no_array: instead('200 with an object that contains no list', () => json(200, { message: 'maintenance' })),
  error_in_200: instead('200 with an error in the body and an empty list', () =>
    json(200, { success: 'false', message: 'The property is not connected.', reservations: [] }),
  ),
  auth_error_in_200: instead('200 with an error about the credentials in the body', () =>
    json(200, { success: false, error: 'Invalid or expired token' }),
  ),
  redirect: instead('302 to another host', ({ pathQuery }) => ({
    status: 302,
    headers: { location: `https://elsewhere.example${pathQuery}` },
    body: '',
  })),
} as const satisfies Record<string, FaultEntry>;

export const wireFaults = {
  slow: { what: 'a slow response', value: ['milliseconds', 3000], twist: (delayMs) => ({ wire: { delayMs } }) },
  truncate: { what: 'half a body, then the connection closes', twist: () => ({ wire: { cut: 'truncate' } }) },
  reset: { what: 'the connection closes without a response', twist: () => ({ wire: { cut: 'reset' } }) },
  hang: { what: 'headers, then silence', twist: () => ({ wire: { cut: 'hang' } }) },
} as const satisfies Record<string, FaultEntry>;

/** Rules of the interface description that the API violates as a whole. */
export const contractFaults = {
  accepts_missing_dates: {
    what: 'accepts a list without dates',
    twist: () => ({ lenient: { missingDates: true } }),
  },
  accepts_malformed_dates: {
    what: 'accepts invalid dates',
    twist: () => ({ lenient: { malformedDates: true } }),
  },
  open_door: { what: 'requires no credentials', twist: () => ({ openDoor: true }) },
  forbidden_for_unauthorized: changed('403 instead of 401', 401, (answer) => ({ ...answer, status: 403 })),
  unauthorized_html: changed('401 with an HTML page', 401, (answer) => ({
    ...answer,
    headers: { 'content-type': 'text/html' },
    body: '<h1>Unauthorized</h1>',
  })),
  error_for_bad_request: changed('500 instead of 400', 400, (answer) => ({ ...answer, status: 500 })),
  unknown_id_found: changed('200 and null for an unknown id', 404, (answer, { path }) =>
    /reservations\/./.test(path) ? { ...answer, status: 200, body: 'null' } : answer,
  ),
  thin_single: changed('the single reservation lacks its guests', 200, (answer, exchange) => {
    if (!isSingle(exchange)) return answer;
    const { guests: _gone, ...rest } = JSON.parse(String(answer.body));
    return { ...answer, body: JSON.stringify(rest) };
  }),
  no_single: changed('has no call for a single reservation', 200, (answer, exchange) =>
    isSingle(exchange) ? problem(404, 'not_found', 'No such endpoint.') : answer,
  ),
  text_plain: changed('Content-Type text/plain', undefined, (answer) => ({
    ...answer,
    headers: { ...answer.headers, 'content-type': 'text/plain; charset=utf-8' },
  })),
  latin1: changed('bodies in ISO 8859-1', undefined, (answer) => {
    const text = String(answer.body).replace(/[^\0-\xff]/g, '?');
    return { ...answer, body: Buffer.from(text.replace(/"page":/, '"\u00e9":1,"page":'), 'latin1') };
  }),
  trailing_comma: changed('a body that is almost JSON', 200, (answer) => ({
    ...answer,
    body: String(answer.body).replace(/([}\]])$/, ',$1'),
  })),
} as const satisfies Record<string, FaultEntry>;

function instead(what: string, answer: (exchange: Exchange) => Answer): FaultEntry {
  return { what, twist: () => ({ instead: answer }) };
}

/** Changes the answers with this status, or all. */
function changed(
  what: string,
  status: number | undefined,
  change: (answer: Answer, exchange: Exchange) => Answer,
): FaultEntry {
  const answer = (one: Answer, exchange: Exchange) =>
    status === undefined || one.status === status ? change(one, exchange) : one;
  return { what, twist: () => ({ answer }) };
}

function ok(type: string, body: string): Answer {
  return { status: 200, headers: { 'content-type': type }, body };
}

function tooMany(headers: Answer['headers']): Answer {
  return problem(429, 'rate_limited', 'Too many requests.', headers);
}

function isSingle({ path }: Exchange): boolean {
  return /^\/api\/reservations\/(?!search$)./.test(path);
}
