import { chunksOf } from '../../../../kit/chunks.ts';
import type { Json } from '../../../../terms.ts';
import { waitAskedMs } from '../../batch.ts';
import type { DestinationServices, DestinationType, Foreseen, Outcome } from '../../destination.ts';
import { vendorWords } from '../../http-answer.ts';
import type { Delivery } from '../../message.ts';
import { feedbackOf, prepare } from './account.ts';
import { foundValues, itemOutcomes, refusedField, wholeOutcome } from './answer.ts';
import type { Operation } from './compile-operation.ts';
import { httpHoldings } from './holdings.ts';
import { compilePlan } from './plan.ts';
import { presets } from './preset.ts';
import {
  type Limits,
  longestPauseMs,
  noCredentials,
  notSent,
  Pace,
  type Request,
  type Requested,
  requester,
} from './request.ts';
import { type Settings, settingsSchema, timeoutMs } from './settings.ts';
import { inTurn, newestOfEach, type PlannedItem } from './turns.ts';

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
  foresee,
  prepare: (settings, services, options) => prepare(settings, requestOf(settings, services), options),
  reports: ({ preset = '', feedback }) => feedback && (presets.get(preset)?.feedback.length ?? 0) > 0,
  holdings: (settings, services) => httpHoldings(settings, requestOf(settings, services)),
  feedback: (settings, services) => feedbackOf(settings, requestOf(settings, services), services.clock),
  open(settings, services) {
    const plan = compilePlan(settings);
    const pace = new Pace(services);
    const request = requestOf(settings, services, pace);

    async function sendItems(
      operation: Operation,
      items: readonly PlannedItem[],
      many: boolean,
      limits: Limits,
      waits: boolean,
    ) {
      const [first] = items;
      const keys = items.map(({ scope }) => operation.unique?.(scope));
      const url = first && operation.url(many ? { ...first.scope, items: keys } : first.scope);
      if (first === undefined || url === undefined) {
        const message = 'The URL needs a value that the record does not have, or it would change the address.';
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
          operation.limit,
        );
      const body = bodyOf(operation, items, many);
      const { answer, failure } = operation;
      const codes = [answer?.retry, answer?.later, answer?.settled, failure?.retry, failure?.settled];
      const inWords = vendorWords(
        body,
        codes.flatMap((list) => list ?? []),
      );
      const meaning = ({ outcome, bytes, afterMs }: Requested): Outcome =>
        bytes && failure ? wholeOutcome(failure, outcome, bytes, { items: items.length, afterMs, inWords }) : outcome;
      let asked = await ask(body);
      for (let waited = 0; waits && waited < mostWaits; waited++) {
        const meant = meaning(asked);
        const waitMs = waitAskedMs(meant);
        // What it refers to is gone: an earlier request of the call has to make it again.
        if (waitMs === 0 || waitMs > longestPauseMs || ('status' in meant && meant.status === 404)) break;
        if ((await pace.rest(operation.limit, limits, waitMs)) !== undefined) break;
        asked = await ask(body);
      }
      const refused = many ? undefined : refusedField(failure, asked.outcome, asked.bytes);
      if (refused !== undefined) asked = await ask(bodyOf(operation, items, many, refused));
      const { outcome, bytes } = asked;
      if (outcome.kind === 'delivered' && operation.found && bytes) {
        for (const [i, values] of foundValues(operation.found, bytes, keys).entries()) {
          Object.assign(items[i]?.found ?? {}, values);
        }
      }
      if (outcome.kind === 'delivered' && operation.answer && bytes) {
        const known = { status: outcome.status ?? 200, durationMs: outcome.durationMs ?? 0 };
        return itemOutcomes(operation.answer, bytes, keys, known, inWords);
      }
      const meant = meaning(asked);
      const whole =
        items.length > 1 && (meant.kind === 'retry' || meant.kind === 'dead') && !notByItem.has(meant.status);
      return items.map((): Outcome => (whole ? { ...meant, whole: true } : meant));
    }

    return {
      async deliver(batch, given) {
        const limits: Limits = { ...given, prepaid: { requests: 1 } };
        const decided = batch.map((delivery) => plan.withoutRequest(delivery));
        const all = batch.flatMap((delivery, index) => (decided[index] ? [] : plan.items(delivery, index)));
        const settled: Settled[][] = batch.map(() => []);
        let halted: readonly PlannedItem[] = [];
        let rest: Outcome | undefined;
        let isAnswering = false;
        for (const [operation, planned] of inTurn(all)) {
          const size = operation.batch ?? limits.batch;
          const many = operation.envelope !== undefined || size > 1;
          const due = planned.filter((item) => operation.applies(item.scope) && !isBlocked(item, settled[item.index]));
          const { sent, instead } = newestOfEach(operation, due);
          for (const chunk of chunksOf(sent, size)) {
            const results: readonly (Outcome | undefined)[] = rest
              ? chunk.map(() => rest)
              : await sendItems(operation, chunk, many, limits, isAnswering);
            isAnswering ||= results.some((result) => result?.kind === 'delivered');
            const halt = haltOf(results);
            // Twice in a row, for distinct records: it is the destination, so the rest of the call is not sent.
            if (halt && halted.length > 0 && !shareRecord(halted, chunk)) rest ??= halt;
            halted = halt ? chunk : [];
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
        return settled.map((some, index) => decided[index] ?? worst(some.map(({ outcome }) => outcome)));
      },
      async close() {},
    };
  },
};

function requestOf({ auth }: Settings, services: DestinationServices, pace = new Pace(services)): Request {
  const credentials = auth.type === 'none' ? noCredentials : services.authorizer(auth as unknown as Json);
  return requester(services, credentials, pace);
}

/** A request that waits for its turn again and again goes back to the engine. */
const mostWaits = 10;

interface Settled {
  readonly item: PlannedItem;
  readonly outcome: Outcome;
}

/**
 * A request that builds on an earlier one of the same guest waits until that one was accepted. A moment also waits until nothing of
 * its version needs a retry. Withdrawals and erasures never wait.
 */
function isBlocked({ stage, subject }: PlannedItem, earlier: readonly Settled[] = []): boolean {
  if (stage === 'withdrawn' || stage === 'erased') return false;
  return earlier.some(({ item, outcome: { kind } }) => {
    if (kind === 'retry' && stage === 'moment') return true;
    if (item.subject !== subject) return false;
    return kind === 'retry' || kind === 'dead' || (kind === 'skipped' && item.stage === 'usual');
  });
}

/** Refusals that no single item causes: halving the batch would only repeat them. */
const notByItem: ReadonlySet<number | undefined> = new Set([401, 404, 405, 410]);

function bodyOf(
  operation: Operation,
  items: readonly PlannedItem[],
  many: boolean,
  except?: string,
): string | undefined {
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

function shareRecord(some: readonly PlannedItem[], others: readonly PlannedItem[]): boolean {
  const records = new Set(some.map(({ index }) => index));
  return others.some(({ index }) => records.has(index));
}

/** The outcome of what follows a request that was asked to wait or got no answer; undefined after any other. */
function haltOf(results: readonly (Outcome | undefined)[]): Outcome | undefined {
  const waitMs = Math.max(...results.map((result) => (result ? waitAskedMs(result) : 0)));
  if (waitMs > 0) return notSent(waitMs);
  return results.find((result) => result?.kind === 'retry' && unanswered.has(result.code));
}
const unanswered: ReadonlySet<string> = new Set(['deliver.timeout', 'deliver.unreachable']);

const order = { skipped: 0, delivered: 1, retry: 2, dead: 3 } as const;

/** A message is delivered when each of its items is; a message without items is skipped. */
function worst(outcomes: readonly Outcome[]): Outcome {
  const [first, ...rest] = outcomes;
  if (first === undefined) {
    return { kind: 'skipped', code: 'nothing_to_send', message: 'The record holds nothing for this destination.' };
  }
  return rest.reduce((a, b) => (order[b.kind] > order[a.kind] ? b : a), first);
}

/** The requests of these deliveries, call by call, to an account that has nobody of them: it finds only what it creates. */
export function foresee(settings: Settings, deliveries: readonly Delivery[], batch: number): Foreseen[] {
  const plan = compilePlan(settings);
  return chunksOf(deliveries, batch).flatMap((call) => {
    const items = call.flatMap((one, index) => (plan.withoutRequest(one) ? [] : plan.items(one, index)));
    return inTurn(items).map(([operation, planned]) => {
      const due = planned.filter(({ scope }) => operation.applies(scope));
      const created = Object.keys(operation.found?.as ?? {});
      for (const { found, stage } of due)
        if (stage !== 'new_guest' && stage !== 'moved') for (const name of created) found[name] = name;
      const { sent } = newestOfEach(operation, due);
      return { requests: Math.ceil(sent.length / (operation.batch ?? batch)), limit: operation.limit };
    });
  });
}
