import { chunksOf } from '../../../kit/chunks.ts';
import type { Json } from '../../../terms.ts';
import { waitAskedMs } from '../../busy.ts';
import type { DestinationServices, DestinationType, Outcome } from '../../destination.ts';
import { vendorWords } from '../../vendor-words.ts';
import { itemOutcomes, wholeOutcome } from './answer.ts';
import type { Operation } from './compile-operation.ts';
import { feedbackOf } from './feedback.ts';
import { compilePlan, type Item } from './plan.ts';
import { prepare } from './prepare.ts';
import { presets } from './preset.ts';
import { foundValues, refusedField } from './read-answer.ts';
import { type Limits, noCredentials, type Request, requester } from './request.ts';
import { type Settings, settingsSchema, timeoutMs } from './settings.ts';
import { inTurn } from './turns.ts';

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
    preset !== undefined ||
    [on.new_guest, on.moved, on.consented, on.moment, on.stay, on.withdrawn].some((rule) => rule !== undefined),
  prepare: (settings, services, { dryRun }) =>
    prepare(settings, requestOf(settings, services), { clock: services.clock, dryRun }),
  reports: ({ preset = '', feedback }) => feedback && (presets.get(preset)?.feedback.length ?? 0) > 0,
  feedback: (settings, services) => feedbackOf(settings, requestOf(settings, services), services.clock),
  open(settings, services) {
    const plan = compilePlan(settings);
    const request = requestOf(settings, services);

    async function sendItems(operation: Operation, items: readonly Item[], many: boolean, limits: Limits) {
      const [first] = items;
      const keys = items.map(({ scope }) => operation.unique?.(scope));
      const url = first && operation.url(many ? { ...first.scope, items: keys } : first.scope);
      if (first === undefined || url === undefined) {
        const message = 'The URL needs a value that the record does not have.';
        return items.map(
          (): Outcome => ({ kind: 'dead', code: 'deliver.mapping_failed', message, whole: items.length > 1 }),
        );
      }
      const headers = (body: string | undefined) => ({
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(items.length === 1 && !many && { 'idempotency-key': first.key }),
        ...operation.headers(first.scope),
      });
      const ask = (body: string | undefined) =>
        request(
          { method: operation.method, url, headers: headers(body), ...(body !== undefined && { body }) },
          limits,
          operation.accept,
        );
      const body = bodyOf(operation, items, many);
      const { answer, failure } = operation;
      const codes = [answer?.retry, answer?.later, answer?.settled, failure?.retry, failure?.settled];
      const inWords = vendorWords(
        body,
        codes.flatMap((list) => list ?? []),
      );
      const asked = await ask(body);
      const refused = many ? undefined : refusedField(operation.failure, asked.outcome, asked.bytes);
      const { outcome, bytes, afterMs } =
        refused === undefined ? asked : await ask(bodyOf(operation, items, many, refused));
      if (outcome.kind === 'delivered' && operation.found && bytes) {
        for (const [i, values] of foundValues(operation.found, bytes, keys).entries()) {
          Object.assign(items[i]?.found ?? {}, values);
        }
      }
      if (outcome.kind === 'delivered' && operation.answer && bytes) {
        const known = { status: outcome.status ?? 200, durationMs: outcome.durationMs ?? 0 };
        return itemOutcomes(operation.answer, bytes, keys, known, inWords);
      }
      const meant =
        bytes && operation.failure
          ? wholeOutcome(operation.failure, outcome, bytes, { items: items.length, afterMs, inWords })
          : outcome;
      const whole =
        items.length > 1 && (meant.kind === 'retry' || (meant.kind === 'dead' && !notByItem.has(meant.status)));
      return items.map((): Outcome => (whole ? { ...meant, whole: true } : meant));
    }

    return {
      async deliver(batch, given) {
        const limits: Limits = { ...given, deadlineAtMs: services.clock.uptimeMs() + given.deadlineMs };
        const notExpressed = batch.map((delivery) => plan.notExpressed(delivery));
        const all = batch.flatMap((delivery, index) => (notExpressed[index] ? [] : plan.items(delivery, index)));
        const settled: Settled[][] = batch.map(() => []);
        let askedToWait: readonly Item[] = [];
        let busy: Outcome | undefined;
        let isAnswering = false;
        for (const [operation, planned] of inTurn(all)) {
          const size = operation.batch ?? limits.batch;
          const many = operation.envelope !== undefined || size > 1;
          const due = planned.filter((item) => operation.applies(item.scope) && !isBlocked(item, settled[item.index]));
          const { sent, instead } = newestOfEach(operation, due);
          for (const chunk of chunksOf(sent, many ? size : 1)) {
            const answers = busy ? chunk.map(() => busy) : await sendItems(operation, chunk, many, limits);
            const results = isAnswering ? answers.map(unfinished) : answers;
            isAnswering ||= answers.some((answer) => answer?.kind === 'delivered');
            const waitMs = Math.max(...results.map((result) => (result ? waitAskedMs(result) : 0)));
            if (waitMs > 0 && askedToWait.length > 0 && !shareRecord(askedToWait, chunk)) busy ??= notSent(waitMs);
            askedToWait = waitMs > 0 ? chunk : [];
            for (const [i, item] of chunk.entries()) {
              const outcome = results[i];
              if (outcome === undefined) continue;
              for (const one of [item, ...(instead.get(item) ?? [])]) {
                settled[one.index]?.push({ item: one, outcome });
                // Only what this request found: the items may be about two people.
                for (const name of Object.keys(operation.found?.as ?? {}))
                  if (item.found[name] !== undefined) one.found[name] = item.found[name];
              }
            }
          }
        }
        return settled.map((some, index) => notExpressed[index] ?? worst(some.map(({ outcome }) => outcome)));
      },
      async close() {},
    };
  },
};

