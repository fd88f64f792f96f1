import type { Json } from '../../../terms.ts';
import { waitAskedMs } from '../../busy.ts';
import {
  type Authorizer,
  type DeliverLimits,
  type DestinationType,
  lostLease,
  type Outcome,
  type OutgoingRequest,
} from '../../destination.ts';
import { askedWaitMs, outcomeOf } from '../../http-answer.ts';
import { itemOutcomes, wholeOutcome } from './answer.ts';
import { compilePlan, type Item, type Operation } from './plan.ts';
import { presets } from './preset.ts';
import { type Settings, settingsSchema, timeoutMs } from './settings.ts';

/** Any HTTP API, described by its settings or a preset: messages become items, items become requests. */
export const destinationType: DestinationType<Settings> = {
  type: 'http',
  settings: settingsSchema,
  batch: ({ preset }) => {
    const size = preset === undefined ? undefined : presets.get(preset)?.batch;
    return { standard: size ?? 1, most: size ?? 10_000 };
  },
  timeoutMs,
  comparesConsent: ({ preset, on }) =>
    preset !== undefined || [on.consented, on.moment, on.withdrawn].some((rule) => rule !== undefined),
  open(settings, { http, authorizer, clock }) {
    const plan = compilePlan(settings);
    const credentials = settings.auth.type === 'none' ? noCredentials : authorizer(settings.auth as unknown as Json);

    async function request(asked: OutgoingRequest, limits: Limits, accept: readonly number[]) {
      for (let renewed = false; ; renewed = true) {
        const allowed = await credentials.authorize(asked);
        if (allowed.kind === 'failed') {
          const message = `No credentials: ${allowed.message}`;
          return { outcome: { kind: 'retry', code: 'deliver.auth_failed', message } as Outcome };
        }
        const remainingMs = Math.ceil(limits.deadlineAtMs - clock.uptimeMs());
        if (remainingMs <= 0) {
          const message = 'The requests of this batch took longer than the timeout.';
          return { outcome: { kind: 'retry', code: 'deliver.timeout', message } as Outcome };
        }
        // Credentials may have taken a while.
        const lost = lostLease(limits, remainingMs);
        if (lost !== undefined) return { outcome: lost };
        const { method, url, headers, body } = allowed.request;
        const answered = await http.request({
          method,
          url,
          headers,
          ...(body !== undefined && { body }),
          deadlineMs: remainingMs,
          idleMs: remainingMs,
          maxBytes: 16 << 20,
          signal: limits.signal,
        });
        if (answered.kind === 'answer' && answered.status === 401 && !renewed && (await credentials.refused()))
          continue;
        const outcome = outcomeOf(answered, clock.now());
        if (answered.kind !== 'answer') return { outcome };
        const { status, durationMs } = answered;
        if (accept.includes(status)) return { outcome: { kind: 'delivered', status, durationMs } as Outcome };
        return { outcome, bytes: answered.bytes, afterMs: askedWaitMs(answered.headers, clock.now()) };
      }
    }

    async function sendItems(operation: Operation, items: readonly Item[], many: boolean, limits: Limits) {
      const [first] = items;
      const url = first && operation.url(first.scope);
      if (first === undefined || url === undefined) {
        const message = 'The URL needs a value that the record does not have.';
        return items.map(
          (): Outcome => ({ kind: 'dead', code: 'deliver.mapping_failed', message, whole: items.length > 1 }),
        );
      }
      const body = bodyOf(operation, items, many);
      const sent = await request(
        {
          method: operation.method,
          url,
          headers: {
            accept: 'application/json',
            ...(body !== undefined && { 'content-type': 'application/json' }),
            ...(items.length === 1 && !many && { 'idempotency-key': first.key }),
            ...operation.headers(first.scope),
          },
          ...(body !== undefined && { body }),
        },
        limits,
        operation.accept,
      );
      const { outcome, bytes, afterMs } = sent;
      if (outcome.kind === 'delivered' && operation.answer && bytes) {
        const keys = items.map(({ scope }) => operation.unique?.(scope));
        const known = { status: outcome.status ?? 200, durationMs: outcome.durationMs ?? 0 };
        return itemOutcomes(operation.answer, bytes, keys, known);
      }
      const meant =
        bytes && operation.failure
          ? wholeOutcome(operation.failure, outcome, bytes, { items: items.length, afterMs })
          : outcome;
      const whole =
        items.length > 1 && (meant.kind === 'retry' || (meant.kind === 'dead' && !ofNoItem.has(meant.status)));
      return items.map((): Outcome => (whole ? { ...meant, whole: true } : meant));
    }

    return {
      async deliver(batch, given) {
        const limits: Limits = { ...given, deadlineAtMs: clock.uptimeMs() + given.deadlineMs };
        const all = batch.map((delivery, index) => plan.items(delivery, index));
        const outcomes: Outcome[][] = batch.map(() => []);
        let askedToWait: readonly Item[] = [];
        let busy: Outcome | undefined;
        // Withdrawals and erasures last: another booking of the same batch must not bring the guest back.
        const inTurn = all.flat().toSorted((a, b) => Number(a.ends) - Number(b.ends));
        for (const [operation, items] of Map.groupBy(inTurn, (item) => item.operation)) {
          const size = operation.batch ?? limits.batch;
          const many = operation.envelope !== undefined || size > 1;
          const { sent, instead } = newestOfEach(operation, items);
          for (const chunk of chunks(sent, many ? size : 1)) {
            const results = busy ? chunk.map(() => busy) : await sendItems(operation, chunk, many, limits);
            const waitMs = Math.max(...results.map((result) => (result ? waitAskedMs(result) : 0)));
            if (waitMs > 0 && askedToWait.length > 0 && !shareRecord(askedToWait, chunk)) busy ??= notSent(waitMs);
            askedToWait = waitMs > 0 ? chunk : [];
            for (const [i, item] of chunk.entries()) {
              const result = results[i];
              if (result === undefined) continue;
              outcomes[item.index]?.push(result);
              for (const other of instead.get(item) ?? []) outcomes[other.index]?.push(result);
            }
          }
        }
        return outcomes.map(worst);
      },
      async close() {},
    };
  },
};

