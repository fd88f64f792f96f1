import type { FastifyRequest } from 'fastify';
import { type Buckets, networkOf } from '../../core/intake/push/receive.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { linkRefusal } from '../onboard/states.ts';
import { findLinkOf } from '../store/onboarding.ts';
import {
  type Caller,
  callerOf,
  consoleHeader,
  cookieIn,
  type Identified,
  isServedOverHttps,
  mayAs,
  shownToken,
} from './caller.ts';
import type { Route } from './route.ts';

const anonymous: Caller = {
  tokenId: '',
  grantId: '',
  name: 'anonymous',
  role: 'viewer',
  integrations: [],
  kind: 'api',
};
/** Tokens have 256 random bits and cannot be guessed; this limits the load from guesses. */
export const failureRate = { perSecond: 1, burst: 60 };

/**
 * Who calls, and whether the role suffices. A valid token is accepted before the failures of its address count: behind one
 * proxy, a single client with a wrong token would otherwise lock out all the others.
 */
export async function identify(
  route: Route,
  request: FastifyRequest,
  runtime: Runtime,
  { failures, partners }: { readonly failures: Buckets; readonly partners: Buckets },
): Promise<Identified> {
  const { headers } = request;
  if (route.role === 'public') {
    // Only a sign-in by token can be a guess; the way through the identity provider stays open.
    const isGuess = route.method !== 'GET' && !route.asks;
    return (isGuess ? mustWait(request, runtime, failures) : undefined) ?? { kind: 'known', caller: anonymous };
  }
  if (route.role === 'partner') {
    return (
      (await identifyPartner(request, runtime, partners)) ??
      refusedGuess(request, runtime, failures, headers.cookie !== undefined, noLink)
    );
  }
  const shown = shownToken(headers, isServedOverHttps(runtime));
  const caller = shown && (await callerOf(runtime, shown.token, true));
  if (shown === undefined || caller === undefined) {
    const detail = shown ? 'The token is unknown, expired or revoked.' : 'Send a token as Authorization: Bearer …';
    return refusedGuess(request, runtime, failures, shown !== undefined, detail);
  }
  if (shown.by === 'cookie' && request.method !== 'GET' && headers[consoleHeader] === undefined) {
    const detail = `A session request that changes data must have the header ${consoleHeader}.`;
    return { kind: 'refused', status: 403, code: 'operate.forbidden', detail };
  }
  if (!mayAs(caller, route.role)) {
    const detail = `This requires the role ${route.role}; the token has the role ${caller.role}.`;
    return { kind: 'refused', status: 403, code: 'operate.forbidden', detail };
  }
  return { kind: 'known', caller, token: shown.token };
}

const noLink = 'This browser has not opened the onboarding link.';

function refusedGuess(
  request: FastifyRequest,
  runtime: Runtime,
  failures: Buckets,
  isGuess: boolean,
  detail: string,
): Identified {
  const waits = mustWait(request, runtime, failures);
  if (waits) return waits;
  if (isGuess) failures.charge(networkOf(request.ip), runtime.clock.now(), 1);
  return { kind: 'refused', status: 401, code: 'operate.unauthorized', detail };
}

function mustWait(request: FastifyRequest, { clock }: Runtime, failures: Buckets): Identified | undefined {
  const waiting = failures.peek(networkOf(request.ip), clock.now());
  if (waiting.kind !== 'wait') return undefined;
  const detail = 'Too many requests from this address had an invalid token.';
  return { kind: 'wait', status: 429, code: 'operate.too_many_failures', detail, seconds: waiting.seconds };
}

/** For each browser: a page that looks every second needs one request a second, and its buttons a few more. */
export const partnerRate = { perSecond: 4, burst: 40 };

/** Whoever opened the link in the path, in this browser; undefined for everybody else. */
async function identifyPartner(
  request: FastifyRequest,
  runtime: Runtime,
  rates: Buckets,
): Promise<Identified | undefined> {
  const { link_id: linkId = '' } = request.params as { readonly link_id?: string };
  const browser = cookieIn(request.headers.cookie, isServedOverHttps(runtime), 'link', linkId);
  const link = browser && (await findLinkOf(runtime.pool, linkId, browser));
  if (!link) return undefined;
  const ended = linkRefusal(link, 'partner', 'view');
  if (ended !== undefined) {
    return { kind: 'refused', status: 410, code: 'operate.link_ended', detail: `The link is ${ended}.` };
  }
  if (request.method !== 'GET' && request.headers[consoleHeader] === undefined) {
    const detail = `A request that changes data must have the header ${consoleHeader}.`;
    return { kind: 'refused', status: 403, code: 'operate.forbidden', detail };
  }
  const wait = rates.take(browser, runtime.clock.now());
  if (wait.kind === 'wait') {
    const detail = 'Too many requests from this browser.';
    return { kind: 'wait', status: 429, code: 'operate.busy', detail, seconds: wait.seconds };
  }
  const name = `${link.partner} (onboarding)`;
  const caller = { tokenId: linkId, grantId: linkId, name, integrations: [link.integration] };
  return { kind: 'known', caller: { ...caller, role: 'partner', kind: 'session' }, link };
}
