import type { ErrorCode } from '../../../errors.ts';
import { urlFault } from '../../../kit/plain-url.ts';
import type { Json } from '../../../terms.ts';
import { type Credentials, credentialsFor } from '../auth/credentials.ts';
import type { Answered } from '../http.ts';
import { errorIn, type Rule, ruleFor } from './actions.ts';
import { readAdapted } from './adapter.ts';
import { beginningOf, masked, partnerMessage, readAnswer, wordsIn } from './answer.ts';
import { exchangeOf } from './exchange.ts';
import {
  type AskCounts,
  type Asked,
  type AskerOptions,
  type AskOptions,
  type AskPlan,
  type AskPorts,
  type Failure,
  limitsOf,
  type NoAnswer,
} from './ports.ts';
import type { OpenRequest } from './request.ts';
import { retriesOf } from './retries.ts';

export function noAskCounts(): AskCounts {
  return { requests: 0, retries: 0, waitedMs: 0 };
}

export type Asker = ReturnType<typeof openAsker>;

/** Sends requests to a partner with admission, credentials, deadlines, retries and waits. */
export function openAsker(ports: AskPorts, plan: AskPlan, options: AskerOptions) {
  const credentials = credentialsFor(ports, plan);
  const gate = gateOf(ports, plan);
  return {
    ask: (request: OpenRequest, asked: AskOptions) => ask({ ports, plan, options, credentials, gate }, request, asked),
    /** The partner's own words in an answer that cannot be used, without credentials. */
    wordsIn: (body: Json) => masked(wordsIn(body), credentials.secrets()),
  };
}

/** Decides whether a request may be sent now: Retry-After is over, the circuit is closed, and the rate has a slot. */
export function gateOf(ports: AskPorts, { settings: { base_url: baseUrl, account, rate } }: AskPlan) {
  const api = new URL(baseUrl).origin;
  const { parkMs: mostMs, cooldownMs } = limitsOf(ports);
  let isClean = false;
  return {
    api,
    /** `hasWaited`: the caller has waited for as long as Retry-After asked. */
    async admit(hasWaited: boolean) {
      const admission = await ports.partners.admit(api, account, { rate, hasWaited, mostMs });
      if (admission.kind === 'go') isClean = admission.clean;
      return admission;
    },
    /** Writes nothing if the store has no failure recorded for the API, the usual case. */
    succeeded: async () => (isClean ? undefined : ports.partners.succeeded(api)),
    failed: (what: string) => ports.partners.failed(api, cooldownMs, what),
  };
}

interface Context {
  readonly ports: AskPorts;
  readonly plan: AskPlan;
  readonly options: AskerOptions;
  readonly credentials: Credentials;
  readonly gate: ReturnType<typeof gateOf>;
}

/**
 * One request until it is answered or given up:
 *
 *   admission ──▶ credentials ──▶ send ──▶ parse ──▶ answer
 *       ▲                           │
 *       └── retry, wait, renew ─────┴──▶ shrink | failed | park | stopped
 */
