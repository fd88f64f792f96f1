import { ended } from '../../packages/partner-kit/src/terminal/ended.ts';
import { InnboundError } from '../errors.ts';
import type { Report } from '../kit/child-processes.ts';
import { joinParent } from '../kit/parent-process.ts';
import { type ServicePart, startService } from '../service.ts';
import type { ServeOptions } from './serve.ts';
import { stopInTime } from './serving.ts';

export type Part = Omit<ServicePart, 'metrics'>;

/** One of the processes that `serve --processes` starts. The parent reports for all of them. */
export async function servePart(options: ServeOptions): Promise<void> {
  // The parent passes its signal on, and a supervisor may signal every process: two signals mean one stop. A second signal to the parent
  // ends the parent at once, and with it this process.
  const end = ended(() => {});
  const parent = await joinParent<Part>();
  try {
    const service = await startService({
      workspaceDir: options.workspace,
      port: options.port,
      host: options.host,
      role: options.role,
      part: { ...parent.job, metrics: parent },
    });
    parent.ready(service.url);
    const lost = await Promise.race([end, service.runtime.lost]);
    await stopInTime(service, lost ? 0 : options.grace * 1_000);
    await parent.end(lost ? reportOf(lost) : undefined);
  } catch (error) {
    await parent.end(reportOf(error));
  }
}

function reportOf(error: unknown): Report {
  if (error instanceof InnboundError) return { code: error.code, message: error.message, detail: error.detail };
  return { message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
