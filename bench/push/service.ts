/** The complete service, as `serve` runs it, with a sink as the destination; controlled by messages. */

import { queueRun } from '../../src/core/store/runs/runs.ts';
import { addressFor } from '../../src/operator/operations/endpoints.ts';
import { type Service, startService } from '../../src/service.ts';
import type { IntegrationName, LocalDate } from '../../src/terms.ts';

export interface ServiceAddress {
  readonly port: number;
  /** In the order of the integrations. */
  readonly endpoints: readonly { readonly endpointId: string; readonly secret: string }[];
}

interface Pull {
  /** The integration to pull. */
  readonly pull: string;
  readonly from: string;
  readonly to: string;
}

let service: Service | undefined;

process.on(
  'message',
  async (job: { workspaceDir: string; integrations: readonly string[] } | Pull | { ask: 'cpu' }) => {
    if ('ask' in job) {
      process.send?.(process.cpuUsage());
      return;
    }
    if ('pull' in job) {
      if (service === undefined) throw new Error('the service is not running');
      await queueRun(service.runtime.pool, {
        integration: job.pull as IntegrationName,
        kind: 'backfill',
        from: job.from as LocalDate,
        to: job.to as LocalDate,
        requestedBy: 'bench',
      });
      service.runtime.wake.signal('runs');
      process.send?.('queued');
      return;
    }
    const { workspaceDir, integrations } = job;
    const started = await startService({ workspaceDir, port: 0, host: '127.0.0.1', role: 'all', logLevel: 'error' });
    service = started;
    const addresses = await Promise.all(integrations.map((name) => addressFor(started.runtime, name)));
    const stop = () => void started.stop().then(() => process.exit(0));
    process.once('SIGTERM', stop);
    // The parent process is gone.
    process.once('disconnect', stop);
    const endpoints = addresses.map(({ endpoint_id, secret }) => ({ endpointId: endpoint_id, secret }));
    process.send?.({ port: Number(new URL(started.url).port), endpoints });
  },
);
