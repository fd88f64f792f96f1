import type { ErrorCode } from '../../../errors.ts';
import { pathReader } from '../../../json-path/read.ts';
import { type Asker, noAskCounts, openAsker } from '../../../outbound/ask/ask.ts';
import type { NoAnswer } from '../../../outbound/ask/asked.ts';
import type { RawRecord } from '../../../shape/shape.ts';
import { type EpochMs, type IntegrationName, isObject, type Json } from '../../../terms.ts';
import { addRelated, type RelatedOptions } from '../page/related.ts';
import type { PullPlan, PullPorts } from '../ports.ts';
import { limitsOf } from '../run/limits.ts';
import { partsIn, singleRequest, withRequestedId } from './single-request.ts';

/** The partner's answer to a request for one reservation. */
export type SingleAnswer =
  | { readonly kind: 'found'; readonly body: Json; readonly record: RawRecord; readonly requestedAt: EpochMs }
  /** The partner has no such reservation. */
  | { readonly kind: 'absent' }
  /** Not the requested reservation: another one, because the request is probably a search, or none that can be read. */
  | { readonly kind: 'other'; readonly message: string }
  | NoAnswer;

/** Requests one reservation by its id, and the related tables that it refers to. */
export async function askSingle(
  asker: Asker,
  { settings, brand }: PullPlan,
  id: string,
  options: RelatedOptions,
): Promise<SingleAnswer> {
  if (settings.single === undefined) {
    return { kind: 'failed', code: 'pull.no_single', message: 'the connector has no single request' };
  }
  const template = settings.single;
  const single = (body: Json) => brand.shapers.single.single(body);
  const request = singleRequest(template, settings, id);
  if (request === undefined) {
    const message = `The id does not have the ${partsIn(template)} parts that pull.single needs.`;
    return { kind: 'other', message };
  }
  const hasRows = (body: Json) => {
    const read = single(withRequestedId(body, template, id));
    return read.kind === 'ok' && read.record.key !== '';
  };
  const asked = await asker.ask(request, { canShrink: false, firstPage: true, counts: options.counts, hasRows });
  if (asked.kind === 'failed' && asked.code === 'pull.not_found') return { kind: 'absent' };
  if (asked.kind !== 'answer') return asked;
  const { body: answer, requestedAt } = asked;
  if (answer === undefined) return { kind: 'absent' };
  const body = withRequestedId(answer, template, id);
  const read = single(body);
  if (read.kind === 'invalid') return read.isEmpty ? { kind: 'absent' } : { kind: 'other', message: read.message };
  const { record } = read;
  if (record.key.trim() !== id.trim()) {
    const what = record.key === '' ? 'without a reservation id' : 'with another reservation';
    return { kind: 'other', message: `The partner answered ${what}.` };
  }
  if (settings.related.length === 0) return { kind: 'found', body, record, requestedAt };
  const got = await addRelated(asker, settings, { body, rows: [record.value] }, options);
  if (got.kind !== 'body') return got;
  const whole = single(got.body);
  if (whole.kind === 'invalid') return { kind: 'other', message: whole.message };
  return { kind: 'found', body: got.body, record: whole.record, requestedAt };
}

export type Single =
  | Extract<SingleAnswer, { kind: 'found' | 'absent' }>
  /** A retry may succeed. */
  | { readonly kind: 'later'; readonly code: ErrorCode; readonly message: string; readonly afterMs?: number }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string };

const passing: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'pull.server_error',
  'pull.unreachable',
  'pull.timeout',
  'pull.rate_limited',
  'pull.token_failed',
  'pull.breaker_open',
]);

/** Fetches one reservation by `pull.single`, with the credentials, circuit, rate and waits of a run. */
export async function fetchSingle(
  ports: PullPorts,
  integration: IntegrationName,
  id: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<Single> {
  const planned = await ports.plan(integration);
  if (planned.kind === 'unavailable') return { kind: 'failed', code: planned.code, message: planned.message };
  const asker = openAsker(ports, planned.plan, { parkable: true, atOpenCircuit: () => 'fail', signal });
  const options = { counts: noAskCounts(), mostPages: limitsOf(ports).pages };
  return resultOf(await askSingle(asker, planned.plan, id, options));
}

export type FetchedGuest = Exclude<Single, { kind: 'found' }> | Omit<Extract<Single, { kind: 'found' }>, 'record'>;

/** Fetches one guest by `pull.guest`. */
export async function fetchGuest(
  ports: PullPorts,
  integration: IntegrationName,
  id: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<FetchedGuest> {
  const planned = await ports.plan(integration);
  if (planned.kind === 'unavailable') return { kind: 'failed', code: planned.code, message: planned.message };
  const { settings } = planned.plan;
  const request = settings.guest && singleRequest(settings.guest, settings, id);
  if (request === undefined) {
    return { kind: 'failed', code: 'pull.no_single', message: 'the connector has no request for one guest' };
  }
  const asker = openAsker(ports, planned.plan, { parkable: true, atOpenCircuit: () => 'fail', signal });
  const asked = await asker.ask(request, { canShrink: false, firstPage: true, counts: noAskCounts() });
  if (asked.kind === 'failed' && asked.code === 'pull.not_found') return { kind: 'absent' };
  if (asked.kind !== 'answer') return resultOf(asked) as Exclude<Single, { kind: 'found' }>;
  const { root_path: root } = settings.guest ?? {};
  const body = root === undefined || asked.body === undefined ? asked.body : pathReader(root)(asked.body);
  return isObject(body) ? { kind: 'found', body, requestedAt: asked.requestedAt } : { kind: 'absent' };
}

function resultOf(asked: SingleAnswer): Single {
  switch (asked.kind) {
    case 'found':
    case 'absent':
      return asked;
    case 'other':
      return { kind: 'failed', code: 'pull.wrong_shape', message: asked.message };
    case 'park':
      return {
        kind: 'later',
        code: 'pull.rate_limited',
        message: `waiting for the partner (${asked.reason})`,
        afterMs: asked.ms,
      };
    case 'stopped':
      return { kind: 'later', code: 'pull.unreachable', message: 'the node is shutting down', afterMs: 0 };
    case 'shrink':
    case 'failed': {
      const { code, message } = asked;
      return { kind: passing.has(code) ? 'later' : 'failed', code, message };
    }
  }
}
