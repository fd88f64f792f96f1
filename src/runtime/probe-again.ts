import type { Pool } from '../store/db/pool.ts';
import { type DocumentName, pullAddresses } from '../store/documents/documents.ts';
import { openCircuits, probeNow } from '../store/remotes.ts';
import { wakeWaitingRuns } from '../store/runs/partner-accounts.ts';
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
  if (destinations.length > 0) await probeNow(pool, 'destination', destinations);
  const [integrations, connectors] = [named('integration'), named('connector')];
  if (integrations.length + connectors.length === 0) return;
  const open = new Set((await openCircuits(pool, 'partner')).map(({ name }) => name));
  if (open.size === 0) return;
  for (const { base_url, names } of await pullAddresses(pool, integrations, connectors)) {
    const resolved = await resolve({ base_url });
    const api = resolved.kind === 'ok' ? URL.parse(resolved.body.base_url)?.origin : undefined;
    if (api === undefined || !open.has(api)) continue;
    await probeNow(pool, 'partner', [api]);
    await wakeWaitingRuns(pool, names);
  }
}
