import { countRecords, type ResendLane, resendStep, resentAtOnce, undelivered } from '../../store/outbox/resend.ts';
import { foreseeSend } from '../foresee-send.ts';
import { isCounted, resendLanes } from '../resend.ts';
import type { JobKind } from './kind.ts';

export interface ResendJobRequest {
  readonly operation: 'resend';
  readonly destination: string;
  readonly integration?: string | undefined;
}

/** The lane itself, not its number: documents may change while the job runs. */
interface Position {
  readonly lane: ResendLane;
  readonly after: string;
}

export const resendJob: JobKind<ResendJobRequest> = {
  preview: async (runtime, request) => {
    const lanes = resendLanes(runtime, request).filter(isCounted);
    const seen = await foreseeSend(runtime, lanes, { total: await countRecords(runtime.pool, lanes) });
    const { waiting, held } = await undelivered(runtime.pool, lanes);
    const queued = { label: 'already waiting or held, and not queued again', count: waiting + held };
    return { ...seen, counts: [...seen.counts, queued] };
  },
  start: async (runtime, request) => {
    const lanes = resendLanes(runtime, request);
    return {
      request,
      total: await countRecords(runtime.pool, lanes.filter(isCounted)),
      integrations: [...new Set(lanes.map(({ integration }) => integration))],
    };
  },
  step: async (runtime, request, position, { atMost }) => {
    const lanes = resendLanes(runtime, request);
    const { lane, after } = placeIn(lanes, position as Position | null);
    if (lane === undefined) return { done: 0, counts: {}, position: undefined };
    const { read, queued, last } = await resendStep(runtime.pool, lane, after, undefined, atMost(resentAtOnce));
    runtime.wake.signal('outbox');
    const next = last === undefined ? lanes[lanes.indexOf(lane) + 1] : lane;
    return {
      ...(isCounted(lane) ? { done: read, counts: { queued } } : { done: 0, counts: {} }),
      position: next && { lane: { ...next }, after: last ?? '' },
    };
  },
};

/** Where a job continues. If its brand no longer delivers to the destination, at the next brand. */
function placeIn(
  lanes: readonly ResendLane[],
  position: Position | null,
): { readonly lane: ResendLane | undefined; readonly after: string } {
  // A job that an earlier Innbound started counted the lanes: it begins again.
  if (position === null || typeof position.lane !== 'object') return { lane: lanes[0], after: '' };
  const { integration, destination, type } = position.lane;
  const isIt = (one: ResendLane) => one.integration === integration && one.destination === destination;
  const same = lanes.find((one) => isIt(one) && one.type === type);
  if (same !== undefined) return { lane: same, after: position.after };
  return { lane: lanes.find((one) => one.integration > integration), after: '' };
}
