import type { DryRun, DryRunRecord } from '../api/routes/dry-run.ts';
import { encodeRecord } from '../canonical/encode.ts';
import { limitsOf } from '../intake/pull/limits.ts';
import { executeRun } from '../intake/pull/run.ts';
import { todayAt } from '../intake/pull/windows.ts';
import { parseJson } from '../kit/json.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { type DryRecord, openDryRunStore } from '../store/runs/dry-runs.ts';
import type { IntegrationName, Json, LocalDate } from '../terms.ts';
import { pullPorts } from '../wiring/pull.ts';
import { mustWait, pauseMs } from './fetch-sample.ts';

/** A person waits for the answer. */
const patienceMs = 25_000;
const mostRecords = 100;

/** Pulls one day as a real run would, all pages, and returns the records instead of storing them. */
export async function dryRunDay(runtime: Runtime, integration: string, day: LocalDate | undefined): Promise<DryRun> {
  const ports = { ...pullPorts(runtime), limits: { parkMs: pauseMs } };
  const name = integration as IntegrationName;
  const planned = await ports.plan(name);
  if (planned.kind === 'unavailable') return { kind: 'failed', code: planned.code, message: planned.message };
  const { timezone } = planned.plan.settings;
  const date = day ?? todayAt(timezone, runtime.clock.now());
  const records: DryRunRecord[] = [];
  // A partner with one list for several brands: the other brands' records may be hidden from the caller.
  const onRecord = (one: DryRecord) => {
    if (one.integration === integration && records.length < mostRecords) records.push(viewOf(one));
  };
  const runs = openDryRunStore(runtime.pool, { clock: runtime.clock, onRecord });
  const request = { integration: name, kind: 'backfill', from: date, to: date, requestedBy: 'dry run' } as const;
  const queued = await runs.queue(request, { node: ports.node, leaseMs: limitsOf(ports).leaseMs });
  if (queued.kind === 'busy') throw new TypeError('a dry run is never busy');
  const outcome = await executeRun({ ...ports, runs }, queued.run, {
    parkable: true,
    signal: AbortSignal.timeout(patienceMs),
  });
  if (outcome.kind === 'parked') return mustWait(outcome);
  if (outcome.kind !== 'finished') {
    const message = `The pull of ${date} did not end within ${patienceMs / 1000} s.`;
    return { kind: 'failed', code: 'pull.timeout', message };
  }
  const { state, code, message = '' } = outcome.end;
  if (state === 'failed') return { kind: 'failed', code: code ?? 'pull.interrupted', message };
  const { fetched, changed, unchanged, superseded, dropped, dead, requests, pages } = outcome.counters;
  return {
    kind: 'done',
    day: date,
    timezone,
    status: state,
    counts: { fetched, changed, unchanged, superseded, dropped, dead_lettered: dead, requests, pages },
    records,
    ...(code !== undefined && { error: { code, message } }),
  };
}

function viewOf({ prepared, outcome: { outcome } }: DryRecord): DryRunRecord {
  if (prepared.kind === 'dead' && prepared.message && outcome !== 'dead') {
    const { id, says, notes } = prepared.message;
    return { kind: 'record', outcome, id, record: { id, ...says().values }, notes: notes as unknown as Json };
  }
  if (prepared.kind === 'dead') {
    const { id, code, message } = prepared.deadLetter;
    return { kind: 'dead', outcome, ...(id !== undefined && { id }), code, message };
  }
  if (prepared.kind === 'dropped') return { kind: 'dropped', outcome, id: prepared.id, message: prepared.reason };
  const { id, record, notes } = prepared.incoming;
  return {
    kind: 'record',
    outcome,
    id,
    record: parseJson(encodeRecord(record)),
    notes: notes as unknown as Json,
  };
}
