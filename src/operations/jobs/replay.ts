import { type Preview, replayDeadLetters, type Under, underFor } from '../../deliver/replay.ts';
import { type DeadLetterFilter, listDeadLetters, summarizeDeadLetters } from '../../store/operate/dead-letters.ts';
import { replayPorts } from '../replay-dead-letters.ts';
import type { JobKind } from './kind.ts';

type Filter = 'integration' | 'kind' | 'destination' | 'code' | 'message' | 'integrations';

export interface ReplayRequest extends Pick<DeadLetterFilter, Filter> {
  readonly operation: 'replay';
  readonly under?: Under | undefined;
  /** The newest dead letter when it started: one that fails again later is not replayed again. */
  readonly up_to?: string | undefined;
}

const atOnce = 25;
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
    const limit = atMost(atOnce);
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
