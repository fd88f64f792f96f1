/** A node as `serve` runs it, which reports on itself to the benchmark. */

import { applyDocument } from '../../src/operator/operations/edit-documents.ts';
import { watchOnce } from '../../src/operator/operations/watch-once.ts';
import { startService } from '../../src/service.ts';

export interface NodeReport {
  readonly rssMb: number;
  readonly cpuMs: number;
  /** The version in force of the integration asked about. */
  readonly version: number | undefined;
}

const [workspaceDir = '.'] = process.argv.slice(2);
const service = await startService({ workspaceDir, port: 0, host: '127.0.0.1', role: 'all', logLevel: 'error' });

process.on('message', ({ integration, edit, judge }: { integration: string; edit?: string; judge?: true }) => {
  if (judge) {
    void watchOnce(service.runtime).then(() => process.send?.('judged'));
    return;
  }
  if (edit !== undefined) {
    const document = { kind: 'integration', name: integration, text: edit } as const;
    void applyDocument(service.runtime, document, 'bench').then((applied) => process.send?.(applied));
    return;
  }
  const { user, system } = process.cpuUsage();
  process.send?.({
    rssMb: process.memoryUsage().rss / 1e6,
    cpuMs: (user + system) / 1000,
    version: service.runtime.active().integrations.get(integration)?.integrationVersion,
  } satisfies NodeReport);
});
const stop = () => void service.stop().then(() => process.exit(0));
process.once('SIGTERM', stop);
process.once('disconnect', stop);
process.send?.('ready');
