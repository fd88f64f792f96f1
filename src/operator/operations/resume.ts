import { replayDeadLetters } from '../../core/deliver/replay.ts';
import { sealSecret } from '../../core/documents/keyring.ts';
import { documentsWithSecret } from '../../core/store/documents/documents.ts';
import { putSecret as storeSecret } from '../../core/store/documents/secrets.ts';
import { probeNow } from '../../core/store/remotes.ts';
import { probeAgain, tryDestinations, tryPartners } from '../../runtime/probe-again.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { IntegrationName } from '../../terms.ts';
import { refusals, refusingDestinations } from '../store/conditions.ts';
import { listDeadLetters } from '../store/dead-letters.ts';
import { integrationsNow, resumeIntegration } from '../store/overview.ts';
import { editInForce } from './edit-documents.ts';
import { fetchSample } from './fetch-sample.ts';
import { replayPorts } from './replay-dead-letters.ts';

/** Resumes the pulls of a brand; with a test, only if the partner answers a request with the brand's credentials. */
export async function resume(runtime: Runtime, integration: string, test: boolean) {
  const { pool } = runtime;
  const apis = await apisOf(runtime, integration);
  if (test) {
    await probeNow(pool, 'partner', apis);
    const page = await fetchSample(runtime, integration as IntegrationName);
    if (page.kind === 'failed') return page;
  }
  await resumeIntegration(pool, integration);
  await tryPartners(pool, apis, [integration]);
  runtime.wake.signal('schedules');
  return { kind: 'resumed' } as const;
}

/** Takes the pause out of a brand's document. Not pulling then: a person paused it too, or the partner refuses the credentials. */
export async function startPulling(runtime: Runtime, integration: string, by: string) {
  const edited = await editInForce(runtime, { kind: 'integration', name: integration }, by, (yaml) =>
    yaml.delete('paused'),
  );
  const [now] = await integrationsNow(runtime.pool, [integration]);
  const body = runtime.active().documents.get(integration)?.body;
  const isPaused = body?.paused !== false || now?.paused_at != null || now?.auth_failed_at != null;
  runtime.wake.signal('schedules');
  return { ...edited, pulling: body?.pull !== undefined && !isPaused };
}

/** Probes the partner's API and makes the runs of all brands that wait for it due. Returns how many waited. */
export async function tryPartnerOf(runtime: Runtime, integration: string): Promise<number> {
  const apis = await apisOf(runtime, integration);
  const same = [...(await runtime.partnerApis())].filter(([, api]) => apis.includes(api)).map(([name]) => name);
  const runs = await tryPartners(runtime.pool, apis, same);
  runtime.wake.signal('runs');
  return runs;
}

/** More are a job of their own. */
const sentAgain = 200;

/**
 * Probes a destination that is away and retries what waits for it. One that refuses everything has nothing that waits: what it refused since
 * it last accepted something is sent again. Returns how many dead letters that are.
 */
export async function tryDestination(
  runtime: Runtime,
  destination: string,
  { within, by }: { readonly within: readonly string[] | undefined; readonly by: string },
): Promise<number> {
  const { pool } = runtime;
  const [refusing] = await refusingDestinations(pool, [destination]);
  const wanted = { destination, kind: 'delivery', since: refusing?.since, integrations: within } as const;
  const letters = refusing ? await listDeadLetters(pool, { ...wanted, limit: sentAgain }) : [];
  const refused = letters.filter(({ code }) => refusals.includes(code));
  const { replayed } = await replayDeadLetters(replayPorts(runtime), refused, { by, perSecond: 1_000 });
  await tryDestinations(pool, [destination]);
  runtime.wake.signal('outbox');
  return replayed;
}

/** The partner's API of a brand, or of the one that polls for it. */
async function apisOf(runtime: Runtime, integration: string): Promise<string[]> {
  const poller = runtime.active().documents.get(integration)?.body.pulled_by ?? integration;
  const api = (await runtime.partnerApis()).get(poller);
  return api === undefined ? [] : [api];
}

/** Stores a secret or replaces it; what failed with the old one is tried again. */
export async function putSecret(runtime: Runtime, name: string, value: string): Promise<void> {
  const { pool, keyring } = runtime;
  await storeSecret(pool, name, sealSecret(keyring, name, value));
  await probeAgain(runtime, await documentsWithSecret(pool, name));
}
