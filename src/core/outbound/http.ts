import type { Dispatcher } from 'undici';
import { urlFault } from '../../kit/plain-url.ts';
import { agentFor, checkBeforeProxy, type HttpSettings } from './http/connect.ts';
import { acceptedEncodings, type Expected, HttpExchange, mostBytes, type Response } from './http/exchange.ts';
import { type FailureReason, failureReason } from './http/failure.ts';

export type { FailureReason } from './http/failure.ts';

/**
 * The HTTP client for addresses that other people configured. Whatever the other side does, a request ends by its
 * deadline, holds at most what is expected of its answer, goes to public addresses only (unless allowed) and never follows a redirect, because a
 * redirect would send credentials to an address that nobody configured. Every failure is a value; nothing throws.
 */
export interface Http {
  request(exchange: Exchange): Promise<Answered>;
  close(): Promise<void>;
}

export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** For the exchange as a whole, from name resolution to the last byte. */
  readonly deadlineMs: number;
  /** Connect timeout; ten seconds by default. */
  readonly connectMs?: number;
  /** The longest time without a byte. */
  readonly idleMs: number;
  readonly expects: Expected;
  readonly signal?: AbortSignal;
}

export interface HttpAnswer extends Response {
  readonly kind: 'answer';
  readonly durationMs: number;
}

interface Failed {
  readonly kind: 'failed';
  readonly reason: FailureReason;
  /** Names the host at most: a path or query may hold a key. */
  readonly message: string;
  readonly durationMs: number;
}

export type Answered = HttpAnswer | Failed;

const usualConnectMs = 10_000;
const redirects = new Set([301, 302, 303, 307, 308]);

export function openHttp(settings: HttpSettings): Http {
  const limits = { connections: settings.connections ?? 256, pipelining: 1, maxHeaderSize: 64 * 1024 };
  // A pool has one connect timeout for all its requests, so each timeout has its own pool.
  const dispatchers = new Map<number, Dispatcher>();

  function dispatcherFor(connectTimeoutMs: number): Dispatcher {
    const known = dispatchers.get(connectTimeoutMs);
    if (known !== undefined) return known;
    const made = agentFor(settings, connectTimeoutMs, limits);
    dispatchers.set(connectTimeoutMs, made);
    return made;
  }

  function send(exchange: HttpExchange, url: URL, asked: Exchange): void {
    exchange.send(dispatcherFor(asked.connectMs ?? usualConnectMs), url, {
      method: asked.method as Dispatcher.HttpMethod,
      headers: { 'user-agent': settings.userAgent, 'accept-encoding': acceptedEncodings, ...asked.headers },
      body: asked.body ?? null,
      headersTimeout: asked.idleMs,
      bodyTimeout: asked.idleMs,
    });
  }

  return {
    async request(asked) {
      const startedAt = performance.now();
      const failed = (reason: FailureReason, message: string): Failed => ({
        kind: 'failed',
        reason,
        message,
        durationMs: performance.now() - startedAt,
      });
      const fault = urlFault(asked.url);
      if (fault !== undefined) return failed('blocked', fault);
      const url = new URL(asked.url);
      const exchange = new HttpExchange(mostBytes(asked.expects));
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        exchange.cut();
      }, asked.deadlineMs);
      const giveUp = () => exchange.cut();
      if (asked.signal?.aborted) giveUp();
      asked.signal?.addEventListener('abort', giveUp, { once: true });
      try {
        const check = checkBeforeProxy(settings, url.hostname);
        const verdict = check && (await Promise.race([check, cutOff(exchange)]));
        if (verdict === 'blocked') {
          return failed('blocked', `${url.host} is or resolves to a private, loopback or link-local address`);
        }
        if (verdict === 'unresolved') {
          const message = `${url.host} has no address here, and a name that only the proxy knows may be private`;
          return failed('dns', message);
        }
        send(exchange, url, asked);
        const answer = await exchange.response;
        if (redirects.has(answer.status)) {
          return failed('redirect', `${url.host} answered ${answer.status}${redirectTarget(answer.headers, url)}`);
        }
        if (answer.status < 100) return failed('protocol', `${url.host} answered with an invalid HTTP status`);
        return { kind: 'answer', ...answer, durationMs: performance.now() - startedAt };
      } catch (error) {
        if (isLate) return failed('timeout', `${url.host} did not finish within ${asked.deadlineMs} ms`);
        if (asked.signal?.aborted) return failed('aborted', `the request to ${url.host} was aborted`);
        return failed(failureReason(error) ?? 'protocol', `${url.host}: ${explanation(error)}`);
      } finally {
        clearTimeout(timer);
        asked.signal?.removeEventListener('abort', giveUp);
      }
    },
    close: async () => {
      await Promise.all([...dispatchers.values()].map((dispatcher) => dispatcher.destroy()));
    },
  };
}

/** Rejects when the exchange is cut. */
const cutOff = (exchange: HttpExchange): Promise<never> => exchange.response as Promise<never>;

/** In words for an operator, with the code for those who search for it. */
const inWords: Partial<Record<FailureReason, string>> = {
  timeout: 'no answer in time',
  reset: 'the connection was closed before the answer was complete',
  refused: 'no connection',
  dns: 'the name has no address',
};

/** The client's message for other known errors. The text of an unknown error may quote the answer, so it is not used. */
function explanation(error: unknown): string {
  const reason = failureReason(error);
  const words = reason && inWords[reason];
  const { code } = error as NodeJS.ErrnoException;
  if (words !== undefined) return code === undefined ? words : `${words} (${code})`;
  if (reason === undefined) return 'the answer is not valid HTTP';
  if (reason === 'unsendable') return 'the request is not valid HTTP: check its method and its headers';
  // The message quotes the names in the certificate.
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'its certificate is for another host';
  return (error as Error).message || String(code);
}

function redirectTarget(headers: HttpAnswer['headers'], from: URL): string {
  const target = headers.location === undefined ? null : URL.parse(headers.location, from);
  if (target === null) return '';
  if (target.hostname !== from.hostname) return ' to another host';
  return target.protocol === from.protocol ? ' to another path of itself' : ` to ${target.protocol}//${from.hostname}`;
}
