import type { ErrorCode } from '../../../../errors.ts';
import { type EpochMs, type IntegrationName, isObject, type Json } from '../../../../terms.ts';
import type { PullSettings } from '../../../documents/pull.ts';
import { pathReader } from '../../../json-path/read.ts';
import { type Asker, noAskCounts, openAsker } from '../../../outbound/ask/asking.ts';
import type { NoAnswer } from '../../../outbound/ask/ports.ts';
import { type OpenRequest, openRequest } from '../../../outbound/ask/request.ts';
import type { RawRecord } from '../../../shape/shape.ts';
import { addRelated, asObject, type RelatedOptions } from '../page/related.ts';
import { limitsOf, type PullPlan, type PullPorts } from '../ports.ts';

/** The partner's answer to a request for one reservation. */
type SingleAnswer =
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

type Single =
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
  signal?: AbortSignal,
): Promise<Single> {
  const opened = await openPlanned(ports, integration, signal);
  if (opened.kind === 'failed') return opened;
  const options = { counts: noAskCounts(), mostPages: limitsOf(ports).pages };
  return resultOf(await askSingle(opened.asker, opened.plan, id, options));
}

export type FetchedGuest = Exclude<Single, { kind: 'found' }> | Omit<Extract<Single, { kind: 'found' }>, 'record'>;

/** Fetches one guest by `pull.guest`. */
export async function fetchGuest(
  ports: PullPorts,
  integration: IntegrationName,
  id: string,
  signal?: AbortSignal,
): Promise<FetchedGuest> {
  const opened = await openPlanned(ports, integration, signal);
  if (opened.kind === 'failed') return opened;
  const { settings } = opened.plan;
  const request = settings.guest && singleRequest(settings.guest, settings, id);
  if (request === undefined) {
    return { kind: 'failed', code: 'pull.no_single', message: 'the connector has no request for one guest' };
  }
  const asked = await opened.asker.ask(request, { canShrink: false, firstPage: true, counts: noAskCounts() });
  if (asked.kind === 'failed' && asked.code === 'pull.not_found') return { kind: 'absent' };
  if (asked.kind !== 'answer') return resultOf(asked) as Exclude<Single, { kind: 'found' }>;
  const { root_path: root } = settings.guest ?? {};
  const body = root === undefined || asked.body === undefined ? asked.body : pathReader(root)(asked.body);
  return isObject(body) ? { kind: 'found', body, requestedAt: asked.requestedAt } : { kind: 'absent' };
}

async function openPlanned(
  ports: PullPorts,
  integration: IntegrationName,
  signal: AbortSignal = new AbortController().signal,
) {
  const planned = await ports.plan(integration);
  if (planned.kind === 'unavailable') return { ...planned, kind: 'failed' } as const;
  const { plan } = planned;
  return {
    kind: 'ok',
    plan,
    asker: openAsker(ports, plan, { parkable: true, atOpenCircuit: () => 'fail', signal }),
  } as const;
}

function resultOf(asked: SingleAnswer): Single {
  switch (asked.kind) {
    case 'found':
    case 'absent':
      return asked;
    case 'other':
      return { kind: 'failed', code: 'pull.wrong_shape', message: asked.message };
    case 'park': {
      const message = `waiting for the partner (${asked.reason})`;
      return { kind: 'later', code: 'pull.rate_limited', message, afterMs: asked.ms };
    }
    case 'stopped':
      return { kind: 'later', code: 'pull.unreachable', message: 'the node is shutting down', afterMs: 0 };
    case 'shrink':
    case 'failed': {
      const { code, message } = asked;
      return { kind: passing.has(code) ? 'later' : 'failed', code, message };
    }
  }
}

type Template = NonNullable<PullSettings['single']>;

/** Undefined if the id does not have the parts that the request sends. */
function singleRequest(
  single: Omit<Template, 'map'>,
  { base_url: baseUrl, brandId }: Pick<PullSettings, 'base_url' | 'brandId'>,
  id: string,
): OpenRequest | undefined {
  const values = { id, brand_id: brandId };
  if (single.split === undefined) return openRequest(single, baseUrl, values);
  const parts = id.split(single.split).map((part) => part.trim());
  if (parts.length !== partsIn(single) || parts.includes('')) return undefined;
  return openRequest(single, baseUrl, {
    ...values,
    ...Object.fromEntries(parts.map((part, index) => [`id.${index}`, part])),
  });
}

/** How many ids the request sends: {id.0}, {id.1}. */
function partsIn({ path, query, body, headers }: Pick<Template, 'path' | 'query' | 'body' | 'headers'>): number {
  const used = JSON.stringify([path, query, body, headers]).matchAll(/\{id\.(\d)\}/g);
  return Math.max(...Array.from(used, ([, index]) => Number(index))) + 1;
}

/** The answer with the requested id beside the reservation, for the mapping to read at `$body`. */
function withRequestedId(body: Json, { id_as: idAs }: Template, id: string): Json {
  if (idAs === undefined) return body;
  return typeof body === 'object' && body !== null ? { ...asObject(body), [idAs]: id } : body;
}
