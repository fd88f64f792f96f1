import { countResend, resendStep } from '../../store/outbox/resend.ts';
import { isCounted, resendLanes } from '../resend.ts';
import type { JobKind } from './kind.ts';

export interface ResendJobRequest {
  readonly operation: 'resend';
  readonly destination: string;
  readonly integration?: string | undefined;
}

interface Position {
  readonly lane: number;
  readonly after: string;
}

export const resendJob: JobKind<ResendJobRequest> = {
  preview: async (runtime, request) => {
    const lanes = resendLanes(runtime, request).filter(isCounted);
    const counted = await Promise.all(
      lanes.map(async (lane) => ({ ...lane, ...(await countResend(runtime.pool, lane)) })),
    );
    const sum = (key: 'records' | 'waiting') => counted.reduce((total, one) => total + one[key], 0);
    return {
      total: sum('records'),
      looked_at: null,
      counts: [
        { label: 'to queue', count: Math.max(0, sum('records') - sum('waiting')) },
        { label: 'already waiting or held', count: sum('waiting') },
      ],
      samples: counted
        .flatMap(({ integration, type, ids }) => ids.map((id) => ({ integration, id, text: type, diff: null })))
        .slice(0, 5),
    };
  },
  start: async (runtime, request) => {
    const lanes = resendLanes(runtime, request);
    const counts = await Promise.all(lanes.filter(isCounted).map((lane) => countResend(runtime.pool, lane)));
    return {
      request,
      total: counts.reduce((total, { records }) => total + records, 0),
      integrations: [...new Set(lanes.map(({ integration }) => integration))],
    };
  },
  step: async (runtime, request, position) => {
    const lanes = resendLanes(runtime, request);
    const { lane: at, after } = (position as Position | null) ?? { lane: 0, after: '' };
    const lane = lanes[at];
    if (lane === undefined) return { done: 0, counts: {}, position: undefined };
    const { read, queued, last } = await resendStep(runtime.pool, lane, after);
    runtime.wake.signal('outbox');
    const next = last === undefined ? { lane: at + 1, after: '' } : { lane: at, after: last };
    return {
      ...(isCounted(lane) ? { done: read, counts: { queued } } : { done: 0, counts: {} }),
      position: next.lane < lanes.length ? { ...next } : undefined,
    };
  },
};
