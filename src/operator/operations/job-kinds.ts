import { z } from 'zod';
import { type Preview, replayDeadLetters, type Under, underFor } from '../../core/deliver/replay.ts';
import {
  countRecords as countIn,
  type ResendLane,
  resendStep,
  resentAtOnce,
  undelivered,
} from '../../core/store/outbox/resend.ts';
import { countRecords } from '../../core/store/records/stored-record.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { Json } from '../../terms.ts';
import { type DeadLetterFilter, listDeadLetters, summarizeDeadLetters } from '../store/dead-letters.ts';
import type { JobStep } from '../store/jobs.ts';
import { foreseeSend, type JobPreview } from './foresee-send.ts';
import { replayPorts } from './replay-dead-letters.ts';
import { reprocess, reprocessedAtOnce, reprocessStep } from './reprocess.ts';
import { isCounted, resendLanes } from './resend.ts';

/**
 * An operation on many records, in steps of about a second. A step may be repeated after a crash, so repeating one must change nothing.
 */
export interface JobKind<Request> {
  readonly preview: (runtime: Runtime, request: Request) => Promise<JobPreview>;
  /** The request as it is stored, with its total and the brands that it concerns (null: all). */
  readonly start: (
    runtime: Runtime,
    request: Request,
  ) => Promise<{ readonly request: Request; readonly total: number; readonly integrations: readonly string[] | null }>;
  /** With counts to add to those of the job. */
  readonly step: (
    runtime: Runtime,
    request: Request,
    position: Json,
    context: {
      readonly by: string;
      readonly signal: AbortSignal;
      /** How many records to process instead of the usual number: fewer after a step that took too long. */
      readonly atMost: (usual: number) => number;
    },
  ) => Promise<JobStep>;
}

export interface ReplayRequest
  extends Pick<DeadLetterFilter, 'integration' | 'kind' | 'destination' | 'code' | 'message' | 'integrations'> {
  readonly operation: 'replay';
  readonly under?: Under | undefined;
  /** The newest dead letter when it started: one that fails again later is not replayed again. */
  readonly up_to?: string | undefined;
}

/** Does not flood a destination that has just recovered. */
const perSecond = 50;
const samples = 5;

export const replayJob: JobKind<ReplayRequest> = {
  preview: async (runtime, request) => {
    const filter = filterOf(request);
    const codes = await summarizeDeadLetters(runtime.pool, filter);
    const first = await listDeadLetters(runtime.pool, { ...filter, limit: samples });
    const { preview } = replayPorts(runtime);
    const tried = await Promise.all(
      first.map(async (letter) => {
        const seen = await preview(letter, underFor(letter, request.under));
        return {
          integration: letter.integration,
          id: letter.record_id ?? `#${letter.id}`,
          text: verdict(seen),
          diff: seen.kind === 'ready' ? (seen.diff as never) : null,
        };
      }),
    );
    const counts = codes.map(({ code, count }) => ({ label: code, count }));
    return { total: sum(counts), looked_at: null, counts, samples: tried };
  },
  start: async ({ pool }, request) => {
    const codes = await summarizeDeadLetters(pool, filterOf(request));
    const newest = Math.max(0, ...codes.map((one) => Number(one.newest)));
    const integrations = request.integration === undefined ? (request.integrations ?? null) : [request.integration];
    return { request: { ...request, up_to: String(newest) }, total: sum(codes), integrations };
  },
  step: async (runtime, request, position, { by, signal, atMost }) => {
    const limit = atMost(25);
    const after = typeof position === 'string' ? { after: position } : {};
    const letters = await listDeadLetters(runtime.pool, { ...filterOf(request), ...after, limit });
    let last: string | undefined;
    const counts = await replayDeadLetters(replayPorts(runtime), letters, {
      by,
      perSecond,
      signal,
      onEach: ({ id }) => (last = id),
      ...(request.under && { under: request.under }),
    });
    const done = counts.replayed + counts.still_failing + counts.gone;
    const isLast = letters.length < limit && done === letters.length;
    return { done, counts, position: isLast ? undefined : (last ?? position) };
  },
};

function filterOf({ up_to, operation: _, under: __, ...filter }: ReplayRequest): DeadLetterFilter {
  return { ...filter, upTo: up_to };
}

