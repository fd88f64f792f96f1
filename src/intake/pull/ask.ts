import type { ErrorCode } from '../../errors.ts';
import type { Answer, Answered } from '../../kit/http.ts';
import { retryAfterMs } from '../../kit/retry-after.ts';
import type { EpochMs, Json } from '../../terms.ts';
import { ruleFor } from './actions.ts';
import { readAdapted } from './adapter.ts';
import { partnerMessage, type Read, readAnswer } from './answer.ts';
import { type Credentials, credentialsFor } from './auth/credentials.ts';
import { backoffMs, mostTries, retryAfterBounds } from './delays.ts';
import { limitsOf } from './limits.ts';
import type { PullPlan, PullPorts } from './ports.ts';
import type { OpenRequest } from './request.ts';
import type { Tried, Waiting } from './run-state.ts';

/** What came of asking for one page, all attempts and waits included. */
export type Asked =
  | {
      readonly kind: 'answer';
      /** Absent for an answer that says by its status that there is nothing. */
      readonly body?: Json;
      readonly headers: Readonly<Record<string, string>>;
      readonly url: string;
      /** When the attempt that was answered went out. */
      readonly requestedAt: EpochMs;
      readonly durationMs: number;
      readonly bytes: number;
    }
  | { readonly kind: 'shrink'; readonly code: ErrorCode; readonly message: string }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string }
  | { readonly kind: 'park'; readonly ms: number; readonly reason: Waiting; readonly tried: Tried }
  | { readonly kind: 'stopped' };

/** Counted while asking, taken up by whoever commits next. */
export interface AskCounts {
  requests: number;
  retries: number;
  waitedMs: number;
}

export interface AskOptions {
  /** A window of several days can be halved instead of being asked for again. */
  readonly canShrink: boolean;
  /** Nothing of the window has been read yet. */
  readonly firstPage: boolean;
  /** What the request has been through before it was put off. */
  readonly tried?: Tried;
  readonly counts: AskCounts;
}

export interface Asker {
  ask(request: OpenRequest, options: AskOptions): Promise<Asked>;
}

export interface AskerOptions {
  /** Long waits give the place to another run instead of holding it. */
  readonly parkable: boolean;
  /** Whether a partner that is given rest is waited for, where the run cannot be put off. */
  isPatient(): boolean;
  readonly signal: AbortSignal;
  readonly onWait?: (reason: Waiting, ms: number) => void;
}

const mostWaits = 10;

/**
 * How long an admission without reserve holds for the requests that follow. Asked for before each page, it held a poll of unchanged
 * pages at 18,700 records a second in the place of 20,200; what other nodes learn of the partner reaches this one so much later at
 * most.
 */
const admittedMs = 100;

/** Until when the next request of this asker may go out unasked. */
interface Admitted {
  untilMs: EpochMs;
}

/** Asks a partner with everything that protects both sides: admission, credentials, deadlines, retries, waits. */
export function openAsker(ports: PullPorts, plan: PullPlan, options: AskerOptions): Asker {
  const credentials = credentialsFor(ports, plan);
  const admitted: Admitted = { untilMs: 0 };
  return { ask: (request, asked) => new Asking(ports, plan, credentials, options, asked, admitted).run(request) };
}

class Asking {
  readonly #ports: PullPorts;
  readonly #plan: PullPlan;
  readonly #credentials: Credentials;
  readonly #options: AskerOptions;
  readonly #asked: AskOptions;
  readonly #admitted: Admitted;
  readonly #api: string;
  #failures: number;
  #waits: number;
  #renewed = false;
  /** Nothing is counted against the partner, so that a success need not be told to the store. */
  #clean = false;

  constructor(
    ports: PullPorts,
    plan: PullPlan,
    credentials: Credentials,
    options: AskerOptions,
    asked: AskOptions,
    admitted: Admitted,
  ) {
    this.#ports = ports;
    this.#plan = plan;
    this.#credentials = credentials;
    this.#options = options;
    this.#asked = asked;
    this.#admitted = admitted;
    this.#failures = asked.tried?.failures ?? 0;
    this.#waits = asked.tried?.waits ?? 0;
    this.#api = new URL(plan.settings.baseUrl).origin;
  }