/** Refusals that no single item causes: halving the batch would only repeat them. */
const ofNoItem: ReadonlySet<number | undefined> = new Set([401, 403, 404, 405, 410]);

/** All requests of a call share its deadline. */
type Limits = DeliverLimits & { readonly deadlineAtMs: number };

const noCredentials: Authorizer = {
  authorize: async (request) => ({ kind: 'ok', request }),
  refused: async () => false,
};

function bodyOf(operation: Operation, items: readonly Item[], many: boolean): string | undefined {
  const { body, envelope } = operation;
  const [first] = items;
  if (body === undefined || first === undefined) return undefined;
  if (!many) return JSON.stringify(body(first.scope));
  const list = items.map(({ scope }) => body(scope));
  return JSON.stringify(envelope === undefined ? list : envelope({ ...first.scope, items: list }));
}

/** Where a batch may hold a key once only, the newest item is sent for all with that key, and they share its outcome. */
function newestOfEach(operation: Operation, items: readonly Item[]): { sent: Item[]; instead: Map<Item, Item[]> } {
  const { unique } = operation;
  if (unique === undefined) return { sent: [...items], instead: new Map() };
  const sent: Item[] = [];
  const instead = new Map<Item, Item[]>();
  for (const group of Map.groupBy(items, ({ scope, key }) => unique(scope)?.toLowerCase() ?? key).values()) {
    const newest = group.reduce((a, b) => (b.changedAt >= a.changedAt ? b : a));
    sent.push(newest);
    instead.set(
      newest,
      group.filter((item) => item !== newest),
    );
  }
  return { sent, instead };
}

function* chunks<T>(list: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < list.length; start += size) yield list.slice(start, start + size);
}

const shareRecord = (some: readonly Item[], others: readonly Item[]): boolean =>
  some.some(({ index }) => others.some((other) => other.index === index));

/** Two requests in a row, for distinct records, were asked to wait: the rest of the call waits with them. */
const notSent = (afterMs: number): Outcome => ({
  kind: 'retry',
  code: 'deliver.rate_limited',
  message: 'Not sent: the destination asked to wait.',
  afterMs,
  free: true,
});

const order = { skipped: 0, delivered: 1, retry: 2, dead: 3 } as const;

/** A message is delivered when each of its items is; a message without items is skipped. */
function worst(outcomes: readonly Outcome[]): Outcome {
  const [first, ...rest] = outcomes;
  if (first === undefined) {
    return { kind: 'skipped', code: 'nothing_to_send', message: 'The record holds nothing for this destination.' };
  }
  return rest.reduce((a, b) => (order[b.kind] > order[a.kind] ? b : a), first);
}