function verdict(preview: Preview): string {
  if (preview.kind === 'ready') return preview.diff.length === 0 ? 'It would be sent again.' : 'It would succeed.';
  if (preview.kind === 'dropped') return `A rule would drop it: ${preview.reason}`;
  return preview.kind === 'gone' ? preview.message : `It would fail again: ${preview.message}`;
}

const sum = (parts: readonly { readonly count: number }[]): number =>
  parts.reduce((total, { count }) => total + count, 0);

export const reprocessRequest = z.strictObject({
  operation: z.literal('reprocess'),
  integration: z.string(),
  from: z.iso.date().optional().describe('Only payloads received on or after this day (UTC).'),
  to: z.iso.date().optional(),
  refetch: z.boolean().optional().describe('Requests from the partner what cannot be processed again.'),
});
export type ReprocessJobRequest = z.infer<typeof reprocessRequest>;

/** How many reservations a preview reads while the operator waits. */
const previewed = 1_000;

export const reprocessJob: JobKind<ReprocessJobRequest> = {
  preview: async (runtime, request) => {
    const { integration, from, to } = request;
    const seen = await reprocess(runtime, { integration, from, to, preview: true }, { most: previewed });
    const total = await reservationsOf(runtime, integration);
    return {
      total,
      looked_at: seen.read < total ? seen.read : null,
      counts: [
        { label: 'would change', count: seen.changed },
        { label: 'unchanged', count: seen.unchanged },
        { label: 'refused', count: seen.refused },
        { label: 'without a stored payload', count: seen.without_payload },
      ],
      samples: seen.samples.map(({ id, diff }) => ({ integration, id, text: null, diff })),
    };
  },
  start: async (runtime, request) => ({
    request,
    total: await reservationsOf(runtime, request.integration),
    integrations: [request.integration],
  }),
  step: async (runtime, { integration, from, to, refetch }, position, { atMost, by }) => {
    const after = typeof position === 'string' || typeof position === 'number' ? position : 0;
    const step = await reprocessStep(
      runtime,
      { integration, from, to, preview: false, refetchBy: refetch ? by : undefined },
      after,
      atMost(reprocessedAtOnce),
    );
    const { read, last, changed, unchanged, refused, refetched, refusals, without_payload } = step;
    const counts = { changed, unchanged, refused, without_payload, ...(refetch && { refetched }) };
    return { done: read, counts, refusals, position: last };
  },
};

const reservationsOf = async ({ pool }: Runtime, integration: string): Promise<number> =>
  (await countRecords(pool, [integration])).reservation;

export const resendRequest = z.strictObject({
  operation: z.literal('resend'),
  destination: z.string(),
  integration: z.string().optional().describe('Only this brand; without it, every brand that feeds the destination.'),
});
export type ResendJobRequest = z.infer<typeof resendRequest>;

/** The lane itself, not its number: documents may change while the job runs. */
interface ResendPosition {
  readonly lane: ResendLane;
  readonly after: string;
}

export const resendJob: JobKind<ResendJobRequest> = {
  preview: async (runtime, request) => {
    const lanes = resendLanes(runtime, request).filter(isCounted);
    const seen = await foreseeSend(runtime, lanes, { total: await countIn(runtime.pool, lanes) });
    const { waiting, held } = await undelivered(runtime.pool, lanes);
    const queued = { label: 'already waiting or held, and not queued again', count: waiting + held };
    return { ...seen, counts: [...seen.counts, queued] };
  },
  start: async (runtime, request) => {
    const lanes = resendLanes(runtime, request);
    return {
      request,
      total: await countIn(runtime.pool, lanes.filter(isCounted)),
      integrations: [...new Set(lanes.map(({ integration }) => integration))],
    };
  },
  step: async (runtime, request, position, { atMost }) => {
    const lanes = resendLanes(runtime, request);
    const { lane, after } = placeIn(lanes, position as ResendPosition | null);
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
  position: ResendPosition | null,
): { readonly lane: ResendLane | undefined; readonly after: string } {
  if (position === null) return { lane: lanes[0], after: '' };
  const { integration, destination, type } = position.lane;
  const isIt = (one: ResendLane) => one.integration === integration && one.destination === destination;
  const same = lanes.find((one) => isIt(one) && one.type === type);
  if (same !== undefined) return { lane: same, after: position.after };
  return { lane: lanes.find((one) => one.integration > integration), after: '' };
}