  async run(request: OpenRequest): Promise<Asked> {
    for (;;) {
      if (this.#options.signal.aborted) return { kind: 'stopped' };
      const refused = await this.#admission();
      if (refused !== undefined) return refused;
      const ended = await this.#attempt(request);
      if (ended !== undefined) return ended;
      this.#asked.counts.retries++;
    }
  }

  /** Waits until a request may go out; a value where it may not within reason. */
  async #admission(): Promise<Asked | undefined> {
    const { integration, rate } = this.#plan.settings;
    const { parkMs } = limitsOf(this.#ports);
    const now = this.#ports.clock.now();
    const leftMs = this.#admitted.untilMs - now;
    // More than it ever was: the clock was set back.
    if (leftMs > 0 && leftMs <= admittedMs) {
      this.#clean = true;
      return undefined;
    }
    for (let rested = false; ; ) {
      const admission = await this.#ports.partners.admit(this.#api, integration, { rate, rested, mostMs: parkMs });
      if (admission.kind === 'go') {
        this.#clean = admission.clean;
        // A budget is taken from for every request.
        if (admission.clean && rate === undefined) this.#admitted.untilMs = now + admittedMs;
        return undefined;
      }
      const { ms, reason } = admission;
      if (reason === 'breaker' && !this.#options.parkable && !this.#options.isPatient()) {
        const message = `requests to ${new URL(this.#api).host} rest for another ${Math.ceil(ms / 1000)} s after repeated failures`;
        return { kind: 'failed', code: 'pull.breaker_open', message };
      }
      if (this.#options.parkable && ms > parkMs) return this.#park(ms, reason);
      await this.#wait(ms, reason);
      if (this.#options.signal.aborted) return { kind: 'stopped' };
      if (reason === 'rate') return undefined;
      rested ||= reason === 'retry_after';
    }
  }

  /** One attempt; undefined when there is to be another. */
  async #attempt(request: OpenRequest): Promise<Asked | undefined> {
    const { settings } = this.#plan;
    const authorized = await this.#credentials.authorize(request);
    if (authorized.kind === 'failed') {
      if (authorized.passing) return this.#again(authorized.code, authorized.message);
      return this.#authFailed(authorized.code, authorized.message);
    }
    const { wire } = authorized;
    const requestedAt = this.#ports.clock.now();
    this.#asked.counts.requests++;
    const answered = await this.#ports.http.request({
      method: wire.method,
      url: wire.url,
      headers: wire.headers,
      ...(wire.body !== undefined && { body: wire.body }),
      connectMs: settings.connectMs,
      deadlineMs: settings.deadlineMs,
      idleMs: settings.idleMs,
      maxBytes: settings.maxBytes,
      signal: this.#options.signal,
    });
    const rule = ruleFor(answered);
    if (rule.action === 'stop') return { kind: 'stopped' };
    if (rule.action !== 'parse' && rule.action !== 'empty') this.#admitted.untilMs = 0;
    const message = this.#describe(answered);
    if (rule.counts) await this.#ports.partners.failed(this.#api, limitsOf(this.#ports).cooldownMs, message);
    else if (answered.kind === 'answer' && !this.#clean) await this.#ports.partners.succeeded(this.#api);
    switch (rule.action) {
      case 'parse':
      case 'empty': {
        const answer = answered as Answer;
        const read = rule.action === 'empty' ? undefined : await this.#read(answer);
        if (read?.kind === 'unreadable') {
          return read.passing ? this.#again(read.code, read.message) : { kind: 'failed', ...failure(read) };
        }
        await this.#credentials.worked();
        const { headers, bytes, durationMs } = answer;
        const about = { headers, url: wire.url, requestedAt, durationMs, bytes: bytes.length };
        return { kind: 'answer', ...about, ...(read !== undefined && { body: read.body }) };
      }
      case 'again':
        return this.#again(rule.code, message, answered);
      case 'wait':
        return this.#rest(rule.code, message, answered as Answer);
      case 'shrink':
        return this.#shrink(rule.code, message, answered);
      case 'renew':
        if (this.#renewed) return this.#authFailed(rule.code, message);
        this.#renewed = true;
        await this.#credentials.renew();
        return undefined;
      case 'fail':
        return { kind: 'failed', code: rule.code, message };
    }
  }

  #read(answer: Answer): Read | Promise<Read> {
    const { adapter } = this.#plan.settings;
    const contentType = answer.headers['content-type'];
    return adapter === undefined
      ? readAnswer(answer.bytes, contentType)
      : readAdapted(adapter, answer.bytes, contentType);
  }

  /** Pages that were read already are worth one more try of the next before the window is halved and begun anew. */
  async #shrink(code: ErrorCode, message: string, answered: Answered): Promise<Asked | undefined> {
    const { canShrink, firstPage } = this.#asked;
    if (canShrink && (firstPage || this.#failures > 0)) return { kind: 'shrink', code, message };
    if (code === 'pull.too_large') return { kind: 'failed', code, message };
    return this.#again(code, message, answered);
  }

  async #again(code: ErrorCode, message: string, answered?: Answered): Promise<Asked | undefined> {
    this.#failures++;
    if (this.#failures >= mostTries) return { kind: 'failed', code, message };
    const named = answered?.kind === 'answer' ? this.#named(answered) : undefined;
    const ms = named ?? backoffMs(this.#failures, this.#ports.random());
    return this.#restFor(ms, 'backoff', named !== undefined);
  }

  async #rest(code: ErrorCode, message: string, answer: Answer): Promise<Asked | undefined> {
    this.#waits++;
    if (this.#waits > mostWaits) return { kind: 'failed', code, message };
    const ms = this.#named(answer) ?? Math.max(1_000, backoffMs(this.#waits, this.#ports.random()));
    return this.#restFor(ms, 'retry_after', true);
  }

  async #restFor(ms: number, reason: Waiting, stored: boolean): Promise<Asked | undefined> {
    if (stored) await this.#ports.partners.pause(this.#plan.settings.integration, ms);
    if (this.#options.parkable && ms > limitsOf(this.#ports).parkMs) {
      return this.#park(ms, reason);
    }
    await this.#wait(ms, reason);
    return this.#options.signal.aborted ? { kind: 'stopped' } : undefined;
  }

  #park(ms: number, reason: Waiting): Asked {
    const before = this.#asked.tried?.waitedMs ?? 0;
    // Our own rate is no fault of the partner's.
    const waitedMs = reason === 'rate' ? before : before + ms;
    return { kind: 'park', ms, reason, tried: { failures: this.#failures, waits: this.#waits, waitedMs } };
  }

  #named(answer: Answer): number | undefined {
    return retryAfterMs(answer.headers['retry-after'], this.#ports.clock.now(), retryAfterBounds);
  }

  async #wait(ms: number, reason: Waiting): Promise<void> {
    this.#options.onWait?.(reason, ms);
    this.#asked.counts.waitedMs += ms;
    await this.#ports.clock.wait(ms, this.#options.signal);
  }

  async #authFailed(code: ErrorCode, message: string): Promise<Asked> {
    const { settings, target } = this.#plan;
    await this.#ports.partners.authFailed(settings.integration, target.integrationVersion, message);
    this.#ports.log.error(
      { integration: settings.integration, code, reason: message },
      'the partner refuses the credentials: pulling is paused until they are corrected',
    );
    return { kind: 'failed', code, message };
  }

  #describe(answered: Answered): string {
    if (answered.kind === 'failed') return answered.message;
    const said = answered.status < 300 ? undefined : partnerMessage(answered.bytes, this.#credentials.secrets());
    return `the partner answered ${answered.status}${said === undefined ? '' : `: ${said}`}`;
  }
}

function failure(read: Extract<Read, { kind: 'unreadable' }>): { code: ErrorCode; message: string } {
  return { code: read.code, message: read.message };
}
