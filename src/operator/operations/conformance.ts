import { behaviourRules, checkApi } from '../../../packages/partner-kit/src/check/api.ts';
import { OutOfRequests } from '../../../packages/partner-kit/src/check/client.ts';
import type { Target } from '../../../packages/partner-kit/src/check/evidence.ts';
import type { Brand } from '../../core/brand/brand.ts';
import { addDays, localDateAt } from '../../core/canonical/values.ts';
import type { PullSettings } from '../../core/documents/pull.ts';
import { readTotal } from '../../core/intake/pull/page/paginate.ts';
import type { PullPorts } from '../../core/intake/pull/ports.ts';
import { pathReader } from '../../core/json-path/read.ts';
import { gateOf } from '../../core/outbound/ask/asking.ts';
import { credentialsFor } from '../../core/outbound/auth/credentials.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { IntegrationName, Json } from '../../terms.ts';
import type { PullFacts } from '../onboard/facts.ts';
import { mostTestedBytes, testPorts } from './fetch-sample.ts';

/** Rules about the envelope of the description; the connector says how this one is. */
const settledByConnector = new Set(['list.root', 'paging.envelope']);
/** A page waits for it, and a proxy cuts an answer that takes a minute. */
const mostMs = 50_000;

/**
 * Judges the brand's API by the rules of the partner kit about calls, paging and errors, with the connector's own requests and reading.
 * Records are not judged: the mapping does that. Undefined if the connector asks in a way that the check does not know, or if it was
 * ended early.
 */
export async function checkConformance(
  runtime: Runtime,
  integration: IntegrationName,
  onRequest: (count: number) => Promise<void>,
  caller: AbortSignal,
): Promise<Required<NonNullable<PullFacts['check']>> | undefined> {
  const planned = await planOf(runtime, integration);
  if (planned === undefined) return undefined;
  const { ports, plan, target } = planned;
  const signal = AbortSignal.any([caller, AbortSignal.timeout(mostMs)]);
  const send = senderOf(ports, plan, signal);
  let sent = 0;
  try {
    const { rules, requests } = await checkApi({
      ...target,
      ...daysAround(runtime.clock.now(), plan.settings),
      rules: behaviourRules.filter(({ id }) => !settledByConnector.has(id)),
      mostRequests: 30,
      now: runtime.clock.now,
      wait: (ms) => runtime.clock.wait(ms, signal),
      signal,
      fetch: async (url, init) => {
        await onRequest(++sent);
        return send(url, init);
      },
    });
    // Rules that were not reached would count as kept.
    if (signal.aborted) return undefined;
    const facts = rules.flatMap(({ request, level: _, outcome, ...rule }) => {
      if (outcome === 'skip') return [];
      const shown = requests.find(({ number }) => number === request);
      const asked = shown && { asked: `${shown.method} ${shown.url}`.slice(0, 300), status: shown.status };
      return [{ ...rule, outcome, seen: rule.seen.slice(0, 300), ...asked }];
    });
    return { requests: sent, rules: facts };
  } catch (error) {
    if (error instanceof OutOfRequests) return undefined;
    throw error;
  }
}

export const isCheckable = async (runtime: Runtime, integration: IntegrationName): Promise<boolean> =>
  (await planOf(runtime, integration)) !== undefined;

async function planOf(runtime: Runtime, integration: IntegrationName) {
  const ports = testPorts(runtime, mostTestedBytes);
  const planned = await ports.plan(integration);
  if (planned.kind === 'unavailable') return undefined;
  const target = targetOf(planned.plan);
  return target && { ports, plan: planned.plan, target };
}

function daysAround(now: number, { timezone, stepDays }: PullSettings): Pick<Target, 'from' | 'to'> {
  const from = addDays(localDateAt(timezone, now), -Math.floor(Math.min(stepDays, 7) / 2));
  return { from, to: addDays(from, Math.min(stepDays, 7) - 1) };
}

type Plan = { readonly settings: PullSettings; readonly brand: Brand };

