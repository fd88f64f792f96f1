import { signedHeaders } from '../../packages/sender/src/sign.ts';
import { documentsOf } from '../brand/active.ts';
import { exampleEvent } from '../canonical/example-event.ts';
import { jsonLimits, sealerOf } from '../composition/push.ts';
import { InnboundError } from '../errors.ts';
import { secretKeys } from '../intake/push/mint.ts';
import { randomId } from '../kit/ids.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { endpointStatus } from '../store/events/endpoint-status.ts';
import { loadEndpoints } from '../store/events/endpoints.ts';
import { saveSandboxReport } from '../store/events/sandbox.ts';
import { markSecret, type OnboardingLink } from '../store/operate/onboarding.ts';
import { addressFor } from './endpoints.ts';
import { offThread } from './off-thread.ts';

/** Every one is tried on each request. */
const mostSecrets = 5;

/** A new webhook secret, shown once; earlier ones stay valid for a day, so that the sender can switch. */
export async function takeSecret(runtime: Runtime, link: OnboardingLink): Promise<string> {
  const status = await endpointStatus(runtime.pool, link.integration);
  if (((status?.secrets ?? []) as unknown[]).length >= mostSecrets) {
    throw new InnboundError(
      'operate.busy',
      `There are ${mostSecrets} valid secrets. Earlier ones end after a day; try again then.`,
    );
  }
  const { secret } = await addressFor(runtime, link.integration, { rotate: true });
  if (secret === undefined) throw new TypeError('a rotation makes a secret');
  await markSecret(runtime.pool, link.link_id);
  return secret;
}

/** Shows how success looks: a signed event of ours, examined as the partner's are, and not counted as one of them. */
export async function sendSample(runtime: Runtime, { integration }: OnboardingLink): Promise<void> {
  const { pool } = runtime;
  const brand = runtime.active().integrations.get(integration);
  const status = await endpointStatus(pool, integration);
  if (brand === undefined || status === undefined) throw new InnboundError('push.no_endpoint', 'There is no endpoint.');
  const endpointId = brand.body.push.sandbox ? status.endpoint_id : (status.sandbox_id ?? status.endpoint_id);
  const [stored] = await loadEndpoints(pool, sealerOf(runtime), [endpointId]);
  const [newest] = stored?.secrets ?? [];
  if (stored === undefined || newest === undefined)
    throw new InnboundError('push.no_endpoint', 'There is no secret yet.');
  const receivedAt = runtime.clock.now();
  const sample = { ...exampleEvent(brand.body.brand_id, receivedAt), event_id: randomId('sample') };
  const rawBody = Buffer.from(JSON.stringify(sample));
  const signed = Object.entries(signedHeaders(newest.secret, Math.floor(receivedAt / 1000), rawBody));
  const headers = Object.fromEntries(signed.map(([name, value]) => [name.toLowerCase(), value]));
  const endpoint = { ...stored, secrets: [secretKeys(newest.secretNo, newest.secret)] };
  const report = await offThread({ offload: runtime.sandboxOffload }, 'sandboxReport', {
    brand: documentsOf(brand),
    arrived: { endpointId, headers, query: '', rawBody, receivedAt },
    examined: { endpoint, limits: jsonLimits(runtime), early: undefined },
  });
  await saveSandboxReport(pool, endpointId, integration, report);
}
