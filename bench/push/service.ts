/** The whole service, as `serve` runs it, and a sink as the destination; told what to do by messages. */
import { startService } from '../../src/service.ts';
import { addressFor } from '../../src/wiring/endpoints.ts';

export interface ServiceAddress {
  readonly port: number;
  readonly endpointId: string;
  readonly secret: string;
}

process.on('message', async (job: { workspaceDir: string; integration: string } | { ask: 'cpu' }) => {
  if ('ask' in job) {
    process.send?.(process.cpuUsage());
    return;
  }
  const { workspaceDir, integration } = job;
  const service = await startService({ workspaceDir, port: 0, host: '127.0.0.1', role: 'all', logLevel: 'error' });
  const address = await addressFor(service.ground, integration);
  const stop = () => void service.stop().then(() => process.exit(0));
  process.once('SIGTERM', stop);
  // Whoever started this process is gone.
  process.once('disconnect', stop);
  process.send?.({ port: Number(new URL(service.url).port), endpointId: address.endpoint_id, secret: address.secret });
});
