import type { Runtime } from '../runtime/runtime.ts';
import { type BreakerNow, openBreakers } from '../store/operate/overview.ts';

export type OpenBreaker = BreakerNow & { readonly integrations: readonly string[] };

/** The partner APIs whose circuit is open, each with the brands that pull from it. */
export async function openBreakersOf(runtime: Runtime): Promise<OpenBreaker[]> {
  const [open, apis] = await Promise.all([openBreakers(runtime.pool), runtime.partnerApis()]);
  return open.map((breaker) => ({
    ...breaker,
    integrations: [...apis].filter(([, api]) => api === breaker.api).map(([name]) => name),
  }));
}
