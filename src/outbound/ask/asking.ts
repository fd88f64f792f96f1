import type { ErrorCode } from '../../errors.ts';
import type { Json } from '../../terms.ts';
import type { Credentials } from '../auth/credentials.ts';
import type { Answer, Answered } from '../http.ts';
import { type Rule, ruleFor } from './actions.ts';
import { readAdapted } from './adapter.ts';
import type { AdmissionGate } from './admission.ts';
import { beginningOf, masked, partnerMessage, type Read, readAnswer } from './answer.ts';
import type { Asked, AskerOptions, AskOptions, Failure, NoAnswer } from './asked.ts';
import { errorIn } from './body-errors.ts';
import { exchangeOf } from './exchange.ts';
import type { AskPlan, AskPorts } from './ports.ts';
import { changesPath, type OpenRequest, type WireRequest } from './request.ts';
import { Retries } from './retries.ts';

const dotSegment = 'nothing was sent: a value of "." or ".." would change the path of the request';

interface Context {
  readonly ports: AskPorts;
  readonly plan: AskPlan;
  readonly credentials: Credentials;
  readonly gate: AdmissionGate;
  readonly options: AskerOptions;
}

/**
 * One request until it is answered or given up:
 *
 *   admission ──▶ credentials ──▶ send ──▶ parse ──▶ answer
 *       ▲                           │
 *       └── retry, wait, renew ─────┴──▶ shrink | failed | park | stopped
 */
export class Asking {
  readonly #context: Context;
  readonly #asked: AskOptions;
  readonly #retries: Retries;
  /** A 401 renews the credentials once. */
  #hasRenewed = false;

