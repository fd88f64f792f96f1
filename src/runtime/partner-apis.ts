import type { Active } from '../core/brand/active.ts';
import type { Resolve } from '../core/documents/secret-reference.ts';

/** The origin of the partner API that each brand pulls from. Circuits are kept per origin. */
export type PartnerApis = ReadonlyMap<string, string>;

/** Reads the origins once per set of documents in force: a base URL may come from the environment or from a secret. */
export function openPartnerApis(active: () => Active, resolve: Resolve): () => Promise<PartnerApis> {
  let known: { readonly active: Active; readonly apis: Promise<PartnerApis> } | undefined;
  const origins = new Map<string, Origin>();
  return () => {
    const now = active();
    if (known?.active !== now) {
      const apis = readOrigins(now, resolve, origins);
      apis.catch(() => {
        known = undefined;
      });
      known = { active: now, apis };
    }
    return known.apis;
  };
}

interface Origin {
  readonly body: object;
  readonly origin: string | undefined;
}

/** Reads again only what changed, and what could not be read. */
async function readOrigins(active: Active, resolve: Resolve, known: Map<string, Origin>): Promise<PartnerApis> {
  const origins = new Map<string, string>();
  for (const { integration: name, body } of active.integrations.values()) {
    if (body.pull === undefined) continue;
    const before = known.get(name);
    if (before?.body !== body || before.origin === undefined) {
      const resolved = await resolve({ url: body.pull.base_url });
      known.set(name, { body, origin: resolved.kind === 'ok' ? URL.parse(resolved.body.url)?.origin : undefined });
    }
    const origin = known.get(name)?.origin;
    if (origin !== undefined) origins.set(name, origin);
  }
  return origins;
}
