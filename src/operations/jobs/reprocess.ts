import type { Runtime } from '../../runtime/runtime.ts';
import { countRecords } from '../../store/records/count.ts';
import { previewReprocess, reprocessedAtOnce, reprocessStep } from '../reprocess.ts';
import type { JobKind } from './kind.ts';

export interface ReprocessJobRequest {
  readonly operation: 'reprocess';
  readonly integration: string;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export const reprocessJob: JobKind<ReprocessJobRequest> = {
  preview: async (runtime, request) => {
    const { integration, from, to } = request;
    const seen = await previewReprocess(runtime, { integration, from, to });
    const total = await reservationsOf(runtime, integration);
    return {
      total,
      looked_at: seen.lookedAt < total ? seen.lookedAt : null,
      counts: [
        { label: 'would change', count: seen.changed },
        { label: 'unchanged', count: seen.unchanged },
        { label: 'refused by the documents in force', count: seen.refused },
        { label: 'without a stored payload', count: Math.max(0, seen.lookedAt - seen.records) },
      ],
      samples: seen.samples.map(({ id, diff }) => ({ integration, id, text: null, diff })),
    };
  },
  start: async (runtime, request) => ({
    request,
    total: await reservationsOf(runtime, request.integration),
    integrations: [request.integration],
  }),
  step: async (runtime, { integration, from, to }, position, { atMost }) => {
    const after = typeof position === 'string' ? position : '';
    const step = await reprocessStep(
      runtime,
      { integration, from, to, preview: false },
      after,
      atMost(reprocessedAtOnce),
    );
    const { read, last, changed, unchanged, refused, refusals, without_payload } = step;
    return { done: read, counts: { changed, unchanged, refused, without_payload }, refusals, position: last };
  },
};

const reservationsOf = async ({ pool }: Runtime, integration: string): Promise<number> =>
  (await countRecords(pool, [integration])).reservation;
