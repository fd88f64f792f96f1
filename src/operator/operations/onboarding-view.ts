import { fieldNames } from '../../core/canonical/fields.ts';
import type { SandboxReport } from '../../core/intake/push/sandbox-report.ts';
import { pushSettingsOf } from '../../core/intake/push/settings.ts';
import { defaultVerification } from '../../core/intake/push/verification.ts';
import { endpointStatus } from '../../core/store/events/endpoints.ts';
import { listRejections } from '../../core/store/events/rejections.ts';
import { listSandboxReports } from '../../core/store/events/sandbox.ts';
import { listRuns, type RunSummary } from '../../core/store/runs/list.ts';
import type { ErrorEntry } from '../../errors/entry.ts';
import { errors } from '../../errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { isObject, type Json } from '../../terms.ts';
import { type LinkState, linkRefusal, stateOf } from '../onboard/states.ts';
import type { OnboardingLink } from '../store/onboarding.ts';
import { publicUrl } from './endpoints.ts';
import { checksOf, ownsConnector } from './onboarding.ts';

/** Everything that the partner's page shows: its own brand, without stored records, destinations or our names for things. */
export async function partnerView(runtime: Runtime, link: OnboardingLink) {
  const brand = runtime.active().integrations.get(link.integration);
  // Nobody without a valid link gets here.
  const state = stateOf(link) as Exclude<LinkState, 'revoked' | 'expired'>;
  const isLive = state === 'live';
  return {
    partner: link.partner,
    brand: brand?.body.brand_id ?? '',
    language: link.language,
    asks: link.asks,
    expires_at: link.expires_at,
    state,
    push: link.asks.includes('push') ? await pushView(runtime, link) : null,
    pull: link.asks.includes('pull') ? pullView(runtime, link) : null,
    ...checksOf(runtime, link),
    comments: link.comments.map(({ author: _, ...one }) => one),
    health: isLive ? await healthView(runtime, link) : null,
  };
}

async function pushView(runtime: Runtime, { integration, secret_at, push_facts, created_at }: OnboardingLink) {
  const brand = runtime.active().integrations.get(integration);
  const status = await endpointStatus(runtime.pool, integration);
  const settings = brand && pushSettingsOf(brand);
  if (status === undefined || settings === undefined) return null;
  const { endpoint_id: own, sandbox_id: sandbox } = status;
  // Before going live the brand's own address reports; afterwards there is its sandbox for tests.
  const tested = settings.rehearses ? own : (sandbox ?? own);
  const base = `${await publicUrl(runtime)}/webhooks/`;
  const reports = await listSandboxReports(runtime.pool, tested);
  const refused = (await listRejections(runtime.pool, integration)).filter(
    ({ endpoint_id, at }) => endpoint_id === tested && at >= created_at,
  );
  const requests = [...reports.map(requestOf), ...refused.map(refusalOf)]
    .toSorted((a, b) => (a.at < b.at ? 1 : -1))
    .slice(0, 30);
  return {
    url: base + own,
    test_url: base + tested,
    is_rehearsal: settings.rehearses === true,
    secret_at,
    /** Whether the sender signs and wraps as we describe it; a system with its own way needs no code of ours. */
    is_standard: settings.verification === defaultVerification && settings.envelope === undefined,
    retry_test: push_facts?.retry ? { attempts: push_facts.retry.attempts.length } : null,
    requests,
  };
}

/** A report as the partner sees it: what was wrong and what we understood. */
function requestOf(report: SandboxReport) {
  const { report_id: id, at, event, event_id, would_answer, answered, signature, body, envelope, outcome } = report;
  const understood =
    outcome.kind === 'record'
      ? {
          fields: partnerFields(outcome.record),
          notes: outcome.notes.map(({ field, code, reason }) => ({ field, code, reason })),
          ...(outcome.effect !== undefined && { effect: outcome.effect }),
        }
      : {};
  return {
    id,
    at,
    event: event ?? null,
    event_id: event_id.length > 80 ? `${event_id.slice(0, 80)}…` : event_id,
    status: answered ?? would_answer.status,
    code: would_answer.code ?? null,
    signature,
    problems: [...(body.problem === undefined ? [] : [{ pointer: '', detail: body.problem }]), ...envelope],
    outcome: {
      kind: outcome.kind,
      ...understood,
      ...(outcome.kind === 'dead_letter' && { code: outcome.code, reason: outcome.message }),
      ...('reason' in outcome && { reason: outcome.reason }),
    },
  };
}

/** A request that was refused before it could be examined, such as one with a wrong content type. */
function refusalOf({ at, status, code, reason, request_id: id }: Awaited<ReturnType<typeof listRejections>>[number]) {
  return {
    id,
    at: at.toISOString(),
    event: null,
    event_id: '',
    status,
    code,
    signature: null,
    problems: [{ pointer: '', detail: meaningOf(code) ?? reason }],
    outcome: { kind: 'none' as const },
  };
}

