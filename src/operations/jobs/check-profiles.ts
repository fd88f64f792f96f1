import { countRecords } from '../../store/records/count.ts';
import type { Json } from '../../terms.ts';
import { type CheckPosition, type CheckStep, checkedAtOnce, checkStart, checkStep } from '../check-profiles.ts';
import type { JobKind } from './kind.ts';

export interface CheckProfilesRequest {
  readonly operation: 'check_profiles';
  readonly integration: string;
}

/** How many records a preview reads while the operator waits. */
const previewed = 1_000;
const mostSamples = 5;

export const checkProfilesJob: JobKind<CheckProfilesRequest> = {
  preview: async (runtime, { integration }) => {
    const changed: CheckStep['changed'][number][] = [];
    let read = 0;
    for (let position: CheckPosition | undefined = checkStart; position !== undefined && read < previewed; ) {
      const step = await checkStep(runtime, integration, position, { isPreview: true });
      changed.push(...step.changed);
      read += step.read;
      position = step.next;
    }
    const total = await recordsOf(runtime.pool, integration);
    const count = (type: string) => changed.filter((one) => one.type === type).length;
    return {
      total,
      looked_at: read < total ? read : null,
      counts: [
        { label: 'reservations would change', count: count('reservation') },
        { label: 'profiles would change', count: count('guest') },
      ],
      samples: changed
        .slice(0, mostSamples)
        .map(({ type, id, diff }) => ({ integration, id, text: type, diff: diff as unknown as Json })),
    };
  },
  start: async (runtime, request) => ({
    request,
    total: await recordsOf(runtime.pool, request.integration),
    integrations: [request.integration],
  }),
  step: async (runtime, { integration }, position, { atMost }) => {
    const from = (position as CheckPosition | null) ?? checkStart;
    const step = await checkStep(runtime, integration, from, { isPreview: false, limit: atMost(checkedAtOnce) });
    const changed = step.changed.length;
    return {
      done: step.read,
      counts: { changed, unchanged: step.read - changed },
      position: step.next && { ...step.next },
    };
  },
};

async function recordsOf(pool: Parameters<typeof countRecords>[0], integration: string): Promise<number> {
  const { reservation, guest } = await countRecords(pool, [integration]);
  return reservation + guest;
}
