import { type ErrorCode, InnboundError } from '../../../../errors.ts';
import { addDays } from '../../../canonical/values.ts';
import type { ShownExchange } from '../../../outbound/ask/exchange.ts';
import { limitsOf, type PullPorts, type QueueRequest, type RunView } from '../ports.ts';
import { daysIn } from '../window/windows.ts';
import { executeRun } from './execution.ts';
import { type Counters, noCounts, type Position, type Progress, type Run } from './run-state.ts';

export interface SyncResult {
  readonly runId: string;
  readonly state: 'complete' | 'incomplete' | 'failed';
  readonly counters: Counters;
  /** `said`: the partner's own words. They may quote guest data. */
  readonly error?: { readonly code: ErrorCode; readonly message: string; readonly said?: string };
  /** The last request that was sent. */
  readonly request?: ShownExchange;
}

export type SyncProgress =
  | ({ readonly kind: 'progress'; readonly runId: string } & Progress)
  /** Another run of the same sync is active: this one waits for it. */
  | { readonly kind: 'busy'; readonly runId: string };

export interface SyncOptions {
  readonly onProgress?: (progress: SyncProgress) => void;
  readonly signal?: AbortSignal;
}

const lookEveryMs = 500;

/**
 * Runs one sync to its end in this process, after any active run of the same sync. Throws, without recording a run, if this process
 * cannot execute it: a secret may be missing here only, and a failed run would make the brand look as if its service failed.
 */
export async function syncOnce(
  ports: PullPorts,
  request: QueueRequest,
  options: SyncOptions = {},
): Promise<SyncResult> {
  const { leaseMs } = limitsOf(ports);
  const planned = await ports.plan(request.integration);
  if (planned.kind === 'unavailable') {
    throw new InnboundError(planned.code, `${planned.message}. No run was started.`);
  }
  for (;;) {
    const queued = await ports.runs.queue(request, { node: ports.node, leaseMs });
    if (queued.kind === 'queued') return execute(ports, queued.run, options, { ownsRun: true });
    const idle = await ports.runs.claim(request.integration, queued.runId, ports.node, leaseMs);
    if (idle !== undefined) {
      // No node works on it (no service runs, or it waits for the partner): executed here, as the requested run or ahead of it.
      const result = await execute(ports, idle, options, { ownsRun: false });
      const isRequested = idle.from === request.from && idle.to === request.to;
      if (isRequested || result.error?.code === 'pull.breaker_open') return result;
      continue;
    }
    options.onProgress?.({ kind: 'busy', runId: queued.runId });
    await ended(ports, request, queued.runId, options.signal);
    if (options.signal?.aborted) {
      throw new InnboundError(
        'pull.interrupted',
        'The sync was interrupted while waiting for another run of the same sync.',
      );
    }
  }
}

async function execute(
  ports: PullPorts,
  run: Run,
  options: SyncOptions,
  { ownsRun }: { readonly ownsRun: boolean },
): Promise<SyncResult> {
  const outcome = await executeRun(ports, run, {
    parkable: false,
    ownsRun,
    ...(options.signal && { signal: options.signal }),
    onProgress: (progress) => options.onProgress?.({ kind: 'progress', runId: run.runId, ...progress }),
  });
  if (outcome.kind === 'finished') {
    const { state, code, message = '', said, request } = outcome.end;
    const error = code === undefined ? {} : { error: { code, message, ...(said !== undefined && { said }) } };
    return { runId: run.runId, state, counters: outcome.counters, ...error, ...(request && { request }) };
  }
  if (outcome.kind === 'parked') {
    const seconds = Math.ceil(outcome.ms / 1000);
    const message = `the partner’s API failed repeatedly and is asked again in ${seconds} s. Run ${run.runId} of the same sync is still queued and was not changed`;
    return { runId: run.runId, state: 'failed', counters: noCounts, error: { code: 'pull.breaker_open', message } };
  }
  // Stopped, or taken over by another node after our lease expired: report that node's result.
  const view = await ended(ports, run, run.runId, options.signal);
  if (view === undefined) {
    throw new InnboundError('pull.interrupted', `Run ${run.runId} was interrupted.`, { run_id: run.runId });
  }
  const { errorCode: code, errorMessage: message = '' } = view;
  const state = view.state as SyncResult['state'];
  return { runId: run.runId, state, counters: view.counters, ...(code !== undefined && { error: { code, message } }) };
}

/** Waits for a run to end; undefined if interrupted. */
async function ended(
  ports: PullPorts,
  { integration }: Pick<QueueRequest, 'integration'>,
  runId: string,
  signal: AbortSignal | undefined,
): Promise<RunView | undefined> {
  while (!signal?.aborted) {
    const view = await ports.runs.get(integration, runId);
    if (view === undefined || (view.state !== 'queued' && view.state !== 'running')) return view;
    await ports.clock.wait(lookEveryMs, signal);
  }
  return undefined;
}

/** How far a run is. The time left is estimated only once some part is done. */
export function progressFigures(position: Position, counters: Counters, elapsedMs: number) {
  const { window, pass } = position;
  const days = daysIn(position);
  const daysDone = window === undefined ? days : daysIn({ from: position.from, to: addDays(window.from, -1) });
  const inWindow = window === undefined || !pass.total ? 0 : Math.min(1, pass.distinct / pass.total) * daysIn(window);
  const fraction = Math.min(1, (daysDone + inWindow) / days);
  return {
    /** 0 to 1, by days of the range; within a window by rows if the partner reports a total. */
    fraction,
    days,
    daysDone,
    pages: counters.pages,
    records: counters.fetched,
    perSecond: elapsedMs > 0 ? (counters.fetched * 1000) / elapsedMs : 0,
    ...(fraction > 0 && { leftMs: (elapsedMs * (1 - fraction)) / fraction }),
  };
}
