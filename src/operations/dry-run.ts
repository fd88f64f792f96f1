import { localDateAt } from '../canonical/dates.ts';
import type { Reservation } from '../canonical/reservation.ts';
import type { ErrorCode } from '../errors.ts';
import type { PullPorts, QueueRequest } from '../intake/pull/ports.ts';
import { asksByDays } from '../intake/pull/request/list-request.ts';
import { limitsOf } from '../intake/pull/run/limits.ts';
import { executeRun } from '../intake/pull/run/run.ts';
import type { Counters } from '../intake/pull/run/run-state.ts';
import { parseJson } from '../kit/json.ts';
import type { Exchange } from '../outbound/ask/exchange.ts';
import type { OutcomeName } from '../reconcile/forms.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { type DryRecord, openDryRunStore } from '../store/runs/dry-runs.ts';
import type { IntegrationName, Json, LocalDate } from '../terms.ts';
import { excludedBounds, type ListStays } from './check-bounds.ts';
import { mustWait, testPorts } from './fetch-sample.ts';

export interface DryRunRecord {
  readonly kind: 'record' | 'dropped' | 'dead';
  /** What a real run would have done with it. */
  readonly outcome: OutcomeName;
  readonly id?: string;
  readonly record?: Json;
  readonly notes?: Json;
  readonly code?: ErrorCode;
  readonly message?: string;
}

export type DryRun =
  | {
      readonly kind: 'done';
      readonly day: LocalDate;
      readonly timezone: string;
      readonly status: 'complete' | 'incomplete';
      readonly counts: Pick<
        Counters,
        'fetched' | 'changed' | 'unchanged' | 'superseded' | 'dropped' | 'requests' | 'pages'
      > & {
        readonly dead_lettered: number;
      };
      readonly records: readonly DryRunRecord[];
      readonly error?: { readonly code: ErrorCode; readonly message: string };
      /** The partner leaves out a day of each range. */
      readonly warning?: string;
      readonly request?: Exchange;
    }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string; readonly request?: Exchange };

/** A person waits for the answer. */
const timeoutMs = 25_000;
const mostRecords = 100;

/** Pulls one day as a real run would, all pages, and returns the records instead of storing them. */
export async function dryRunDay(runtime: Runtime, integration: string, day: LocalDate | undefined): Promise<DryRun> {
  const ports = testPorts(runtime);
  const name = integration as IntegrationName;
  const planned = await ports.plan(name);
  if (planned.kind === 'unavailable') return { kind: 'failed', code: planned.code, message: planned.message };
  const { timezone } = planned.plan.settings;
  const date = day ?? localDateAt(timezone, runtime.clock.now());
  const signal = AbortSignal.timeout(timeoutMs);
  const range = { from: date, to: date };
  const { outcome, found } = await dryRun(runtime, ports, { integration: name, ...range }, signal);
  if (outcome.kind === 'parked') return mustWait(outcome);
  if (outcome.kind !== 'finished') {
    const message = `The pull of ${date} did not end within ${timeoutMs / 1000} s.`;
    return { kind: 'failed', code: 'pull.timeout', message };
  }
  const { state, code, message = '', request } = outcome.end;
  const sent = request && { request };
  if (state === 'failed') return { kind: 'failed', code: code ?? 'pull.interrupted', message, ...sent };
  const { fetched, changed, unchanged, superseded, dropped, dead, requests, pages } = outcome.counters;
  const warning = asksByDays(planned.plan.settings, {})
    ? await excludedBounds(listerOf(runtime, ports, name, signal), range, staysIn(found))
    : undefined;
  return {
    kind: 'done',
    day: date,
    timezone,
    status: state,
    counts: { fetched, changed, unchanged, superseded, dropped, dead_lettered: dead, requests, pages },
    records: found.slice(0, mostRecords).map(viewOf),
    ...(code !== undefined && { error: { code, message } }),
    ...(warning !== undefined && { warning }),
    ...sent,
  };
}

async function dryRun(
  runtime: Runtime,
  ports: PullPorts,
  asked: Pick<QueueRequest, 'integration' | 'from' | 'to'>,
  signal: AbortSignal,
) {
  const found: DryRecord[] = [];
  // A partner with one list for several brands: the other brands' records may be hidden from the caller.
  const onRecord = (one: DryRecord) => {
    if (one.integration === asked.integration) found.push(one);
  };
  const runs = openDryRunStore(runtime.pool, { clock: runtime.clock, onRecord });
  const request = { ...asked, kind: 'backfill', requestedBy: 'dry run' } as const;
  const queued = await runs.queue(request, { node: ports.node, leaseMs: limitsOf(ports).leaseMs });
  if (queued.kind === 'busy') throw new TypeError('a dry run is never busy');
  return { outcome: await executeRun({ ...ports, runs }, queued.run, { parkable: true, signal }), found };
}

/** What the partner lists for a range, by dry runs. */
export function listerOf(
  runtime: Runtime,
  ports: PullPorts,
  integration: IntegrationName,
  signal: AbortSignal,
): ListStays {
  return async (range) => {
    const { outcome, found } = await dryRun(runtime, ports, { integration, ...range }, signal);
    return outcome.kind === 'finished' && outcome.end.state !== 'failed' ? staysIn(found) : undefined;
  };
}

export function staysIn(found: readonly DryRecord[]): Reservation[] {
  return found.flatMap(({ alone }) => (alone.kind === 'change' ? [alone.record as Reservation] : []));
}

function viewOf({ statement: { id, says, notes }, alone, outcome: { outcome } }: DryRecord): DryRunRecord {
  if (alone.kind === 'dead' && says && outcome !== 'dead') {
    return { kind: 'record', outcome, id, record: { id, ...says.values }, notes: notes as unknown as Json };
  }
  if (alone.kind === 'dead') {
    const { id: named, code, message } = alone.deadLetter;
    return { kind: 'dead', outcome, ...(named !== undefined && { id: named }), code, message };
  }
  if (alone.kind === 'dropped') return { kind: 'dropped', outcome, id, message: alone.reason };
  if (alone.kind !== 'change') throw new TypeError('a first statement is a change');
  return { kind: 'record', outcome, id, record: parseJson(alone.text), notes: alone.notes as unknown as Json };
}