function requestOf({ auth }: Settings, { http, authorizer, clock }: DestinationServices): Request {
  return requester(http, auth.type === 'none' ? noCredentials : authorizer(auth as unknown as Json), clock);
}

interface Settled {
  readonly item: Item;
  readonly outcome: Outcome;
}

/**
 * A request that builds on an earlier one of the same guest waits until that one was accepted. A moment also waits until nothing of
 * its version needs a retry. Withdrawals and erasures never wait.
 */
function isBlocked({ stage, subject }: Item, earlier: readonly Settled[] = []): boolean {
  if (stage === 'withdrawn' || stage === 'erased') return false;
  return earlier.some(({ item, outcome: { kind } }) => {
    if (kind === 'retry' && stage === 'moment') return true;
    if (item.subject !== subject) return false;
    return kind === 'retry' || kind === 'dead' || (kind === 'skipped' && item.stage === 'usual');
  });
}

/** Refusals that no single item causes: halving the batch would only repeat them. */
const notByItem: ReadonlySet<number | undefined> = new Set([401, 403, 404, 405, 410]);

function bodyOf(operation: Operation, items: readonly Item[], many: boolean, except?: string): string | undefined {
  const { body, envelope } = operation;
  const [first] = items;
  if (body === undefined || first === undefined) return undefined;
  if (!many) return JSON.stringify(except === undefined ? body(first.scope) : without(body(first.scope), except));
  const list = items.map(({ scope }) => body(scope));
  return JSON.stringify(envelope === undefined ? list : envelope({ ...first.scope, items: list }));
}

/** The same body without the field at a path. */
function without(body: unknown, path: string): unknown {
  const [name = '', ...below] = path.split('.');
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, name)) return body;
  const { [name]: value, ...rest } = body as Record<string, unknown>;
  return below.length === 0 ? rest : { ...rest, [name]: without(value, below.join('.')) };
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

/** The destination answers, so the time went to the requests before this one. */
const unfinished = (answer: Outcome | undefined): Outcome | undefined =>
  answer?.kind === 'retry' && answer.code === 'deliver.timeout' ? { ...answer, unfinished: true } : answer;

const order = { skipped: 0, delivered: 1, retry: 2, dead: 3 } as const;

/** A message is delivered when each of its items is; a message without items is skipped. */
function worst(outcomes: readonly Outcome[]): Outcome {
  const [first, ...rest] = outcomes;
  if (first === undefined) {
    return { kind: 'skipped', code: 'nothing_to_send', message: 'The record holds nothing for this destination.' };
  }
  return rest.reduce((a, b) => (order[b.kind] > order[a.kind] ? b : a), first);
}