  constructor(context: Context, asked: AskOptions) {
    this.#context = context;
    this.#asked = asked;
    const { ports, plan, options } = context;
    const { counts, tried } = asked;
    this.#retries = new Retries({
      ports,
      account: plan.settings.account,
      options,
      counts,
      ...(tried && { tried }),
    });
  }

  async run(request: OpenRequest): Promise<Asked> {
    for (;;) {
      if (this.#context.options.signal.aborted) return { kind: 'stopped' };
      const ended = (await this.#admission()) ?? (await this.#attempt(request));
      if (ended !== undefined) return ended;
      this.#asked.counts.retries++;
    }
  }

  async #admission(): Promise<NoAnswer | undefined> {
    const { gate, options } = this.#context;
    for (let hasWaited = false; ; ) {
      const admission = await gate.admit(hasWaited);
      if (admission.kind === 'go') return undefined;
      const { ms, reason } = admission;
      const atOpenCircuit = reason === 'breaker' && !options.parkable ? options.atOpenCircuit() : 'wait';
      if (atOpenCircuit === 'return') return this.#retries.park(ms, reason);
      if (atOpenCircuit === 'fail') {
        const message = `${new URL(gate.api).host} failed repeatedly and is asked again in ${Math.ceil(ms / 1000)} s`;
        return { kind: 'failed', code: 'pull.breaker_open', message };
      }
      const ended = await this.#retries.waitOrPark(ms, reason);
      // The wait for the rate reserves a slot: after it, the request is sent.
      if (ended !== undefined || reason === 'rate') return ended;
      hasWaited ||= reason === 'retry_after';
    }
  }

  /** Undefined when the request should be repeated. */
  async #attempt(request: OpenRequest): Promise<Asked | undefined> {
    const { credentials, gate } = this.#context;
    if (changesPath(request)) return { kind: 'failed', code: 'pull.bad_request', message: dotSegment };
    const authorized = await credentials.authorize(request);
    if (authorized.kind === 'failed') {
      const { passing, kind: _, ...failure } = authorized;
      if (failure.code === 'pull.adapter_failed') return { kind: 'failed', ...failure };
      return passing ? this.#retries.retry(failure) : this.#authFailed(failure);
    }
    const requestedAt = this.#context.ports.clock.now();
    this.#asked.counts.requests++;
    const answered = await this.#send(authorized.wire);
    this.#context.options.onExchange?.(exchangeOf(request, authorized.wire, answered, credentials.secrets()));
    const rule = ruleFor(answered);
    if (rule.action === 'stop') return { kind: 'stopped' };
    const failure = this.#failureOf(rule.code, answered);
    if (rule.counts) await gate.failed(failure.message);
    else if (answered.kind === 'answer') await gate.succeeded();
    if (answered.kind === 'failed' || (rule.action !== 'parse' && rule.action !== 'empty')) {
      return this.#react(rule, failure, answered);
    }
    const read = rule.action === 'empty' ? undefined : await this.#read(answered);
    if (read?.kind === 'unreadable') {
      const { passing, kind: _, ...unreadable } = read;
      if (passing) return this.#retries.retry(unreadable);
      const beginning = beginningOf(answered.bytes, credentials.secrets());
      return { kind: 'failed', ...(beginning !== undefined && { said: beginning }), ...unreadable };
    }
    const error = read && this.#errorIn(read.body);
    if (error !== undefined) return this.#react(error.rule, { ...error.failure, code: error.rule.code }, answered);
    await credentials.worked();
    const { headers, bytes, durationMs } = answered;
    const about = { headers, url: authorized.wire.url, requestedAt, durationMs, bytes: bytes.length };
    return { kind: 'answer', ...about, ...(read !== undefined && { body: read.body }) };
  }

  async #react(rule: Rule, failure: Failure, answered: Answered): Promise<Asked | undefined> {
    switch (rule.action) {
      case 'again':
        return this.#retries.retry(failure, answered);
      case 'wait':
        return this.#retries.waitAsTold(failure, answered);
      case 'shrink':
        return this.#shrink(failure, answered);
      case 'renew':
        return this.#renew(failure, answered);
      default:
        return { kind: 'failed', ...failure };
    }
  }

  #errorIn(body: Json): { readonly rule: Rule; readonly failure: Omit<Failure, 'code'> } | undefined {
    const hasRows = () => this.#asked.hasRows?.(body) ?? true;
    const error = errorIn(body, this.#context.plan.settings.errors, hasRows);
    if (error === undefined) return undefined;
    const { rule, message, said } = error;
    return { rule, failure: { message, said: masked(said, this.#context.credentials.secrets()) } };
  }

  #send(wire: WireRequest): Promise<Answered> {
    const { plan, ports, options } = this.#context;
    const { connectMs, deadlineMs, idleMs, maxBytes } = plan.settings;
    return ports.http.request({
      method: wire.method,
      url: wire.url,
      headers: wire.headers,
      ...(wire.body !== undefined && { body: wire.body }),
      connectMs,
      deadlineMs,
      idleMs,
      expects: { bytes: maxBytes },
      signal: options.signal,
    });
  }

  #read(answer: Answer): Read | Promise<Read> {
    const { adapter } = this.#context.plan.settings;
    const contentType = answer.headers['content-type'];
    return adapter === undefined
      ? readAnswer(answer.bytes, contentType)
      : readAdapted(adapter, answer.bytes, contentType);
  }

  /** Halving starts the window over, so once pages have been read, the next one is retried first. */
  async #shrink(failure: Failure, answered: Answered): Promise<NoAnswer | undefined> {
    const { canShrink, firstPage } = this.#asked;
    if (canShrink && (firstPage || this.#retries.hasFailed)) return { kind: 'shrink', ...failure };
    if (failure.code === 'pull.too_large') return { kind: 'failed', ...failure };
    return this.#retries.retry(failure, answered);
  }

  async #renew(failure: Failure, answered: Answered): Promise<NoAnswer | undefined> {
    if (this.#hasRenewed) return this.#authFailed(failure);
    this.#hasRenewed = true;
    const challenge = answered.kind === 'answer' ? answered.headers['www-authenticate'] : undefined;
    await this.#context.credentials.renew(challenge);
    return undefined;
  }

  async #authFailed(failure: Failure): Promise<NoAnswer> {
    const { ports, plan } = this.#context;
    const { integration } = plan.settings;
    const { code, message } = failure;
    await ports.partners.authFailed(integration, plan.brand.integrationVersion, message);
    ports.log.error(
      { integration, code, reason: message },
      'pull: the partner refused the credentials; scheduled runs are paused until they are corrected',
    );
    return { kind: 'failed', ...failure };
  }

  #failureOf(code: ErrorCode, answered: Answered): Failure {
    if (answered.kind === 'failed') return { code, message: answered.message };
    const said =
      answered.status < 300 ? undefined : partnerMessage(answered.bytes, this.#context.credentials.secrets());
    return { code, message: `the partner answered ${answered.status}`, ...(said !== undefined && { said }) };
  }
}
