import type { Runtime } from '../../runtime/runtime.ts';
import { countRecords } from '../../store/records/count.ts';
import { reprocess, reprocessedAtOnce, reprocessStep } from '../reprocess.ts';
import type { JobKind } from './kind.ts';

export interface ReprocessJobRequest {
  readonly operation: 'reprocess';
  readonly integration: string;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Requests from the partner what cannot be processed again. */
  readonly refetch?: boolean | undefined;
}

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
    const after = typeof position === 'string' ? position : '';
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
