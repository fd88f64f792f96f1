import { json, problem } from '../exchange.ts';
import type { FaultEntry } from './twist.ts';

/** Faults that any API can have: error responses and network trouble. */

export const answerFaults = {
  rate_limit: {
    what: '429 with Retry-After in seconds',
    value: ['seconds to wait', 2],
    twist: (seconds) => ({
      instead: () => problem(429, 'rate_limited', 'Too many requests.', { 'retry-after': String(seconds) }),
    }),
  },
  rate_limit_date: {
    what: '429 with Retry-After as an HTTP date',
    value: ['seconds to wait', 2],
    twist: (seconds) => ({
      instead: () =>
        problem(429, 'rate_limited', 'Too many requests.', {
          'retry-after': new Date(Date.now() + seconds * 1000).toUTCString(),
        }),
    }),
  },
  rate_limit_silent: {
    what: '429 without Retry-After',
    twist: () => ({ instead: () => problem(429, 'rate_limited', 'Too many requests.') }),
  },
  server_error: {
    what: 'a server error',
    value: ['status', 500],
    twist: (status) => ({ instead: () => problem(status, 'server_error', 'Something broke on our side.') }),
  },
  unauthorized: {
    what: '401 for any credentials',
    twist: () => ({ instead: () => problem(401, 'unauthorized', 'The credentials have expired.') }),
  },
  html_page: {
    what: '200 with an HTML page, as from a login or maintenance page in front of the API',
    twist: () => ({
      instead: () => ({
        status: 200,
        headers: { 'content-type': 'text/html; charset=utf-8' },
        body: '<!doctype html><title>Please sign in</title>',
      }),
    }),
  },
  xml: {
    what: '200 with XML',
    twist: () => ({
      instead: () => ({
        status: 200,
        headers: { 'content-type': 'application/xml' },
        body: '<?xml version="1.0"?><reservations><reservation/></reservations>',
      }),
    }),
  },
  empty_body: {
    what: '200 with an empty body',
    twist: () => ({ instead: () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: '' }) }),
  },
  no_array: {
    what: '200 with an object that contains no list',
    twist: () => ({ instead: () => json(200, { message: 'maintenance' }) }),
  },
  error_in_200: {
    what: '200 with an error in the body and an empty list',
    twist: () => ({
      instead: () => json(200, { success: 'false', message: 'The property is not connected.', reservations: [] }),
    }),
  },
  auth_error_in_200: {
    what: '200 with an error about the credentials in the body',
    twist: () => ({ instead: () => json(200, { success: false, error: 'Invalid or expired token' }) }),
  },
  redirect: {
    what: '302 to another host',
    twist: () => ({
      instead: ({ pathQuery }) => ({
        status: 302,
        headers: { location: `https://elsewhere.example${pathQuery}` },
        body: '',
      }),
    }),
  },
} as const satisfies Record<string, FaultEntry>;

export const wireFaults = {
  slow: { what: 'a slow response', value: ['milliseconds', 3000], twist: (delayMs) => ({ wire: { delayMs } }) },
  truncate: { what: 'half a body, then the connection closes', twist: () => ({ wire: { cut: 'truncate' } }) },
  reset: { what: 'the connection closes without a response', twist: () => ({ wire: { cut: 'reset' } }) },
  hang: { what: 'headers, then silence', twist: () => ({ wire: { cut: 'hang' } }) },
} as const satisfies Record<string, FaultEntry>;
