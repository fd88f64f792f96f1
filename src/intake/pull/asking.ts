import type { ErrorCode } from '../../errors.ts';
import type { Answer, Answered } from '../../kit/http.ts';
import { ruleFor } from './actions.ts';
import { readAdapted } from './adapter.ts';
import type { AdmissionGate } from './admission.ts';
import { partnerMessage, type Read, readAnswer } from './answer.ts';
import type { Asked, AskerOptions, AskOptions, NoAnswer } from './ask.ts';
import type { Credentials } from './auth/credentials.ts';
import { Patience } from './patience.ts';
import type { PullPlan, PullPorts } from './ports.ts';
import type { OpenRequest, WireRequest } from './request.ts';

interface Context {
  readonly ports: PullPorts;
  readonly plan: PullPlan;
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
  readonly #patience: Patience;
  /** A 401 renews the credentials once. */
  #hasRenewed = false;

  constructor(context: Context, asked: AskOptions) {
    this.#context = context;
    this.#asked = asked;
    const { ports, plan, options } = context;
    const { counts, tried } = asked;
    this.#patience = new Patience({
      ports,
      integration: plan.settings.integration,
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
    for (let rested = false; ; ) {
      const admission = await gate.admit(rested);
      if (admission.kind === 'go') return undefined;
      const { ms, reason } = admission;
      const atOpenCircuit = reason === 'breaker' && !options.parkable ? options.atOpenCircuit() : 'wait';
      if (atOpenCircuit === 'return') return this.#patience.park(ms, reason);
      if (atOpenCircuit === 'fail') {
        const message = `the circuit to ${new URL(gate.api).host} is open for another ${Math.ceil(ms / 1000)} s after repeated failures`;
        return { kind: 'failed', code: 'pull.breaker_open', message };
      }
      const ended = await this.#patience.waitOrPark(ms, reason);
      // The wait for the rate is a reserved slot: after it, the request goes out.
      if (ended !== undefined || reason === 'rate') return ended;
      rested ||= reason === 'retry_after';
    }
  }

  /** Undefined when the request is to be repeated. */
  async #attempt(request: OpenRequest): Promise<Asked | undefined> {
    const { credentials, gate } = this.#context;
    const authorized = await credentials.authorize(request);
    if (authorized.kind === 'failed') {
      const { code, message, passing } = authorized;
      return passing ? this.#patience.retry(code, message) : this.#authFailed(code, message);
    }
    const requestedAt = this.#context.ports.clock.now();
    this.#asked.counts.requests++;
    const answered = await this.#send(authorized.wire);
    const rule = ruleFor(answered);
    if (rule.action === 'stop') return { kind: 'stopped' };
    if (rule.action !== 'parse' && rule.action !== 'empty') gate.revoke();
    const message = this.#describe(answered);
    if (rule.counts) await gate.failed(message);
    else if (answered.kind === 'answer') await gate.succeeded();
    switch (rule.action) {
      case 'parse':
      case 'empty': {
        const answer = answered as Answer;
        const read = rule.action === 'empty' ? undefined : await this.#read(answer);
        if (read?.kind === 'unreadable') {
          const { code, message: why } = read;
          return read.passing ? this.#patience.retry(code, why) : { kind: 'failed', code, message: why };
        }
        await credentials.worked();
        const { headers, bytes, durationMs } = answer;
        const about = { headers, url: authorized.wire.url, requestedAt, durationMs, bytes: bytes.length };
        return { kind: 'answer', ...about, ...(read !== undefined && { body: read.body }) };
      }
      case 'again':
        return this.#patience.retry(rule.code, message, answered);
      case 'wait':
        return this.#patience.obey(rule.code, message, answered);
      case 'shrink':
        return this.#shrink(rule.code, message, answered);
      case 'renew':
        return this.#renew(rule.code, message);
      case 'fail':
        return { kind: 'failed', code: rule.code, message };
    }
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
      maxBytes,
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
  async #shrink(code: ErrorCode, message: string, answered: Answered): Promise<NoAnswer | undefined> {
    const { canShrink, firstPage } = this.#asked;
    if (canShrink && (firstPage || this.#patience.hasFailed)) return { kind: 'shrink', code, message };
    if (code === 'pull.too_large') return { kind: 'failed', code, message };
    return this.#patience.retry(code, message, answered);
  }

  async #renew(code: ErrorCode, message: string): Promise<NoAnswer | undefined> {
    if (this.#hasRenewed) return this.#authFailed(code, message);
    this.#hasRenewed = true;
    await this.#context.credentials.renew();
    return undefined;
  }

  async #authFailed(code: ErrorCode, message: string): Promise<NoAnswer> {
    const { ports, plan } = this.#context;
    const { integration } = plan.settings;
    await ports.partners.authFailed(integration, plan.target.integrationVersion, message);
    ports.log.error(
      { integration, code, reason: message },
      'pull: the partner refused the credentials; scheduled runs are paused until they are corrected',
    );
    return { kind: 'failed', code, message };
  }

  #describe(answered: Answered): string {
    if (answered.kind === 'failed') return answered.message;
    const said =
      answered.status < 300 ? undefined : partnerMessage(answered.bytes, this.#context.credentials.secrets());
    return `the partner answered ${answered.status}${said === undefined ? '' : `: ${said}`}`;
  }
}
