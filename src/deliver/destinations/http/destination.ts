import type { Json } from '../../../terms.ts';
import { waitAskedMs } from '../../busy.ts';
import type { Authorizer, DeliverLimits, DestinationType, Outcome, OutgoingRequest } from '../../destination.ts';
import { outcomeOf } from '../../http-answer.ts';
import { itemOutcomes } from './answer.ts';
import { compilePlan, type Item, type Operation } from './plan.ts';
import { presets } from './preset.ts';
import { type Settings, settingsSchema, timeoutMs } from './settings.ts';

/** Any HTTP API, as its settings or a preset describe it: messages become items, items become requests. */
export const destinationType: DestinationType<Settings> = {
  type: 'http',
  settings: settingsSchema,
  batch: ({ preset }) => {
    const size = preset === undefined ? undefined : presets.get(preset)?.batch;
    return { standard: size ?? 1, most: size ?? 10_000 };
  },
  timeoutMs,
  comparesConsent: ({ preset, on }) => preset !== undefined || on.consented !== undefined || on.withdrawn !== undefined,
  open(settings, { http, authorizer, clock }) {
    const plan = compilePlan(settings);
    const credentials = settings.auth.type === 'none' ? noCredentials : authorizer(settings.auth as unknown as Json);

    async function request(asked: OutgoingRequest, limits: Limits, accept: readonly number[]) {
      for (let renewed = false; ; renewed = true) {
        const allowed = await credentials.authorize(asked);
        if (allowed.kind === 'failed') {
          const message = `No credentials could be had: ${allowed.message}`;
          return { outcome: { kind: 'retry', code: 'deliver.auth_failed', message } as Outcome };
        }
        const remainingMs = Math.ceil(limits.deadlineAtMs - performance.now());
        if (remainingMs <= 0) {
          const message = 'The requests for this batch took too long together.';
          return { outcome: { kind: 'retry', code: 'deliver.timeout', message } as Outcome };
        }
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
        return { outcome, bytes: answered.bytes };
      }
    }

    async function sendItems(operation: Operation, items: readonly Item[], many: boolean, limits: Limits) {
      const [first] = items;
      const url = first && operation.url(first.scope);
      if (first === undefined || url === undefined) {
        const message = 'The address needs a value that the record does not have.';
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
      const { outcome, bytes } = sent;
      if (outcome.kind === 'delivered' && operation.answer && bytes) {
        const keys = items.map(({ scope }) => operation.unique?.(scope));
        const known = { status: outcome.status ?? 200, durationMs: outcome.durationMs ?? 0 };
        return itemOutcomes(operation.answer, bytes, keys, known);
      }
      const whole = items.length > 1 && (outcome.kind === 'retry' || outcome.kind === 'dead');
      return items.map((): Outcome => (whole ? { ...outcome, whole: true } : outcome));
    }

    return {
      async deliver(batch, given) {
        const limits: Limits = { ...given, deadlineAtMs: performance.now() + given.deadlineMs };
        const all = batch.map((delivery, index) => plan.items(delivery, index));
        const outcomes: Outcome[][] = batch.map(() => []);
        let toldToWait: readonly Item[] = [];
        let busy: Outcome | undefined;
        // Endings last: a guest who withdrew by one booking is not brought back by another of the same batch.
        const inTurn = all.flat().toSorted((a, b) => Number(a.ends) - Number(b.ends));
        for (const [operation, items] of Map.groupBy(inTurn, (item) => item.operation)) {
          const size = operation.batch ?? limits.batch;
          const many = operation.envelope !== undefined || size > 1;
          const { sent, instead } = newestOfEach(operation, items);
          for (const chunk of chunks(sent, many ? size : 1)) {
            const results = busy ? chunk.map(() => busy) : await sendItems(operation, chunk, many, limits);
            const waitMs = Math.max(...results.map((result) => (result ? waitAskedMs(result) : 0)));
            if (waitMs > 0 && toldToWait.length > 0 && !shareRecord(toldToWait, chunk)) busy ??= notSent(waitMs);
            toldToWait = waitMs > 0 ? chunk : [];
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

/** Where a request may name a thing once only, the newest item stands for all with the same key and gives them its outcome. */
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

/** Two requests in a row were told to wait, for distinct records: what is left of the call waits with them. */
const notSent = (afterMs: number): Outcome => ({
  kind: 'retry',
  code: 'deliver.rate_limited',
  message: 'Not sent: the destination had asked to wait.',
  afterMs,
  free: true,
});

const order = { skipped: 0, delivered: 1, retry: 2, dead: 3 } as const;

/** A message is delivered when each of its items is; one that has none is skipped. */
function worst(outcomes: readonly Outcome[]): Outcome {
  const [first, ...rest] = outcomes;
  if (first === undefined) {
    return { kind: 'skipped', code: 'nothing_to_send', message: 'The record holds nothing for this destination.' };
  }
  return rest.reduce((a, b) => (order[b.kind] > order[a.kind] ? b : a), first);
}
