import { chunksOf } from '../../../../kit/chunks.ts';
import { parseJson } from '../../../../kit/json.ts';
import { isObject, type Json, type JsonObject } from '../../../../terms.ts';
import type { HeldRow, Holdings } from '../../destination.ts';
import type { Delivery } from '../../message.ts';
import { at, parseBody, textAt } from './answer.ts';
import type { Operation } from './compile-operation.ts';
import type { normalizations, ReadRule } from './operation.ts';
import { compilePlan } from './plan.ts';
import type { Limits, Request } from './request.ts';
import { type Settings, timeoutMs } from './settings.ts';
import type { PlannedItem } from './turns.ts';

/**
 * Reads back what the requests of a record wrote, by the `read` of their operations: one by one, or several at a time. What is compared are the
 * values that the body would have now.
 */
export function httpHoldings(settings: Settings, request: Request): Holdings | undefined {
  const plan = compilePlan(settings);
  if (!plan.isReadable) return undefined;
  // A contact has what the last of its bookings said: it is compared with the profile, a booking with its stay.
  const isOwn = ({ message }: Delivery, { stage }: PlannedItem) =>
    stage === 'stay' || (stage === 'usual' && (plan.each === 'record' || message.type === 'guest'));
  const itemsOf = (delivery: Delivery) =>
    plan.withoutRequest({ ...delivery, isKnown: () => false })
      ? []
      : plan.items(delivery, 0).filter((item) => item.operation.read !== undefined && isOwn(delivery, item));
  const limits: Limits = {
    batch: 1,
    deadlineMs: timeoutMs(settings),
    leaseLeftMs: () => Number.POSITIVE_INFINITY,
    extend: async () => true,
    prepaid: { requests: 0 },
    signal: new AbortController().signal,
  };

  /** The element of each item; undefined if it is not there. */
  async function read(operation: Operation, items: readonly PlannedItem[]): Promise<readonly (Json | undefined)[]> {
    const { read: rule, unique } = operation;
    const [first] = items;
    const keys = items.map(({ scope }) => unique?.(scope) ?? '');
    const scope = first && { ...first.scope, items: keys };
    const url = scope && rule?.url(scope);
    if (rule === undefined || scope === undefined || url === undefined) return items.map(() => unreadable);
    const body = rule.body && JSON.stringify(rule.body(scope));
    const headers = { accept: 'application/json', ...(body !== undefined && { 'content-type': 'application/json' }) };
    const asked = {
      method: rule.method,
      url,
      headers: { ...headers, ...operation.headers(scope) },
      ...(body !== undefined && { body }),
    };
    const { outcome, bytes } = await request(asked, limits, [], operation.limit);
    if ('status' in outcome && outcome.status === 404) return items.map(() => undefined);
    const answer = bytes && parseBody(bytes);
    if (outcome.kind !== 'delivered' || answer === undefined) return items.map(() => unreadable);
    const list = rule.list === undefined ? [answer] : at(answer, rule.list);
    if (!Array.isArray(list)) return items.map(() => unreadable);
    if (rule.key === undefined) return items.map((_, i) => list[i]);
    const byKey = new Map(list.map((one) => [textAt(one, rule.key)?.toLowerCase(), one]));
    return keys.map((key) => byKey.get(key.toLowerCase()));
  }

  return {
    atOnce: 100,
    expects: (delivery) => itemsOf(delivery).length > 0,
    contentOf: (delivery) => together(itemsOf(delivery).map((item) => [item, wanted(item)] as const)),
    digestOf: () => '',
    async rows(_of, ids, _what, deliveries) {
      const planned = ids.flatMap((id) => {
        const delivery = deliveries.get(id);
        return delivery === undefined ? [] : [{ id, items: itemsOf(delivery) }];
      });
      const elements = new Map<PlannedItem, Json | undefined>();
      const byOperation = Map.groupBy(
        planned.flatMap(({ items }) => items),
        ({ operation }) => operation,
      );
      for (const [operation, items] of byOperation) {
        for (const chunk of chunksOf(items, operation.read?.batch ?? 1)) {
          const found = await read(operation, chunk);
          for (const [i, item] of chunk.entries()) elements.set(item, found[i]);
        }
      }
      return planned.flatMap(({ id, items }): HeldRow[] => {
        const there = items.map((item) => [item, elements.get(item)] as const);
        if (there.every(([, element]) => element === undefined)) return [];
        if (there.some(([, element]) => element === unreadable)) return [{ id, content: 'unreadable' }];
        const content = together(there.map(([item, element]) => [item, actual(item, element)] as const));
        const version = Number(
          there.flatMap(([{ operation }, one]) => textAt(one ?? null, operation.read?.version) ?? [])[0],
        );
        return [{ id, content, ...(Number.isInteger(version) && { version }) }];
      });
    },
    close: async () => {},
  };
}

const unreadable = 'unreadable';

/** Of several requests, each with its name. */
function together(parts: readonly (readonly [PlannedItem, JsonObject])[]): JsonObject {
  const [only] = parts;
  if (parts.length === 1 && only) return only[1];
  return Object.fromEntries(parts.map(([{ stage, subject }, content]) => [`${stage} ${subject}`, content]));
}

/** The body without a `body` in the document is the message: of these parts a vendor keeps its own. */
const ofMessage = ['event', 'epoch', 'idempotency_key'];

/** The values of the body by their paths, lists as a whole, as the vendor would keep them. */
function wanted({ operation: { read: rule, body }, scope }: PlannedItem): JsonObject {
  const given = body?.(scope);
  const except = [...(rule?.except ?? []), ...(given === scope.message ? ofMessage : [])];
  const leaves = leavesOf(parseJson(JSON.stringify(given ?? null)), '');
  const kept = leaves.filter(([path]) => !except.some((one) => isUnder(path, one)));
  return Object.fromEntries(kept.map(([path, value]) => [path, kind(value, rule?.same[path])]));
}

function actual(item: PlannedItem, element: Json | undefined): JsonObject {
  const { fields = {}, same = {} } = item.operation.read ?? ({} as Partial<ReadRule>);
  return Object.fromEntries(
    Object.keys(wanted(item)).map((path) => {
      const moved = Object.keys(fields).find((one) => isUnder(path, one));
      const place = moved === undefined ? path : `${fields[moved]}${path.slice(moved.length)}`.replace(/^\./, '');
      return [path, kind(at(element ?? null, place) ?? null, same[path])];
    }),
  );
}

const isUnder = (path: string, start: string): boolean => path === start || path.startsWith(`${start}.`);

function leavesOf(value: Json, path: string): [string, Json][] {
  if (!isObject(value)) return [[path, value]];
  return Object.entries(value).flatMap(([name, one]) => leavesOf(one, path === '' ? name : `${path}.${name}`));
}

type Normalization = (typeof normalizations)[number];

const normalize: Record<Normalization, (text: string) => string> = {
  trim: (text) => text.trim().replace(/\s+/g, ' '),
  lower: (text) => text.toLowerCase(),
  phone: (text) => text.replace(/\D/g, '').replace(/^0+/, ''),
  instant: (text) => (Number.isNaN(Date.parse(text)) ? text : new Date(text).toISOString()),
  cents: (text) => (Number.isFinite(Number(text)) ? Number(text).toFixed(2) : text),
};

/** An empty text is no value. */
function kind(value: Json, same: readonly Normalization[] = []): Json {
  if (value === '') return null;
  if (same.length === 0 || value === null || typeof value === 'object') return value;
  return same.reduce((text, one) => normalize[one](text), String(value));
}
