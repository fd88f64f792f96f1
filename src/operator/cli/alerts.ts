import { alertRoutes } from '../api/routes/alerts.ts';
import { call, listAll } from './call.ts';
import type { Command, CommonOptions } from './command.ts';
import { print } from './print.ts';

interface Options extends CommonOptions {
  readonly all?: boolean;
  readonly acknowledge?: string;
}

export function define(command: Command): void {
  command
    .common()
    .option('--all', 'include resolved alerts')
    .option('--acknowledge <alert>', 'acknowledge an alert; it resolves by itself when its cause is gone')
    .notes(`
Examples:
  innbound alerts
  innbound alerts --acknowledge alr_…`)
    .inRuntime(async (runtime, options: Options) => {
      const { all, acknowledge: id } = options;
      if (id !== undefined) {
        return print(options, await call(runtime, alertRoutes, 'alerts.acknowledge', { params: { alert_id: id } }));
      }
      const state = all ? 'all' : 'open';
      print(
        options,
        { items: await listAll(runtime, alertRoutes, 'alerts.list', { state }, 200) },
        {
          none: all ? 'No alert has been raised yet.' : 'No open alerts.',
          columns: [
            'alert_id',
            'severity',
            'kind',
            'integration',
            'raised_at',
            'acknowledged_at',
            'resolved_at',
            'message',
          ],
        },
      );
    });
}
