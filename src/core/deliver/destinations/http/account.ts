import { urlPart } from '../../../../kit/plain-url.ts';
import { type EpochMs, isObject, type Json, type Report, type ReportKind, reportKinds } from '../../../../terms.ts';
import type { DestinationServices, FeedbackFailure, Prepared, PreparedStep, ReadFeedback } from '../../destination.ts';
import { at, parseBody, textAt } from './answer.ts';
import { limitOf, type Values, valuesOf, withValues } from './compile-operation.ts';
import { type Feedback, type PrepareStep, presets } from './preset.ts';
import type { Limits, Request, Requested } from './request.ts';
import { type Settings, timeoutMs } from './settings.ts';
import { compileLine, compileTemplate, type Scope } from './template.ts';

/** Requests about a vendor's account as a whole, outside any delivery: what is prepared there, and what it reports. */
function accountRequests(settings: Settings, request: Request) {
  const preset = settings.preset === undefined ? undefined : presets.get(settings.preset);
  const limit = limitOf(preset?.limit, preset?.limits ?? {});
  return {
    preset,
    values: valuesOf(settings, preset),
    send(method: string, url: string, scope: Scope, body?: string, signal = new AbortController().signal) {
      const deadlineMs = timeoutMs(settings);
      const limits: Limits = {
        batch: 1,
        deadlineMs,
        leaseLeftMs: () => Number.POSITIVE_INFINITY,
        extend: async () => true,
        prepaid: { requests: 0 },
        signal,
      };
      const own = Object.entries(preset?.headers ?? {}).flatMap(([name, value]) => {
        const filled = compileLine(value)(scope);
        return filled === undefined ? [] : [[name, filled]];
      });
      const json = { accept: 'application/json', ...(body !== undefined && { 'content-type': 'application/json' }) };
      const headers = { ...json, ...Object.fromEntries(own) };
      return request({ method, url, headers, ...(body !== undefined && { body }) }, limits, [], limit);
    },
  };
}

type Send = ReturnType<typeof accountRequests>['send'];

/** An address: values of `with` as they are, all others encoded. */
function accountUrl(text: string, scope: Scope): string {
  const filled = withValues(text, scope.with as Values);
  return compileLine(filled, urlPart)(scope) ?? filled;
}

/** A vendor that always names a next page must not keep us for ever. */
const mostPages = 10_000;
const dayMs = 86_400_000;

/** Reads what the vendor reports. */
export function feedbackOf(settings: Settings, request: Request, clock: DestinationServices['clock']): ReadFeedback {
  const account = accountRequests(settings, request);
  const lists = account.preset?.feedback ?? [];
  return async function* read(since, signal) {
    const scope = { with: account.values, since: timeOf(since), until: timeOf(clock.now() + dayMs) };
    for (const list of lists.filter(({ requires }) => requires.every((path) => compileLine(`{${path}}`)(scope)))) {
      for await (const page of pagesOf(list, scope, account.send, signal)) {
        if (page.kind === 'rows') yield { kind: 'page', reports: reportsIn(list, page.rows, scope, clock.now()) };
        else return yield page;
      }
    }
  };
}

const timeOf = (ms: EpochMs) => {
  const iso = new Date(ms).toISOString();
  return { iso, ms, date: iso.slice(0, 10) };
};

type Page = { readonly kind: 'rows'; readonly rows: readonly Json[] } | FeedbackFailure;

async function* pagesOf(list: Feedback, scope: Scope, send: Send, signal: AbortSignal): AsyncGenerator<Page> {
  const first = accountUrl(list.url, scope);
  let url = first;
  let count = 0;
  for (let page = 1; page <= mostPages; page++) {
    const { outcome, bytes, afterMs } = await send('GET', url, scope, undefined, signal);
    const body = bytes && parseBody(bytes);
    const rows = body === undefined ? undefined : at(body, list.list);
    if (outcome.kind !== 'delivered' || body === undefined || !Array.isArray(rows)) {
      const code = outcome.kind === 'retry' || outcome.kind === 'dead' ? outcome.code : 'deliver.refused';
      return yield { kind: 'failed', code, afterMs };
    }
    yield { kind: 'rows', rows };
    count += rows.length;
    const next = nextUrl(list, { body, count, isFull: rows.length >= (list.page_size ?? 1) }, first, scope);
    if (next === undefined || next === url) return;
    url = next;
  }
}

function nextUrl(
  { next, more }: Feedback,
  { body, count, isFull }: { readonly body: Json; readonly count: number; readonly isFull: boolean },
  first: string,
  scope: Scope,
): string | undefined {
  // A vendor may name an offset after the last page too.
  if (more !== undefined && !isFull) return undefined;
  const value = next === undefined ? String(count) : textAt(body, next);
  if (value === undefined || value === '') return undefined;
  if (more !== undefined) return first + accountUrl(more, { ...scope, page: value });
  const url = URL.parse(value, first);
  // Our credentials go to the vendor only.
  return url === null || url.origin !== new URL(first).origin ? undefined : url.href;
}