async function ask(
  { ports, plan, options, credentials, gate }: Context,
  request: OpenRequest,
  asked: AskOptions,
): Promise<Asked> {
  const { settings } = plan;
  const retries = retriesOf(ports, settings, options, asked);
  /** A 401 renews the credentials once. */
  let hasRenewed = false;
  for (;;) {
    if (options.signal.aborted) return { kind: 'stopped' };
    const ended = (await admission()) ?? (await attempt());
    if (ended !== undefined) return ended;
    asked.counts.retries++;
  }

  async function admission(): Promise<NoAnswer | undefined> {
    for (let hasWaited = false; ; ) {
      const admitted = await gate.admit(hasWaited);
      if (admitted.kind === 'go') return undefined;
      const { ms, reason } = admitted;
      const atOpenCircuit = reason === 'breaker' && !options.parkable ? options.atOpenCircuit() : 'wait';
      if (atOpenCircuit === 'return') return retries.park(ms, reason);
      if (atOpenCircuit === 'fail') {
        const message = `${new URL(gate.api).host} failed repeatedly and is asked again in ${Math.ceil(ms / 1000)} s`;
        return { kind: 'failed', code: 'pull.breaker_open', message };
      }
      const ended = await retries.waitOrPark(ms, reason);
      // The wait for the rate reserves a slot: after it, the request is sent.
      if (ended !== undefined || reason === 'rate') return ended;
      hasWaited ||= reason === 'retry_after';
    }
  }

  /** Undefined when the request should be repeated. */
  async function attempt(): Promise<Asked | undefined> {
    // As written: signing and sending read the parsed address.
    const fault = urlFault(request.base);
    if (fault !== undefined) return { kind: 'failed', code: 'pull.bad_request', message: `nothing was sent: ${fault}` };
    const authorized = await credentials.authorize(request);
    if (authorized.kind === 'failed') {
      const { passing, kind: _, ...failure } = authorized;
      if (failure.code === 'pull.adapter_failed') return { kind: 'failed', ...failure };
      return passing ? retries.retry(failure) : authFailed(failure);
    }
    const { wire } = authorized;
    const { connectMs, deadlineMs, idleMs, maxBytes, adapter } = settings;
    const limits = { connectMs, deadlineMs, idleMs, expects: { bytes: maxBytes }, signal: options.signal };
    const requestedAt = ports.clock.now();
    asked.counts.requests++;
    const answered = await ports.http.request({ ...wire, ...limits });
    options.onExchange?.(exchangeOf(request, wire, answered, credentials.secrets()));
    const rule = ruleFor(answered);
    if (rule.action === 'stop') return { kind: 'stopped' };
    const failure = failureOf(rule.code, answered);
    if (rule.counts) await gate.failed(failure.message);
    else if (answered.kind === 'answer') await gate.succeeded();
    if (answered.kind === 'failed' || (rule.action !== 'parse' && rule.action !== 'empty')) {
      return react(rule, failure, answered);
    }
    const { headers, bytes, durationMs } = answered;
    const about = { headers, url: wire.url, requestedAt, durationMs, bytes: bytes.length };
    if (rule.action === 'empty') {
      await credentials.worked();
      return { kind: 'answer', ...about };
    }
    const contentType = headers['content-type'];
    const read =
      adapter === undefined
        ? await (options.read ?? readAnswer)(bytes, contentType)
        : await readAdapted(adapter, bytes, contentType);
    if (read.kind === 'unreadable') {
      const { passing, kind: _, ...unreadable } = read;
      if (passing) return retries.retry(unreadable);
      const beginning = beginningOf(bytes, credentials.secrets());
      return { kind: 'failed', ...(beginning !== undefined && { said: beginning }), ...unreadable };
    }
    const { body } = read;
    const error = errorIn(body, settings.errors, () => asked.hasRows?.(body) ?? true);
    if (error !== undefined) {
      const said = masked(error.said, credentials.secrets());
      return react(error.rule, { code: error.rule.code, message: error.message, said }, answered);
    }
    await credentials.worked();
    return { kind: 'answer', ...about, body };
  }

  async function react(rule: Rule, failure: Failure, answered: Answered): Promise<Asked | undefined> {
    switch (rule.action) {
      case 'again':
        return retries.retry(failure, answered);
      case 'wait':
        return retries.waitAsTold(failure, answered);
      case 'shrink':
        // Halving starts the window over, so once pages have been read, the next one is retried first.
        if (asked.canShrink && (asked.firstPage || retries.hasFailed())) return { kind: 'shrink', ...failure };
        if (failure.code === 'pull.too_large') return { kind: 'failed', ...failure };
        return retries.retry(failure, answered);
      case 'renew':
        if (hasRenewed) return authFailed(failure);
        hasRenewed = true;
        await credentials.renew();
        return undefined;
      default:
        return { kind: 'failed', ...failure };
    }
  }

  async function authFailed(failure: Failure): Promise<NoAnswer> {
    const { integration } = settings;
    const { code, message } = failure;
    await ports.partners.authFailed(integration, plan.brand.integrationVersion, message);
    ports.log.error(
      { integration, code, reason: message },
      'pull: the partner refused the credentials; scheduled runs are paused until they are corrected',
    );
    return { kind: 'failed', ...failure };
  }

  function failureOf(code: ErrorCode, answered: Answered): Failure {
    if (answered.kind === 'failed') return { code, message: answered.message };
    const said = answered.status < 300 ? undefined : partnerMessage(answered.bytes, credentials.secrets());
    return { code, message: `the partner answered ${answered.status}`, ...(said !== undefined && { said }) };
  }
}