function pullView(runtime: Runtime, { integration, pull_facts, ...link }: OnboardingLink) {
  const brand = runtime.active().integrations.get(integration);
  const { pull, paused = false } = brand?.body ?? {};
  const { request, pagination } = brand?.connector.body.pull ?? {};
  const isMapped = Object.keys(brand?.connector.body.map ?? {}).length > 0;
  const parameters = Object.entries(request?.query ?? request?.body ?? {});
  const named = (place: string) => parameters.find(([, value]) => String(value).startsWith(`{${place}`))?.[0] ?? '';
  const auth = pull?.auth;
  return {
    /** False when the brand is live: its connection is the operator's. */
    may_edit: paused && linkRefusal(link, 'partner', 'pull') === undefined,
    base_url: pull?.base_url.includes('${') ? null : (pull?.base_url ?? null),
    auth: auth === undefined ? null : { type: auth.type, ...(auth.type === 'oauth2' && { grant: auth.grant }) },
    /** What the list is asked by; null where the system is known. */
    list: ownsConnector(runtime, integration)
      ? {
          method: request?.method ?? ('GET' as const),
          path: request?.path ?? '',
          from: named('window.from'),
          to: named('window.to'),
          // `none` is an assumption until the first answer was read.
          paging: isMapped || pagination?.type !== 'none' ? (pagination ?? null) : null,
        }
      : null,
    tested_at: pull_facts === null ? null : new Date(pull_facts.testedAt),
    check: pull_facts?.check ?? null,
  };
}

/** After going live: how the partner's own feed does, with what it needs to find a failed request in its logs. */
async function healthView(runtime: Runtime, { integration }: OnboardingLink) {
  const { pool } = runtime;
  const [status, refused, runs] = [
    await endpointStatus(pool, integration),
    await listRejections(pool, integration),
    await listRuns(pool, { integration, limit: 20 }),
  ];
  const backfill = runs.find(({ kind }) => kind === 'backfill');
  const polls = runs.filter(({ finished_at }) => finished_at !== null);
  return {
    last_event_at: (status?.last_event_at ?? null) as Date | null,
    last_poll: polls[0] ? pollOf(polls[0]) : null,
    backfill: backfill ? { status: backfill.status, bookings: backfill.fetched } : null,
    refused: refused.slice(0, 20).map(({ at, status: answered, code, reason, request_id }) => ({
      at,
      status: answered,
      code,
      reason,
      request_id,
    })),
    failed_polls: polls.filter(({ error_code }) => error_code !== null).map(pollOf),
  };
}

const pollOf = ({ finished_at, queued_at, status, error_code, run_id, fetched }: RunSummary) => ({
  at: finished_at ?? queued_at,
  id: run_id,
  status,
  bookings: fetched,
  code: error_code,
  meaning: error_code === null ? null : (meaningOf(error_code) ?? null),
});

/** A stored code may be one of a later version. */
const meaningOf = (code: string): string | undefined =>
  (errors as Readonly<Record<string, ErrorEntry | undefined>>)[code]?.what;

/** One canonical field as a partner's page shows it. */
interface PartnerField {
  /** Such as check_in or guests[0].email. */
  readonly field: string;
  readonly value: string;
  /** Where it was found in the partner's record. */
  readonly from?: string;
}

const personal = fieldNames((field) => field.personal);

/**
 * The fields of a record, one per line. Personal values keep only their ends: the partner recognizes its own record, and whoever looks over
 * its shoulder learns nobody's name or address.
 */
export function partnerFields(record: Json, origins: { readonly [field: string]: string } = {}): PartnerField[] {
  const walk = (value: Json, path: string, name: string): PartnerField[] => {
    if (value === null || value === '') return [];
    if (Array.isArray(value)) return value.flatMap((one, i) => walk(one, `${path}[${i}]`, name));
    if (isObject(value)) {
      return Object.entries(value).flatMap(([key, one]) =>
        walk(one ?? null, path === '' ? key : `${path}.${key}`, key === 'extra' || name === 'extra' ? 'extra' : key),
      );
    }
    const from = origins[path];
    const text = personal.has(name) || name === 'extra' ? masked(String(value)) : String(value).slice(0, 200);
    return [{ field: path, value: text, ...(from !== undefined && { from }) }];
  };
  return walk(record, '', '').slice(0, 80);
}

/** `Anna` becomes `A•••`, an address keeps its domain's end, a number its last two digits. */
function masked(text: string): string {
  const at = text.lastIndexOf('@');
  if (at > 0) return `${text[0]}•••@•••${text.slice(text.lastIndexOf('.'))}`;
  return /^\+?[\d\s()-]{5,}$/.test(text) ? `•••${text.slice(-2)}` : `${[...text][0] ?? ''}•••`;
}