function reportsIn(list: Feedback, rows: readonly Json[], scope: Scope, now: EpochMs): Report[] {
  const parts = rows.flatMap((row) => {
    const inner = list.each === undefined ? [row] : at(row, list.each);
    return (Array.isArray(inner) ? inner : []).map((one) =>
      isObject(row) && isObject(one) ? { ...row, ...one } : one,
    );
  });
  return parts.flatMap((part): Report[] => {
    const email = textAt(part, list.email);
    const says = meaningOf(list, part, scope);
    if (email === undefined || says === undefined) return [];
    return [{ email, says, at: Math.min(instantOf(at(part, list.at)) ?? now, now) }];
  });
}

function meaningOf({ says }: Feedback, row: Json, scope: Scope): ReportKind | undefined {
  const isMet = (condition: Readonly<Record<string, string | boolean>>) =>
    Object.entries(condition).every(([path, wanted]) =>
      typeof wanted === 'boolean' ? at(row, path) === wanted : textAt(row, path) === compileLine(wanted)(scope),
    );
  return reportKinds.find((kind) => says[kind]?.some(isMet));
}

function instantOf(value: Json | undefined): EpochMs | undefined {
  const ms = typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}

type Done = Omit<PreparedStep, 'what'> & {
  /** What was found or created, for `gives`. */
  readonly element?: Json | undefined;
};

/** What a person may paste into a document: no line break, no reference to a secret. */
const vendorName = /^[\w.:-]{1,200}$/;

/** Runs the preset's steps: looks for each thing first, and creates what is missing. */
export async function prepare(
  settings: Settings,
  request: Request,
  { dryRun }: { readonly dryRun: boolean },
): Promise<Prepared> {
  const { preset, values, send } = accountRequests(settings, request);
  const steps: PreparedStep[] = [];
  const withSettings: Record<string, string> = {};
  for (const step of preset?.prepare ?? []) {
    for (const each of step.for) {
      const scope: Scope = { with: values, each };
      const fill = (text: string) => compileLine(text)(scope) ?? text;
      const { element, ...done } = await follow(step, scope, send, dryRun);
      steps.push({ what: fill(step.what), ...done });
      if (done.result === 'failed' || done.result === 'by_hand') return { steps, settings: withSettings };
      for (const [name, rule] of Object.entries(step.gives)) {
        const value = typeof rule === 'string' ? rule : element === undefined ? undefined : textAt(element, rule.path);
        const end = typeof rule === 'string' || rule.without === undefined ? '' : fill(rule.without);
        if (value === undefined) continue;
        if (!vendorName.test(value)) {
          const message = 'The vendor answered with something that is not a name.';
          return { steps: [...steps.slice(0, -1), { what: fill(step.what), result: 'failed', message }], settings: {} };
        }
        withSettings[name] = value.endsWith(end) ? value.slice(0, value.length - end.length) : value;
      }
    }
  }
  return { steps, settings: withSettings };
}

async function follow(step: PrepareStep, scope: Scope, send: Send, dryRun: boolean): Promise<Done> {
  const { find, create } = step;
  if (find !== undefined) {
    const url = accountUrl(find.url, scope);
    const { outcome, bytes } = await send('GET', url, scope);
    const body = bytes && parseBody(bytes);
    if (outcome.kind === 'delivered' && body !== undefined) {
      const element = find.list === undefined ? body : elementOf(at(body, find.list), find.where, scope);
      if (element !== undefined) return { result: 'exists', element };
    } else if (!('status' in outcome) || outcome.status !== 404) return failed(outcome);
  }
  if (create === undefined) {
    if (find === undefined) return { result: 'exists' };
    return { result: 'by_hand', message: step.by_hand ?? 'Create it at the vendor, then run this command again.' };
  }
  if (dryRun) return { result: 'would_create' };
  const body = JSON.stringify(compileTemplate(create.body as Json)(scope));
  const { outcome, bytes } = await send(create.method, accountUrl(create.url, scope), scope, body);
  if (outcome.kind !== 'delivered') return failed(outcome);
  const answer = bytes && parseBody(bytes);
  return { result: 'created', element: answer && at(answer, create.answer) };
}

/** The vendor's answer helps here: it is about the account, not about guests. */
function failed(outcome: Requested['outcome']): Done {
  const { message = '', answer = '' } = outcome as { message?: string; answer?: string };
  return {
    result: 'failed',
    message: answer === '' ? message : `${message} ${answer.slice(0, 300).replace(/[\s\p{Cc}]+/gu, ' ')}`,
  };
}

function elementOf(list: Json | undefined, where: Readonly<Record<string, string>>, scope: Scope): Json | undefined {
  const wanted = Object.entries(where).map(([path, text]) => [path, compileLine(text)(scope)] as const);
  return Array.isArray(list)
    ? list.find((one) => wanted.every(([path, text]) => textAt(one, path) === text))
    : undefined;
}
