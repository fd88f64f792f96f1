import { ReservationApi } from './api.ts';
import type { Guard, TokenServer } from './auth/guard.ts';
import { type Answer, type Exchange, problem, type Reply } from './exchange.ts';
import type { FaultBox } from './faults/rule.ts';
import type { Twist } from './faults/twist.ts';
export interface GateParts {
  readonly api: ReservationApi;
  readonly further: readonly { answer(exchange: Exchange): Answer | undefined }[];
  readonly guard: Guard;
  readonly tokens: TokenServer | undefined;
  readonly takeSlot: ReturnType<typeof rateLimit> | undefined;
  readonly faults: FaultBox;
  readonly now: () => number;
}

/** Handles a request in this order: faults, the token server, the rate limit, the credentials, the API. */
export function replyTo(parts: GateParts, exchange: Exchange): Reply {
  const isToken = exchange.path === '/oauth/token' || exchange.path === '/auth/login';
  const twists = parts.faults.draw(isToken ? 'token' : (ReservationApi.callOf(exchange) ?? 'list'));
  const plain =
    first(twists, 'instead')?.(exchange) ?? parts.tokens?.handle(exchange) ?? answer(parts, exchange, twists);
  const twisted = twists.reduce((current, twist) => twist.answer?.(current, exchange) ?? current, plain);
  return { answer: twisted, wire: Object.assign({}, ...twists.map((twist) => twist.wire)) };
}

function answer(parts: GateParts, exchange: Exchange, twists: readonly Twist[]): Answer {
  const waitSeconds = parts.takeSlot?.(parts.now());
  if (waitSeconds !== undefined) {
    return problem(429, 'rate_limited', 'Too many requests.', { 'retry-after': String(waitSeconds) });
  }
  const denied = first(twists, 'openDoor') === true ? undefined : parts.guard(exchange);
  if (denied !== undefined)
    return problem(401, 'unauthorized', denied, { 'www-authenticate': 'Bearer realm="reservations"' });
  for (const calls of parts.further) {
    const answer = calls.answer(exchange);
    if (answer !== undefined) return answer;
  }
  return parts.api.answer(exchange, twists);
}

function first<Key extends keyof Twist>(twists: readonly Twist[], key: Key): Twist[Key] | undefined {
  return twists.find((twist) => twist[key] !== undefined)?.[key];
}

/** A sliding window over recent requests, as an API gateway has: the seconds to wait if a request exceeds the rate. */
export function rateLimit({ requests, perSeconds }: { readonly requests: number; readonly perSeconds: number }) {
  let times: number[] = [];
  return (nowMs: number): number | undefined => {
    const startMs = nowMs - perSeconds * 1000;
    times = times.filter((time) => time > startMs);
    const [oldest] = times;
    if (oldest !== undefined && times.length >= requests) return Math.max(1, Math.ceil((oldest - startMs) / 1000));
    times.push(nowMs);
    return undefined;
  };
}
