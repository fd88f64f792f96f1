import type { Guest } from '../../../canonical/reservation.ts';
import type { Json } from '../../../terms.ts';
import { type ConsentChange, type Delivery, messageJson } from '../../message.ts';
import { momentOf } from '../../moment.ts';
import type { AnswerRule, FailureRule, Situation } from './operation.ts';
import { presets } from './preset.ts';
import type { Settings } from './settings.ts';
import { compileLine, compileTemplate, type Scope } from './template.ts';

/** Settings and preset, merged and compiled: the requests that a batch of deliveries becomes. */

export interface Operation {
  readonly method: string;
  readonly url: (scope: Scope) => string | undefined;
  readonly headers: (scope: Scope) => Record<string, string>;
  /** One item's body; undefined sends none. */
  readonly body: ((scope: Scope) => unknown) | undefined;
  /** Wraps a batch; undefined where a request holds one item. */
  readonly envelope: ((scope: Scope) => unknown) | undefined;
  readonly unique: ((scope: Scope) => string | undefined) | undefined;
  readonly accept: readonly number[];
  readonly answer: AnswerRule | undefined;
  readonly failure: FailureRule | undefined;
  /** The most items in one request; undefined uses the batch size of the destination. */
  readonly batch: number | undefined;
  readonly skip: boolean;
  /** Whether the item has all that this request requires. */
  readonly applies: (scope: Scope) => boolean;
}

export interface Item {
  /** The delivery of the batch that it belongs to. */
  readonly index: number;
  readonly operation: Operation;
  /** A withdrawal or an erasure. */
  readonly ends: boolean;
  readonly scope: Scope;
  /** The idempotency key; each guest of a message has its own. */
  readonly key: string;
  readonly changedAt: number;
}

export interface Plan {
  /** None if the message holds nothing for this destination. */
  items(delivery: Delivery, index: number): Item[];
}

type Rule = Situation & { readonly url?: string | undefined };

export function compilePlan(settings: Settings): Plan {
  const preset = settings.preset === undefined ? undefined : presets.get(settings.preset);
  const variables = Object.fromEntries(
    Object.entries(preset?.with ?? {}).map(([name, { default: given }]) => [name, given]),
  );
  const values = { ...variables, ...settings.with };
  // What an item must have is checked for all requests below; `requires` of a rule is about one request.
  const usual: Rule = { ...merge(preset ?? {}, settings), requires: undefined };
  const operation = compile({ ...usual, batch: undefined }, values);
  const special = (name: 'consented' | 'moment' | 'withdrawn' | 'erased'): Operation | undefined => {
    const rule = merge(preset?.on[name] ?? {}, settings.on[name] ?? {});
    if (Object.keys(rule).length === 0) return undefined;
    // It inherits address, headers and the meaning of failures from the usual request, and nothing that shapes the body.
    return compile(
      { url: usual.url, headers: usual.headers, failure: usual.failure, body: 'none', batch: 1, ...rule },
      values,
    );
  };
  const consented = special('consented');
  const moment = special('moment');
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
      const happened = moment && delivery.before && momentOf(message, delivery.before());
      const whole = {
        ...messageJson(message),
        changed_at: new Date(delivery.changedAt).toISOString(),
        with: values,
        ...(happened && { moment: happened }),
      };
      const named = message.type === 'guest' ? [message.data] : (message.data.guests ?? []);
      // An erasure is about the guests named beside it; the guests still in the message are not erased.
      const guests = message.event === 'erased' && delivery.erased ? delivery.erased : named;
      const scopes: Scope[] =
        each === 'record'
          ? [message.type === 'guest' ? { ...whole, guest: forTemplates(guests[0] ?? message.data, delivery) } : whole]
          : guests.map((guest) => ({ ...whole, guest: forTemplates(guest, delivery) }));
      return scopes
        .flatMap((scope, i): Item[] => {
          const key = scopes.length > 1 ? `${message.idempotency_key}-${i}` : message.idempotency_key;
          return operationsFor(delivery, scope.guest as ChangedGuest | undefined, happened !== undefined).map(
            ({ operation: chosen, suffix, ends }) => ({
              index,
              operation: chosen,
              scope,
              key: `${key}${suffix}`,
              changedAt: delivery.changedAt,
              ends,
            }),
          );
        })
        .filter(({ scope, operation: { skip, applies } }) => !skip && applies(scope) && wanted(scope));
    },
  };

  /** Consent and moments are sent after the contact exists, a withdrawal last. */
  function operationsFor(
    { message, byConsent }: Delivery,
    guest: ChangedGuest | undefined,
    isMoment: boolean,
  ): Planned[] {
    const usually: Planned = { operation, suffix: '', ends: false };
    if (message.event === 'erased') return [erased ? { operation: erased, suffix: '', ends: true } : usually];
    if (guest?.consent_change === 'withdrawn' || (byConsent && guest?.marketing_consent === false)) {
      if (withdrawn === undefined) return [usually];
      // Under `consent: marketing` the destination gets nothing of the guest but the withdrawal.
      if (byConsent) return [{ operation: withdrawn, suffix: '', ends: true }];
      return [usually, { operation: withdrawn, suffix: '-withdrawn', ends: true }];
    }
    const agreed = guest?.consent_change === 'first' || guest?.consent_change === 'given';
    return [
      usually,
      ...(agreed && consented ? [{ operation: consented, suffix: '-consented', ends: false }] : []),
      ...(isMoment && moment ? [{ operation: moment, suffix: '-moment', ends: false }] : []),
    ];
  }
}

