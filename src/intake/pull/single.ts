import type { ErrorCode } from '../../errors.ts';
import type { EpochMs, IntegrationName, Json } from '../../terms.ts';
import { type Asked, type Asker, noAskCounts, openAsker } from './ask.ts';
import { limitsOf } from './limits.ts';
import type { PullPlan, PullPorts } from './ports.ts';
import { addRelated, type RelatedOptions } from './related.ts';
import { openRequest } from './request.ts';

export type Single =
  | { readonly kind: 'found'; readonly body: Json; readonly requestedAt: EpochMs }
  /** The partner has no such reservation. */
  | { readonly kind: 'absent' }
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
  const { plan } = planned;
  const { single, baseUrl, brandId } = plan.settings;
  if (single === undefined) {
    return { kind: 'failed', code: 'pull.no_single', message: 'the connector has no single request' };
  }
  const request = openRequest(single, baseUrl, { id, brand_id: brandId });
  const counts = noAskCounts();
  const asker = openAsker(ports, plan, { parkable: true, atOpenCircuit: () => 'fail', signal });
  const found = resultOf(
    await asker.ask(request, {
      canShrink: false,
      firstPage: true,
      counts,
      hasRows: (body) => isReservation(plan, body),
    }),
  );
  return found.kind === 'found' ? withRelated(asker, plan, found, { counts, mostPages: limitsOf(ports).pages }) : found;
}

async function withRelated(
  asker: Asker,
  { settings, shaper }: PullPlan,
  found: Extract<Single, { kind: 'found' }>,
  options: RelatedOptions,
): Promise<Single> {
  const single = settings.related.length === 0 ? undefined : shaper.single(found.body);
  if (single?.kind !== 'ok') return found;
  const got = await addRelated(asker, settings, { body: found.body, rows: [single.record.value] }, options);
  return got.kind === 'body' ? { ...found, body: got.body } : resultOf(got);
}

function isReservation(plan: PullPlan, body: Json): boolean {
  const single = plan.single(body);
  return single.kind === 'ok' && single.record.key !== '';
}

function resultOf(asked: Asked): Single {
  switch (asked.kind) {
    case 'answer':
      if (asked.body === undefined) return { kind: 'absent' };
      return { kind: 'found', body: asked.body, requestedAt: asked.requestedAt };
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
      if (code === 'pull.not_found') return { kind: 'absent' };
      return { kind: passing.has(code) ? 'later' : 'failed', code, message };
    }
  }
}
