import type { Active } from './active.ts';
import type { Runtime } from './runtime.ts';

/** The origin of the partner API that each brand pulls from. Circuits are kept per origin. */
export type PartnerApis = ReadonlyMap<string, string>;

/** Reads the origins once per set of documents in force: a base URL may come from the environment or from a secret. */
export function openPartnerApis(active: () => Active, resolve: Runtime['resolve']): () => Promise<PartnerApis> {
  let known: { readonly active: Active; readonly apis: Promise<PartnerApis> } | undefined;
  return () => {
    const now = active();
    if (known?.active !== now) {
      const apis = readOrigins(now, resolve);
      apis.catch(() => {
        known = undefined;
      });
      known = { active: now, apis };
    }
    return known.apis;
  };
}

async function readOrigins(active: Active, resolve: Runtime['resolve']): Promise<PartnerApis> {
  const origins = new Map<string, string>();
  for (const { name, body } of active.integrations.values()) {
    if (body.pull === undefined) continue;
    const resolved = await resolve({ url: body.pull.base_url });
    const origin = resolved.kind === 'ok' ? URL.parse(resolved.body.url)?.origin : undefined;
    if (origin !== undefined) origins.set(name, origin);
  }
  return origins;
}