interface Planned {
  readonly operation: Operation;
  readonly suffix: string;
  readonly ends: boolean;
}

/** For templates, a guest also has `consent_change` (first, given or withdrawn) and `scoped_id`: guest ids repeat between brands. */
type ChangedGuest = Guest & { readonly consent_change?: ConsentChange; readonly scoped_id?: string };

function forTemplates(guest: Guest, { consentChange, message }: Delivery): ChangedGuest {
  const change = consentChange?.(guest);
  return {
    ...guest,
    ...(change !== undefined && { consent_change: change }),
    ...(guest.guest_id !== undefined && { scoped_id: `${message.brand_id}:${guest.guest_id}` }),
  };
}

/** The second overrides the first. */
function merge(first: object, second: object): Rule {
  const said = Object.entries(second).filter(([, value]) => value !== undefined);
  const merged: Record<string, unknown> = { ...first, ...Object.fromEntries(said) };
  const headers = {
    ...(first as { headers?: object }).headers,
    ...(second as { headers?: object }).headers,
  };
  const { method, url, body, envelope, unique, accept, answer, failure, batch, skip, requires } = merged as Rule;
  const rule = { method, url, body, envelope, unique, accept, answer, failure, batch, skip, requires };
  return Object.fromEntries(
    Object.entries({ ...rule, ...(Object.keys(headers).length > 0 && { headers }) }).filter(([, v]) => v !== undefined),
  ) as Rule;
}

function compile(rule: Rule, values: Readonly<Record<string, string | undefined>>): Operation {
  const headers = Object.entries(rule.headers ?? {}).map(([name, value]) => [name, compileLine(value)] as const);
  const requires = (rule.requires ?? []).map((path) => compileLine(`{${path}}`));
  return {
    method: rule.method ?? 'POST',
    // Values of the settings are part of the address; values of a record are escaped.
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
          ? ({ changed_at: _, guest: __, with: ___, moment: ____, ...message }) => message
          : compileTemplate(rule.body as Json),
    envelope: rule.envelope === undefined ? undefined : compileTemplate(rule.envelope as Json),
    unique: rule.unique === undefined ? undefined : compileLine(rule.unique),
    accept: rule.accept ?? [],
    answer: rule.answer,
    failure: rule.failure,
    batch: rule.batch,
    skip: rule.skip ?? false,
    applies: (scope) => requires.every((has) => has(scope) !== undefined),
  };
}

const isWhole = (entry: readonly [string, string | undefined]): entry is readonly [string, string] =>
  entry[1] !== undefined;
