import type { DocumentName } from '../core/documents/kinds.ts';
import type { Resolve } from '../core/documents/secret-reference.ts';
import type { Pool } from '../core/store/db/pool.ts';
import { signalNodes } from '../core/store/db/signals.ts';
import { feedersOf, pullAddresses } from '../core/store/documents/documents.ts';
import { retryNow } from '../core/store/outbox/resend.ts';
import { probeNow } from '../core/store/remotes.ts';
import { freeBrands } from '../core/store/runs/partner-accounts.ts';
import { openCircuits } from '../operator/store/feeds.ts';

/**
 * Called after these documents, or secrets in them, changed: somebody may have corrected why a partner or destination failed. An open
 * circuit is probed at once instead of after its cooldown, refused credentials are tried again, and what waits for either is due. Runs wait
 * for the address that they used, so they are freed also if the new one has no open circuit.
 */
export async function probeAgain(
  { pool, resolve }: { readonly pool: Pool; readonly resolve: Resolve },
  changed: readonly DocumentName[],
): Promise<void> {
  const named = (kind: DocumentName['kind']) => changed.filter((one) => one.kind === kind).map(({ name }) => name);
  const destinations = named('destination');
  if (destinations.length > 0) await tryDestinations(pool, destinations);
  const [integrations, connectors] = [named('integration'), named('connector')];
  if (integrations.length + connectors.length === 0) return;
  const addresses = await pullAddresses(pool, integrations, connectors);
  const apis = new Set<string>();
  const isAnyOpen = (await openCircuits(pool, 'partner')).length > 0;
  for (const { base_url } of isAnyOpen ? addresses : []) {
    const resolved = await resolve({ base_url });
    const api = resolved.kind === 'ok' ? URL.parse(resolved.body.base_url)?.origin : undefined;
    if (api !== undefined) apis.add(api);
  }
  await tryPartners(
    pool,
    [...apis],
    addresses.flatMap(({ names }) => names),
  );
}

/** Returns the number of runs that waited and of syncs that failed. */
export async function tryPartners(pool: Pool, apis: readonly string[], integrations: readonly string[]) {
  await probeNow(pool, 'partner', apis);
  const freed = await freeBrands(pool, integrations);
  await signalNodes(pool, 'schedules');
  await signalNodes(pool, 'runs');
  return freed;
}

export async function tryDestinations(pool: Pool, destinations: readonly string[]): Promise<void> {
  await probeNow(pool, 'destination', destinations);
  await retryNow(pool, destinations, await feedersOf(pool, destinations));
  await signalNodes(pool, 'outbox');
}
