import type { Json } from '../../../terms.ts';
import type { Delivery } from '../../message.ts';
import { messageJson } from '../../message.ts';
import type { AnswerRule, Situation } from './operation.ts';
import { presets } from './preset.ts';
import type { Settings } from './settings.ts';
import { compileLine, compileTemplate, type Scope } from './template.ts';

/** Settings and preset put together and compiled: which requests a batch of deliveries becomes. */

export interface Operation {
  readonly method: string;
  readonly url: (scope: Scope) => string | undefined;
  readonly headers: (scope: Scope) => Record<string, string>;
  /** One item's body; undefined sends none. */
  readonly body: ((scope: Scope) => unknown) | undefined;
  /** Around a batch; undefined where requests hold one item. */
  readonly envelope: ((scope: Scope) => unknown) | undefined;
  readonly unique: ((scope: Scope) => string | undefined) | undefined;
  readonly accept: readonly number[];
  readonly answer: AnswerRule | undefined;
  /** The most items in one request; undefined takes the batch of the destination. */
  readonly batch: number | undefined;
  readonly skip: boolean;
}

export interface Item {
  /** Which delivery of the batch it belongs to. */
  readonly index: number;
  readonly operation: Operation;
  /** A withdrawal or an erasure. */
  readonly ends: boolean;
  readonly scope: Scope;
  /** The idempotency key, made different for each guest of one message. */
  readonly key: string;
  readonly changedAt: number;
}

export interface Plan {
  /** No items: there is nothing in it for this destination. */
  items(delivery: Delivery, index: number): Item[];
}

type Rule = Situation & { readonly url?: string | undefined };

export function compilePlan(settings: Settings): Plan {
  const preset = settings.preset === undefined ? undefined : presets.get(settings.preset);
  const variables = Object.fromEntries(
    Object.entries(preset?.with ?? {}).map(([name, { default: given }]) => [name, given]),
  );
  const values = { ...variables, ...settings.with };
  const usual: Rule = merge(preset ?? {}, settings);
  const operation = compile({ ...usual, batch: undefined }, values);
  const special = (name: 'withdrawn' | 'erased'): Operation | undefined => {
    const rule = merge(preset?.on[name] ?? {}, settings.on[name] ?? {});
    if (Object.keys(rule).length === 0) return undefined;
    // A request of its own: of the usual one it takes over address and headers, and nothing that shapes the body.
    return compile({ url: usual.url, headers: usual.headers, body: 'none', batch: 1, ...rule }, values);
  };
  const withdrawn = special('withdrawn');
  const erased = special('erased');
  const each = settings.each ?? preset?.each ?? 'record';
  const requires = (settings.requires ?? preset?.requires ?? []).map((path) => compileLine(`{${path}}`));

  const unwanted = (settings.skip_if ?? preset?.skip_if ?? []).map((path) => compileTemplate(`{${path}}`));
  const wanted = (scope: Scope): boolean =>
    requires.every((has) => has(scope) !== undefined) && unwanted.every((is) => is(scope) !== true);

  return {
    items(delivery, index) {
      const { message } = delivery;
      const whole = { ...messageJson(message), changed_at: new Date(delivery.changedAt).toISOString(), with: values };
      const named = message.type === 'guest' ? [message.data] : (message.data.guests ?? []);
      // Whom an erasure is about stands beside it: what is told of the others is no erasure.
      const guests = message.event === 'erased' && delivery.erased ? delivery.erased : named;
      const scopes: Scope[] =
        each === 'record'
          ? [message.type === 'guest' ? { ...whole, guest: guests[0] ?? message.data } : whole]
          : guests.map((guest) => ({ ...whole, guest }));
      return scopes
        .map((scope, i): Item => {
          const guest = scope.guest as { marketing_consent?: boolean } | undefined;
          const gone = delivery.byConsent && guest !== undefined && guest.marketing_consent !== true;
          const chosen = message.event === 'erased' ? erased : gone ? withdrawn : undefined;
          const key = scopes.length > 1 ? `${message.idempotency_key}-${i}` : message.idempotency_key;
          const ends = chosen !== undefined;
          return { index, operation: chosen ?? operation, scope, key, changedAt: delivery.changedAt, ends };
        })
        .filter(({ scope, operation: { skip } }) => !skip && wanted(scope));
    },
  };
}

/** What the second says comes first. */
function merge(first: object, second: object): Rule {
  const said = Object.entries(second).filter(([, value]) => value !== undefined);
  const merged: Record<string, unknown> = { ...first, ...Object.fromEntries(said) };
  const headers = {
    ...(first as { headers?: object }).headers,
    ...(second as { headers?: object }).headers,
  };
  const { method, url, body, envelope, unique, accept, answer, batch, skip } = merged as Rule;
  const rule = { method, url, body, envelope, unique, accept, answer, batch, skip };
  return Object.fromEntries(
    Object.entries({ ...rule, ...(Object.keys(headers).length > 0 && { headers }) }).filter(([, v]) => v !== undefined),
  ) as Rule;
}

function compile(rule: Rule, values: Readonly<Record<string, string | undefined>>): Operation {
  const headers = Object.entries(rule.headers ?? {}).map(([name, value]) => [name, compileLine(value)] as const);
  return {
    method: rule.method ?? 'POST',
    // What the settings give is part of the address as it stands; what a record gives is escaped.
    url: compileLine(
      (rule.url ?? '').replace(/\{with\.(\w+)\}/g, (_all, name) =>
        Object.hasOwn(values, name) ? (values[name] ?? '') : '',
      ),
      encodeURIComponent,
    ),
    headers: (scope) =>
      Object.fromEntries(headers.map(([name, value]) => [name, value(scope)] as const).filter(isWhole)),
    body:
      rule.body === 'none'
        ? undefined
        : rule.body === undefined
          ? ({ changed_at: _, guest: __, with: ___, ...message }) => message
          : compileTemplate(rule.body as Json),
    envelope: rule.envelope === undefined ? undefined : compileTemplate(rule.envelope as Json),
    unique: rule.unique === undefined ? undefined : compileLine(rule.unique),
    accept: rule.accept ?? [],
    answer: rule.answer,
    batch: rule.batch,
    skip: rule.skip ?? false,
  };
}

const isWhole = (entry: readonly [string, string | undefined]): entry is readonly [string, string] =>
  entry[1] !== undefined;
