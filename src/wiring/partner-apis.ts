import type { Runtime } from '../runtime/runtime.ts';
import { type BreakerNow, openBreakers } from '../store/operate/overview.ts';

export type OpenBreaker = BreakerNow & { readonly integrations: readonly string[] };

/** The partner APIs whose circuit is open, each with the brands that pull from it. */
export async function openBreakersOf(runtime: Runtime): Promise<OpenBreaker[]> {
  const [open, apis] = await Promise.all([openBreakers(runtime.pool), runtime.partnerApis()]);
  if (open.length === 0) return [];
  const byApi = Map.groupBy(apis, ([, api]) => api);
  return open.map((breaker) => ({
    ...breaker,
    integrations: (byApi.get(breaker.api) ?? []).map(([name]) => name),
  }));
}
