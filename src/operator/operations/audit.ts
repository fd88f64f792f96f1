import { configured, deliverPorts, readyDestination } from '../../composition/deliver.ts';
import { type Finding, type FindingKind, findingKinds } from '../../core/deliver/compare.ts';
import { type DestinationServices, type Holdings, type RecordsOf, Unreadable } from '../../core/deliver/destination.ts';
import { loadDestinationTypes } from '../../core/deliver/destinations.ts';
import type { Lane } from '../../core/deliver/ports.ts';
import { nextDue } from '../../core/store/outbox/due.ts';
import { resendStep } from '../../core/store/outbox/resend.ts';
import { InnboundError } from '../../errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { EntityType } from '../../terms.ts';
import {
  type Comparison,
  type ComparisonCounts,
  type Difference,
  forgetComparisons,
  sampleIds,
  saveComparison,
} from '../store/comparisons.ts';
import { heldFiles } from '../store/held-rows.ts';
import { compareOurs, compareTheirs, type Judged, type Page } from './audit-page.ts';
import { namedDestination } from './resend.ts';

/**
 * Compares what a destination holds with what would be sent to it now. Brand by brand and type by type: first our records, in pages that are
 * looked up there; then the ids that it has and we do not. Its state is plain JSON, so a job continues it on any node, and its memory
 * does not grow with the records.
 */
export interface AuditRequest {
  readonly destination: string;
  /** All brands, unless one is named. */
  readonly integration?: string | undefined;
  /** Only records that changed since then. */
  readonly since?: string | undefined;
  /** Only so many records of each brand and type, by chance. */
  readonly sample?: number | undefined;
  /** Queues ordinary deliveries for what is behind, missing or changed. */
  readonly repair?: boolean | undefined;
}

export interface AuditState {
  /** Still to do, the one in progress first. */
  readonly brands: readonly string[];
  readonly part: number;
  readonly after: string;
  readonly started_at: string;
  readonly reason: string | null;
  readonly counts: ComparisonCounts;
  readonly differences: readonly Difference[];
}

export interface AuditStep {
  readonly state: AuditState | undefined;
  readonly read: number;
  readonly differences: readonly Difference[];
  /** The brand that the step finished. */
  readonly finished?: Comparison & { readonly finished_at: Date };
}

export interface Audit {
  readonly runtime: Runtime;
  readonly request: AuditRequest;
  readonly holdings: Holdings;
  readonly receives: readonly EntityType[];
  readonly laneOf: (integration: string) => Lane | undefined;
  readonly epoch: number;
  readonly services: DestinationServices;
}

const pageSize = 5_000;
const idsAtOnce = 20_000;
/** The differences that are kept of each brand. */
const mostKept = 500;

export const repairable: ReadonlySet<FindingKind> = new Set(['behind', 'changed', 'missing']);

const noCounts = Object.fromEntries(
  [...findingKinds, 'compared', 'erased_there', 'wrongly_there', 'repaired'].map((kind) => [kind, 0]),
) as ComparisonCounts;

export async function openAudit(runtime: Runtime, request: AuditRequest): Promise<Audit> {
  const destination = namedDestination(runtime, request.destination);
  const { body } = destination;
  const types = await loadDestinationTypes();
  const { type, settings, services } = await readyDestination(runtime, types, configured(destination));
  const holdings = type.holdings?.(settings, services, heldFiles(runtime.pool, request.destination));
  if (holdings === undefined) {
    const message = `What ${request.destination} holds cannot be read back: ${body.type === 'http' ? 'its document has no `read`' : `the type ${body.type} has no way to`}.`;
    throw new InnboundError('operate.invalid_input', message);
  }
  const { lanes, epoch } = await deliverPorts(runtime);
  return {
    runtime,
    request,
    holdings,
    receives: body.receives,
    laneOf: (integration) =>
      lanes()
        .of(integration)
        .find(({ destination }) => destination.name === request.destination),
    epoch: epoch(),
    services,
  };
}

/** The brands that deliver to the destination, then others of which it still has records. */
export async function beginAudit({ runtime, request, holdings }: Audit): Promise<AuditState> {
  const { integrations } = runtime.active();
  const { destination, integration: named } = request;
  await holdings.forget?.();
  if (named !== undefined && !integrations.has(named)) {
    throw new InnboundError('documents.unknown_name', `There is no integration ${named}.`);
  }
  if (named !== undefined) return newBrand(runtime, [named]);
  const delivering = [...integrations.values()].flatMap(({ body, integration }): string[] =>
    body.deliver.includes(destination) ? [integration] : [],
  );
  if (partOf(request) !== null) return newBrand(runtime, delivering);
  const there = await holdings.integrations?.().catch(unreadable);
  if (typeof there === 'string') return { ...newBrand(runtime, delivering), reason: there };
  const brands = [...new Set([...delivering, ...(there ?? [])])];
  await forgetComparisons(runtime.pool, destination, brands);
  return newBrand(runtime, brands);
}

function unreadable(error: unknown): string {
  if (error instanceof Unreadable) return error.message;
  throw error;
}

const newBrand = ({ clock }: Runtime, brands: readonly string[]): AuditState => ({
  brands,
  part: 0,
  after: '',
  started_at: new Date(clock.now()).toISOString(),
  reason: null,
  counts: noCounts,
  differences: [],
});

const partOf = ({ since, sample }: AuditRequest): string | null =>
  sample !== undefined ? `sample of ${sample}` : since === undefined ? null : `since ${since}`;

