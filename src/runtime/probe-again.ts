import type { Pool } from '../store/db/pool.ts';
import { type DocumentName, pullAddresses } from '../store/documents/documents.ts';
import { probeDestinations } from '../store/outbox/circuit.ts';
import { openApis, probeApi } from '../store/runs/partner-circuits.ts';
import type { Runtime } from './runtime.ts';

interface Context extends Pick<Runtime, 'resolve'> {
  readonly pool: Pool;
}

/**
 * Called after these documents, or secrets in them, changed: somebody may have corrected why a partner or destination failed, so an open
 * circuit is probed at once instead of after its cooldown.
 */
export async function probeAgain({ pool, resolve }: Context, changed: readonly DocumentName[]): Promise<void> {
  const named = (kind: DocumentName['kind']) => changed.filter((one) => one.kind === kind).map(({ name }) => name);
  const destinations = named('destination');
  if (destinations.length > 0) await probeDestinations(pool, destinations);
  const [integrations, connectors] = [named('integration'), named('connector')];
  if (integrations.length + connectors.length === 0) return;
  const open = new Set(await openApis(pool));
  if (open.size === 0) return;
  for (const { base_url, names } of await pullAddresses(pool, integrations, connectors)) {
    const resolved = await resolve({ base_url });
    const api = resolved.kind === 'ok' ? URL.parse(resolved.body.base_url)?.origin : undefined;
    if (api !== undefined && open.has(api)) await probeApi(pool, api, names);
  }
}
