import { sealerOf } from '../../composition/push.ts';
import type { Brand } from '../../core/brand/brand.ts';
import { mintEndpointId, mintSecret } from '../../core/intake/push/mint.ts';
import { transaction } from '../../core/store/db/pool.ts';
import { type IssuedEndpoint, issueEndpoint, rotateSecret } from '../../core/store/events/endpoints.ts';
import { noIntegration } from '../../errors/no-integration.ts';
import { InnboundError } from '../../errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { liveNodes } from '../store/nodes.ts';

/** How long the previous secret stays valid after a rotation, so that the sender can switch. */
export const standardOverlapMs = 24 * 3_600_000;

/** The address of a brand's webhook endpoint; with its secret, if that was just created. */
export async function addressFor(
  runtime: Runtime,
  integration: string,
  options: { readonly rotate?: boolean; readonly overlapMs?: number } = {},
) {
  namedBrand(runtime, integration);
  const sealer = sealerOf(runtime);
  const mint = { endpointId: mintEndpointId, secret: mintSecret };
  const issued = await transaction(runtime.pool, async (tx): Promise<IssuedEndpoint> => {
    const present = await issueEndpoint(tx, integration, sealer, mint);
    if (!options.rotate || present.secret !== undefined) return present;
    const rotated = await rotateSecret(tx, integration, options.overlapMs ?? standardOverlapMs, sealer, mintSecret());
    return rotated ?? present;
  });
  runtime.wake.signal('documents');
  const base = await publicUrl(runtime);
  return {
    endpoint_id: issued.endpointId,
    url: `${base}/webhooks/${issued.endpointId}`,
    sandbox_url: `${base}/webhooks/${issued.sandboxId}`,
    ...(issued.secret !== undefined && { secret: issued.secret }),
  };
}

/** The brand in force with this name. The error lists the others, unless the caller may be limited to some. */
export function namedBrand(runtime: Runtime, name: string, { isLimited = false } = {}): Brand {
  const { integrations } = runtime.active();
  const brand = integrations.get(name);
  if (brand !== undefined) return brand;
  throw new InnboundError('documents.unknown_name', noIntegration(name, isLimited ? undefined : integrations.keys()));
}

/** The public URL from the settings; otherwise that of a running node; otherwise the default address. */
export async function publicUrl(runtime: Runtime): Promise<string> {
  const configured = runtime.active().settings.public_url;
  if (configured !== undefined) return configured.replace(/\/$/, '');
  const [node] = (await liveNodes(runtime.pool)).filter(({ role }) => role !== 'worker');
  return node?.url ?? 'http://127.0.0.1:4180';
}