/** Compares the next page. */
export async function auditStep(audit: Audit, state: AuditState, signal: AbortSignal): Promise<AuditStep> {
  const [brand] = state.brands;
  if (brand === undefined) return { state: undefined, read: 0, differences: [] };
  const parts = partsOf(audit);
  const part = parts[state.part];
  if (part === undefined) return finishBrand(audit, brand, state);
  const of = { integration: brand, type: part.type };
  await giveWay(audit, brand, signal);
  const page = await (part.ours ? ours : theirs)(audit, of, state.after);
  const judged = page.judged.map((one) => ({ ...one, isWrong: isWrong(one) }));
  const repaired = audit.request.repair ? await repair(audit, of, judged) : 0;
  const differences = judged.flatMap(({ finding, ...one }) =>
    finding.kind === 'equal' ? [] : [lineOf(of, finding, one)],
  );
  const afterPart = { part: page.failure === undefined ? state.part + 1 : parts.length, after: '' };
  const next = page.last === undefined ? afterPart : { after: page.last };
  return {
    state: {
      ...state,
      ...next,
      reason: page.failure ?? state.reason,
      counts: { ...counted(state.counts, judged), repaired: state.counts.repaired + repaired },
      differences: [...state.differences, ...differences.slice(0, mostKept - state.differences.length)],
    },
    read: page.read,
    differences,
  };
}

const partsOf = ({ receives, holdings, request }: Audit) =>
  receives.flatMap((type) => [
    { type, ours: true },
    ...(holdings.ids !== undefined && partOf(request) === null ? [{ type, ours: false }] : []),
  ]);

async function ours(audit: Audit, of: RecordsOf, after: string): Promise<Page> {
  const { request, runtime } = audit;
  const ids = request.sample === undefined ? undefined : await sampleIds(runtime.pool, of, request.sample);
  const limit = ids?.length ?? audit.holdings.atOnce ?? pageSize;
  const page = await compareOurs(audit, of, { after, limit, ids, since: request.since });
  // Another page would be another sample.
  return ids === undefined ? page : { ...page, last: undefined };
}

const theirs = (audit: Audit, of: RecordsOf, after: string): Promise<Page> =>
  compareTheirs(audit, of, after, idsAtOnce);

/** What should not be there, whoever put it there. */
const isWrong = ({ finding, isErased }: Judged): boolean => isErased || finding.kind === 'only_there';

function counted(
  counts: ComparisonCounts,
  judged: readonly (Judged & { readonly isWrong: boolean })[],
): ComparisonCounts {
  const all = { ...counts };
  for (const { finding, isErased, isWrong } of judged) {
    all[finding.kind] += 1;
    if (finding.kind !== 'only_there') all.compared += 1;
    if (isErased) all.erased_there += 1;
    if (isWrong) all.wrongly_there += 1;
  }
  return all;
}

const lineOf = (
  { integration, type }: RecordsOf,
  { kind, paths, reason, versionThere }: Finding,
  one: Omit<Judged, 'finding'>,
): Difference => ({
  integration,
  id: one.id,
  type,
  kind,
  ...(paths && { paths }),
  ...(one.isErased ? { reason: 'erased_guest' } : reason !== undefined && { reason }),
  version_here: one.versionHere,
  ...(versionThere !== undefined && { version_there: versionThere }),
});

/** Deliveries as a resend queues them. */
async function repair({ runtime, request, laneOf }: Audit, of: RecordsOf, judged: readonly Judged[]): Promise<number> {
  const ids = judged.flatMap(({ finding, id }) => (repairable.has(finding.kind) ? [id] : []));
  if (ids.length === 0 || laneOf(of.integration)?.isLeaving !== undefined) return 0;
  const { queued } = await resendStep(runtime.pool, { ...of, destination: request.destination }, '', ids, ids.length);
  runtime.wake.signal('outbox');
  return queued;
}

async function finishBrand(
  { runtime, request, holdings }: Audit,
  integration: string,
  state: AuditState,
): Promise<AuditStep> {
  const { started_at, reason, counts, differences } = state;
  const { destination } = request;
  const whole = {
    destination,
    integration,
    started_at,
    part: partOf(request),
    complete: reason === null,
    reason,
    counts,
    differences,
  };
  const finished = { ...whole, finished_at: await saveComparison(runtime.pool, whole) };
  const rest = state.brands.slice(1);
  if (rest.length === 0) await holdings.forget?.();
  return { state: rest.length === 0 ? undefined : newBrand(runtime, rest), read: 0, differences: [], finished };
}

/** Due deliveries go first, but an audit ends also where there are always some. */
const mostYields = 3;
const yieldMs = 100;

async function giveWay({ runtime, request, services }: Audit, integration: string, signal: AbortSignal): Promise<void> {
  const { destination } = request;
  for (let i = 0; i < mostYields && !signal.aborted; i++) {
    const [due] = await nextDue(runtime.pool, [{ integration, destination }]);
    if (due === undefined || due.dueInMs > 0) break;
    await runtime.clock.wait(yieldMs, signal);
  }
  const { rate, takeRequest } = services;
  for (let granted = rate === undefined; !granted && rate !== undefined && !signal.aborted; ) {
    const turn = await takeRequest({ name: '', rate });
    await runtime.clock.wait(turn.waitMs, signal);
    granted = turn.granted > 0;
  }
}
