import type { Active } from '../runtime/active.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { type BreakerNow, openBreakers } from '../store/operate/overview.ts';

const origins = new WeakMap<Active, Promise<ReadonlyMap<string, string>>>();

/** Which partner API each brand pulls from, by origin, as breakers are kept; addresses may come from the environment. */
function partnerApis(runtime: Runtime): Promise<ReadonlyMap<string, string>> {
  const active = runtime.active();
  const known = origins.get(active);
  if (known) return known;
  const made = (async () => {
    const found = new Map<string, string>();
    for (const { name, body } of active.integrations.values()) {
      if (body.pull === undefined) continue;
      const resolved = await runtime.resolve({ url: body.pull.base_url });
      const origin = resolved.kind === 'ok' ? URL.parse(resolved.body.url)?.origin : undefined;
      if (origin !== undefined) found.set(name, origin);
    }
    return found;
  })();
  origins.set(active, made);
  made.catch(() => origins.delete(active));
  return made;
}

export type OpenBreaker = BreakerNow & { readonly integrations: readonly string[] };

/** The APIs that fail now, each with the brands that pull from it. */
export async function openBreakersOf(runtime: Runtime): Promise<OpenBreaker[]> {
  const [open, apis] = await Promise.all([openBreakers(runtime.pool), partnerApis(runtime)]);
  return open.map((breaker) => ({
    ...breaker,
    integrations: [...apis].filter(([, api]) => api === breaker.api).map(([name]) => name),
  }));
}
