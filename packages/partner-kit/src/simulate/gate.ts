import { ReservationApi } from './api.ts';
import type { Guard } from './auth/guard.ts';
import type { LoginServer } from './auth/login.ts';
import type { OAuthServer } from './auth/oauth.ts';
import { type Answer, type Exchange, problem } from './exchange.ts';
import type { FaultBox } from './faults/rule.ts';

import type { Twist } from './faults/twist.ts';
import type { ReservationFeed } from './feed.ts';
import type { OtaApi } from './ota.ts';
import type { RateLimit } from './rate-limit.ts';
import type { Reply } from './server.ts';
import type { Subscriptions } from './subscriptions.ts';

export interface GateParts {
  readonly api: ReservationApi;
  readonly feed: ReservationFeed;
  readonly ota: OtaApi;
  readonly subscriptions: Subscriptions;
  readonly guard: Guard;
  readonly oauth: OAuthServer | undefined;
  readonly login: LoginServer | undefined;
  readonly limit: RateLimit | undefined;
  readonly faults: FaultBox;
  readonly now: () => number;
}

/** Handles a request in this order: faults, the token server, the rate limit, the credentials, the API. */
export function replyTo(parts: GateParts, exchange: Exchange): Reply {
  const isToken = exchange.path === '/oauth/token' || exchange.path === '/auth/login';
  const twists = parts.faults.draw(isToken ? 'token' : (ReservationApi.callOf(exchange) ?? 'list'));
  const plain =
    first(twists, 'instead')?.(exchange) ??
    parts.oauth?.handle(exchange) ??
    parts.login?.handle(exchange) ??
    answer(parts, exchange, twists);
  const twisted = twists.reduce((current, twist) => twist.answer?.(current, exchange) ?? current, plain);
  return { answer: twisted, wire: Object.assign({}, ...twists.map((twist) => twist.wire)) };
}

function answer(parts: GateParts, exchange: Exchange, twists: readonly Twist[]): Answer {
  const waitSeconds = parts.limit?.take(parts.now());
  if (waitSeconds !== undefined) {
    return problem(429, 'rate_limited', 'Too many requests.', { 'retry-after': String(waitSeconds) });
  }
  const denied = first(twists, 'openDoor') === true ? undefined : parts.guard(exchange);
  if (denied !== undefined)
    return problem(401, 'unauthorized', denied, { 'www-authenticate': 'Bearer realm="reservations"' });
  return (
    parts.feed.answer(exchange) ??
    parts.ota.answer(exchange) ??
    parts.subscriptions.answer(exchange) ??
    parts.api.answer(exchange, twists)
  );
}

function first<Key extends keyof Twist>(twists: readonly Twist[], key: Key): Twist[Key] | undefined {
  return twists.find((twist) => twist[key] !== undefined)?.[key];
}
