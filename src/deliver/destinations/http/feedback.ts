import { type EpochMs, isObject, type Json, type Report, type ReportKind, reportKinds } from '../../../terms.ts';
import type { DestinationServices, FeedbackFailure, ReadFeedback } from '../../destination.ts';
import { type AccountRequests, accountRequests, accountUrl } from './account-request.ts';
import type { Feedback } from './preset.ts';
import { at, parseBody, textAt } from './read-answer.ts';
import type { Request } from './request.ts';
import type { Settings } from './settings.ts';
import { compileLine, type Scope } from './template.ts';

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
      for await (const page of pagesOf(list, scope, account, signal)) {
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

async function* pagesOf(
  list: Feedback,
  scope: Scope,
  { send }: AccountRequests,
  signal: AbortSignal,
): AsyncGenerator<Page> {
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