/** Sends as a run does: guarded, with the brand's credentials, at its rate. */
function senderOf(ports: PullPorts, plan: Plan, signal: AbortSignal) {
  const { settings } = plan;
  const credentials = credentialsFor(ports, plan);
  const gate = gateOf({ ...ports, limits: { parkMs: mostMs } }, plan);
  const once = async (url: string, init: RequestInit) => {
    const admission = await gate.admit(false);
    if (admission.kind === 'wait') await ports.clock.wait(admission.ms, signal);
    const { origin, pathname, searchParams } = new URL(url);
    const authorized = await credentials.authorize({
      method: init.method === 'POST' ? 'POST' : 'GET',
      base: origin + pathname,
      query: [...searchParams],
      headers: {},
      ...(typeof init.body === 'string' && { body: JSON.parse(init.body), encoding: 'json' }),
    });
    if (authorized.kind === 'failed') throw new Error(authorized.message);
    const { connectMs, idleMs, deadlineMs, maxBytes } = settings;
    const answered = await ports.http.request({
      ...authorized.wire,
      connectMs,
      idleMs,
      deadlineMs,
      expects: { bytes: maxBytes },
      signal,
    });
    if (answered.kind === 'failed') throw new Error(answered.message);
    return answered;
  };
  return async (url: string, init: RequestInit): Promise<Response> => {
    const first = await once(url, init);
    // The token may have expired.
    if (first.status === 401) await credentials.renew();
    const { status, headers, bytes } = first.status === 401 ? await once(url, init) : first;
    return new Response([204, 205, 304].includes(status) ? null : bytes, { status, headers });
  };
}

/** The list as the check asks for it: two dates and a page as parameters. Undefined for a connector that asks otherwise. */
function targetOf({ settings, brand }: Plan): Omit<Target, 'from' | 'to'> | undefined {
  const { request, pagination, base_url: baseUrl } = settings;
  const shaper = brand.shapers.pull;
  if (request === undefined || request.encoding === 'form' || settings.adapter !== undefined || shaper.flat)
    return undefined;
  const place = request.method === 'POST' ? 'body' : 'query';
  const parameters = Object.entries(request[place] ?? {});
  const named = (value: string) => parameters.find(([, one]) => one === value)?.[0];
  const [dateFrom, dateTo] = [named('{window.from}'), named('{window.to}')];
  if (dateFrom === undefined || dateTo === undefined || request.path.includes('{')) return undefined;
  const { paging, names } = pagingOf(pagination, place);
  const next = pagination.type === 'cursor' ? pathReader(pagination.next) : () => undefined;
  const total = 'total' in pagination && pagination.total !== false ? pathReader(pagination.total) : () => undefined;
  return {
    baseUrl,
    auth: { type: 'none' },
    form: request.method === 'POST' ? 'post' : 'get',
    listPath: request.path,
    paging,
    own: {
      names: { dateFrom, dateTo, ...names },
      fixed: Object.fromEntries(parameters.filter(([, value]) => !JSON.stringify(value).includes('{'))),
      read: (body: Json) => {
        const read = shaper.records(body);
        if (read.kind !== 'ok') return undefined;
        const cursor = next(body);
        const count = readTotal(total(body));
        return {
          root: brand.connector.body.shape?.root_path ?? '',
          records: read.records.map((raw) => {
            const { id = raw.key, check_in = null, check_out = null } = shaper.draft(raw).record;
            return { id, check_in, check_out } as Record<string, Json>;
          }),
          envelope: count === undefined ? undefined : { total: count },
          nextCursor: cursor === undefined || cursor === null || cursor === '' ? undefined : String(cursor),
        };
      },
    },
  };
}

type Paging = Pick<Required<Target>, 'paging'> & { readonly names: Readonly<Record<string, string>> };

/** The names of the paging parameters, if they are beside the dates; otherwise pages are not judged. */
function pagingOf(pagination: PullSettings['pagination'], place: 'query' | 'body'): Paging {
  const none: Paging = { paging: 'none', names: {} };
  const named = (places: Readonly<Record<string, string | undefined>>): Paging => {
    const given = Object.entries(places).filter((one): one is [string, string] => one[1] !== undefined);
    if (given.some(([, at]) => !at.startsWith(`${place}.`) || at.split('.').length > 2)) return none;
    const names = Object.fromEntries(given.map(([name, at]) => [name, at.slice(place.length + 1)]));
    return { paging: pagination.type as Paging['paging'], names };
  };
  switch (pagination.type) {
    case 'offset':
      return pagination.first === 0 && pagination.limit
        ? named({ offset: pagination.offset, limit: pagination.limit })
        : none;
    case 'page': {
      const { page, limit, first } = pagination;
      return first === 1 && limit ? named({ page, limit, page_size: limit }) : none;
    }
    case 'cursor':
      return pagination.more === undefined ? named({ cursor: pagination.cursor, limit: pagination.limit }) : none;
    case 'link':
      return named({ limit: pagination.limit });
    default:
      return none;
  }
}
