/** The complete service, as `serve` runs it, with a sink as the destination; controlled by messages. */

import { addressFor } from '../../src/operations/endpoints.ts';
import { startService } from '../../src/service.ts';

export interface ServiceAddress {
  readonly port: number;
  /** In the order of the integrations. */
  readonly endpoints: readonly { readonly endpointId: string; readonly secret: string }[];
}

process.on('message', async (job: { workspaceDir: string; integrations: readonly string[] } | { ask: 'cpu' }) => {
  if ('ask' in job) {
    process.send?.(process.cpuUsage());
    return;
  }
  const { workspaceDir, integrations } = job;
  const service = await startService({ workspaceDir, port: 0, host: '127.0.0.1', role: 'all', logLevel: 'error' });
  const addresses = await Promise.all(integrations.map((name) => addressFor(service.runtime, name)));
  const stop = () => void service.stop().then(() => process.exit(0));
  process.once('SIGTERM', stop);
  // The parent process is gone.
  process.once('disconnect', stop);
  const endpoints = addresses.map(({ endpoint_id, secret }) => ({ endpointId: endpoint_id, secret }));
  process.send?.({ port: Number(new URL(service.url).port), endpoints });
});
