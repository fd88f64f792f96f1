import { pullPorts } from '../../composition/pull.ts';
import { addDays, localDateAt } from '../../core/canonical/values.ts';
import { openPage, paginatorFor } from '../../core/intake/pull/page/paginate.ts';
import { addRelated } from '../../core/intake/pull/page/related.ts';
import { limitsOf, type PullPorts } from '../../core/intake/pull/ports.ts';
import { changeStepDays, listRequestOf, listValues, noList } from '../../core/intake/pull/request/list-request.ts';
import { type Read, readAnswer } from '../../core/outbound/ask/answer.ts';
import { noAskCounts, openAsker } from '../../core/outbound/ask/asking.ts';
import type { ShownExchange } from '../../core/outbound/ask/exchange.ts';
import type { WaitReason } from '../../core/outbound/ask/ports.ts';
import { mostTries } from '../../core/outbound/ask/retries.ts';
import type { ErrorCode } from '../../errors.ts';
import { systemClock } from '../../kit/clock.ts';
import type { Offload } from '../../kit/offload.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { IntegrationName, Json } from '../../terms.ts';
import { syncTypes } from '../../terms.ts';
import { httpWithoutCards } from '../privacy/http-without-cards.ts';
import { offThread } from './off-thread.ts';

/** A person waits for the answer. */
const timeoutMs = 20_000;
/** Longer waits (rate limit, open circuit) are reported instead of waited out. */
const pauseMs = 3_000;

interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  /** As sent, without credentials. */
  readonly request?: ShownExchange;
}

export const failed = ({ code, message, request }: Failure) =>
  ({ kind: 'failed', code, message, ...(request && { request }) }) as const;

/** Reports a wait that is too long for a person. */
export function mustWait({ ms, reason }: { readonly ms: number; readonly reason: WaitReason }) {
  const seconds = Math.ceil(ms / 1000);
  return reason === 'breaker'
    ? failed({
        code: 'pull.breaker_open',
        message: `The partner’s API failed repeatedly and is asked again in ${seconds} s.`,
      })
    : failed({ code: 'pull.rate_limited', message: `The partner asks us to wait ${seconds} s.` });
}

/**
 * The ports for a test by a person: a failure is reported to that person, so it raises no alert, opens no circuit and pauses no brand.
 */
export function testPorts(runtime: Runtime, mostBytes = Number.POSITIVE_INFINITY): PullPorts {
  const ports = pullPorts(runtime);
  const partners = { ...ports.partners, failed: async () => undefined, authFailed: async () => undefined };
  const plan: PullPorts['plan'] = async (integration) => {
    const planned = await ports.plan(integration);
    if (planned.kind !== 'ok') return planned;
    const { settings } = planned.plan;
    return {
      kind: 'ok',
      plan: { ...planned.plan, settings: { ...settings, maxBytes: Math.min(settings.maxBytes, mostBytes) } },
    };
  };
  return { ...ports, plan, partners, limits: { parkMs: pauseMs } };
}

/** One page of a day, where somebody without an account makes us ask. A whole list that ignores the days is not read to its end. */
export const mostTestedBytes = 8 * 1024 * 1024;

/** Below this the main thread cleans and reads an answer in some ten milliseconds, less than the way to a worker costs. */
const smallBytes = 512 * 1024;

/** A big answer is cleaned and read in a worker, which returns the beginning of each list: enough to show, and to propose a mapping from. */
const readElsewhere =
  (offload: Offload) =>
  async (bytes: Uint8Array, contentType: string | undefined): Promise<Read> => {
    if (bytes.length <= smallBytes) return readAnswer(bytes, contentType);
    const { buffer } = bytes;
    const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength;
    const read = await offThread({ offload }, 'readSample', { bytes, contentType }, isWhole ? [buffer] : []);
    return read.kind === 'shortened' ? { kind: 'ok', body: JSON.parse(read.text) as Json } : read;
  };

/** Fetches the first page of the first window of the brand's first sync, or of the newest changes, to show how the partner answers. */
export async function fetchSample(runtime: Runtime, integration: IntegrationName, offload = runtime.offload) {
  const usual = testPorts(runtime);
  const planned = await usual.plan(integration);
  if (planned.kind === 'unavailable') return failed(planned);
  const { settings } = planned.plan;
  // An adapter reads on the main thread. Removing the cards of 50 MB takes that thread 250 to 400 ms (`bench samples`, two x64 cores).
  const ports = settings.adapter ? usual : { ...usual, http: httpWithoutCards(runtime.http, smallBytes) };
  const sync = syncTypes.find((type) => settings.syncs[type] !== undefined);
  const chosen = sync && settings.syncs[sync];
  const now = systemClock.now();
  const from = addDays(localDateAt(settings.timezone, now), chosen?.fromDays ?? 0);
  const window = { from, to: addDays(from, Math.min(settings.stepDays, 7) - 1) };
  const about = {
    window,
    timezone: settings.timezone,
    brandId: settings.brandId,
    sync,
    status: chosen?.status,
    since: now - Math.min(settings.since.firstMs, (changeStepDays(settings, { sync }) ?? Infinity) * 86_400_000),
    now,
  };
  const template = listRequestOf(settings, { sync });
  if (template === undefined) return failed(noList);
  const paginator = paginatorFor(settings.pagination);
  const request = openPage(paginator, null, template, settings.base_url, listValues(about, template));
  let sent: ShownExchange | undefined;
  const asker = openAsker(ports, planned.plan, {
    parkable: true,
    atOpenCircuit: () => 'fail',
    signal: AbortSignal.timeout(timeoutMs),
    read: readElsewhere(offload),
    onExchange: (exchange) => {
      sent = exchange;
    },
  });
  const counts = noAskCounts();
  // One attempt: a person who waits prefers the error over a long series of retries.
  const tried = { failures: mostTries - 1, waits: 0, waitedMs: 0 };
  const asked = await asker.ask(request, { canShrink: false, firstPage: true, tried, counts });
  if (asked.kind === 'answer') {
    const body = asked.body ?? null;
    const rows = planned.plan.brand.shapers.pull.rows(body);
    const got = await addRelated(asker, settings, { body, rows }, { counts, tried, mostPages: limitsOf(ports).pages });
    const whole = got.kind === 'body' ? got.body : body;
    return { kind: 'page', sample: JSON.stringify(whole, null, 2), window, ...(sent && { request: sent }) } as const;
  }
  if (asked.kind === 'failed' || asked.kind === 'shrink') return failed({ ...asked, ...(sent && { request: sent }) });
  if (asked.kind === 'park') return mustWait(asked);
  return failed({ code: 'pull.timeout', message: `The partner did not answer within ${timeoutMs / 1000} s.` });
}
