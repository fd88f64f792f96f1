import type { Reservation } from '../../core/canonical/reservation.ts';
import { addDays, localDateAt } from '../../core/canonical/values.ts';
import { limitsOf, type PullPorts, type QueueRequest } from '../../core/intake/pull/ports.ts';
import { asksByDays } from '../../core/intake/pull/request/list-request.ts';
import { executeRun } from '../../core/intake/pull/run/execution.ts';
import { daysIn, type Window } from '../../core/intake/pull/window/windows.ts';
import { type DryRecord, openDryRunStore } from '../../core/store/runs/dry-runs.ts';
import { parseJson } from '../../kit/json.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { IntegrationName, Json, LocalDate } from '../../terms.ts';
import { failed, mustWait, testPorts } from './fetch-sample.ts';

/** A person waits for the answer. */
const timeoutMs = 25_000;

/** Pulls one day as a real run would, all pages, and returns the records instead of storing them. */
export async function dryRunDay(runtime: Runtime, integration: string, day: LocalDate | undefined, mostBytes?: number) {
  const ports = testPorts(runtime, mostBytes);
  const name = integration as IntegrationName;
  const planned = await ports.plan(name);
  if (planned.kind === 'unavailable') return failed(planned);
  const { timezone } = planned.plan.settings;
  const date = day ?? localDateAt(timezone, runtime.clock.now());
  const signal = AbortSignal.timeout(timeoutMs);
  const range = { from: date, to: date };
  const { outcome, records } = await dryRun(runtime, ports, { integration: name, ...range }, signal);
  if (outcome.kind === 'parked') return mustWait(outcome);
  if (outcome.kind !== 'finished') {
    return failed({ code: 'pull.timeout', message: `The pull of ${date} did not end within ${timeoutMs / 1000} s.` });
  }
  const { state, code, message = '', request } = outcome.end;
  const sent = request && { request };
  if (state === 'failed') return failed({ code: code ?? 'pull.interrupted', message, ...sent });
  const { fetched, changed, unchanged, superseded, dropped, dead, requests, pages } = outcome.counters;
  const warning = asksByDays(planned.plan.settings, {})
    ? await excludedBounds(listerOf(runtime, ports, name, signal), range, staysIn(records))
    : undefined;
  return {
    kind: 'done' as const,
    day: date,
    timezone,
    status: state,
    counts: { fetched, changed, unchanged, superseded, dropped, dead_lettered: dead, requests, pages },
    records: records.slice(0, 100).map(viewOf),
    ...(code !== undefined && { error: { code, message } }),
    /** The partner leaves out a day of each range. */
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
  const records: DryRecord[] = [];
  // A partner with one list for several brands: the other brands' records may be hidden from the caller.
  const onRecord = (one: DryRecord) => {
    if (one.integration === asked.integration) records.push(one);
  };
  const runs = openDryRunStore(runtime.pool, { clock: runtime.clock, onRecord });
  const request = { ...asked, kind: 'backfill', requestedBy: 'dry run' } as const;
  const queued = await runs.queue(request, { node: ports.node, leaseMs: limitsOf(ports).leaseMs });
  if (queued.kind === 'busy') throw new TypeError('a dry run is never busy');
  return { outcome: await executeRun({ ...ports, runs }, queued.run, { parkable: true, signal }), records };
}

/** What the partner lists for a range, by dry runs. */
export function listerOf(
  runtime: Runtime,
  ports: PullPorts,
  integration: IntegrationName,
  signal: AbortSignal,
): ListStays {
  return async (range) => {
    const { outcome, records } = await dryRun(runtime, ports, { integration, ...range }, signal);
    return outcome.kind === 'finished' && outcome.end.state !== 'failed' ? staysIn(records) : undefined;
  };
}

export function staysIn(records: readonly DryRecord[]): Reservation[] {
  return records.flatMap(({ alone }) => (alone.kind === 'change' ? [alone.record as Reservation] : []));
}

interface DryRunRecord {
  readonly kind: 'record' | 'dropped' | 'dead';
  /** What a real run would have done with it. */
  readonly outcome: DryRecord['outcome']['outcome'];
  readonly id?: string;
  readonly record?: Json;
  readonly notes?: Json;
  readonly code?: string;
  readonly message?: string;
}

function viewOf({ statement: { id, content, notes }, alone, outcome: { outcome } }: DryRecord): DryRunRecord {
  if (alone.kind === 'dead' && content && outcome !== 'dead') {
    return { kind: 'record', outcome, id, record: { id, ...content.values }, notes: notes as unknown as Json };
  }
  if (alone.kind === 'dead') {
    const { id: named, code, message } = alone.deadLetter;
    return { kind: 'dead', outcome, ...(named !== undefined && { id: named }), code, message };
  }
  if (alone.kind === 'dropped') return { kind: 'dropped', outcome, id, message: alone.reason };
  if (alone.kind !== 'change') throw new TypeError('a first statement is a change');
  return { kind: 'record', outcome, id, record: parseJson(alone.text), notes: alone.notes as unknown as Json };
}

type Stay = Pick<Reservation, 'id' | 'check_in' | 'check_out'>;

/** The stays that the partner lists for a range; undefined without an answer. */
type ListStays = (range: Window) => Promise<readonly Stay[] | undefined>;

/** Around a day on which the partner lists nothing. */
const daysAround = 3;

/**
 * Finds a partner whose range does not include its first or its last day: it lists a known stay for two days and not for its own day alone.
 * The stay comes from the answer that is at hand, or from the days around. Undefined if both days are included, or nothing is known.
 */
export async function excludedBounds(
  list: ListStays,
  asked: Window,
  listed: readonly Stay[],
): Promise<string | undefined> {
  const isOneDay = daysIn(asked) === 1;
  if (isOneDay && listed.length > 0) return undefined;
  const around = { from: addDays(asked.from, -daysAround), to: addDays(asked.to, daysAround) };
  const known = listed.length > 0 ? listed : await list(around);
  const [stay] = known?.toSorted((a, b) => nights(b) - nights(a)) ?? [];
  if (stay === undefined) return undefined;
  const shows = async (from: LocalDate, to: LocalDate) =>
    (await list({ from, to }))?.some(({ id }) => id === stay.id) ?? false;
  const days = [stay.check_in, stay.check_out];
  for (const day of days) if (await shows(day, day)) return undefined;
  for (const day of days) {
    if (await shows(addDays(day, -1), day)) return startExcluded;
    // For one night, a list by arrival without its last day equals one by departure without its first.
    if (await shows(day, addDays(day, 1)))
      return nights(stay) === 1 && day === stay.check_in ? oneExcluded : endExcluded;
    if (await shows(addDays(day, -1), addDays(day, 1))) return `${startExcluded} ${endExcluded}`;
  }
  return undefined;
}

const nights = ({ check_in: from, check_out: to }: Stay): number => daysIn({ from, to }) - 1;

const startExcluded =
  'The partner leaves out the first day of a range: send {window.before} instead of {window.from}, or every window loses a day.';
const oneExcluded =
  'The partner leaves out the first or the last day of a range, and stays of one night do not show which: send {window.before} instead of {window.from} or {window.after} instead of {window.to}, whichever makes a dry run of one day list its stays.';
const endExcluded =
  'The partner leaves out the last day of a range: send {window.after} instead of {window.to}, or every window loses a day.';
