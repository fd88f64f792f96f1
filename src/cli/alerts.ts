import type { Command } from 'commander';
import { InnboundError } from '../errors.ts';
import { acknowledgeAlert, listAlerts } from '../store/operate/alerts.ts';
import {
  audited,
  type CommonOptions,
  commandLineUser,
  common,
  printJson,
  show,
  showList,
  withRuntime,
} from './command.ts';

interface Options extends CommonOptions {
  readonly all?: boolean;
  readonly acknowledge?: string;
}

export function define(command: Command): void {
  common(command)
    .option('--all', 'include resolved alerts')
    .option('--acknowledge <alert>', 'acknowledge an alert; it resolves by itself when its cause is gone')
    .addHelpText(
      'after',
      `
Examples:
  innbound alerts
  innbound alerts --acknowledge alr_…`,
    )
    .action((options: Options) =>
      withRuntime(options, 'alerts', async (runtime) => {
        const { pool } = runtime;
        if (options.acknowledge !== undefined) {
          const row = await acknowledgeAlert(pool, options.acknowledge, commandLineUser());
          if (row === undefined)
            throw new InnboundError('operate.not_found', `There is no alert ${options.acknowledge}.`);
          await audited(runtime, 'alerts.acknowledge', { target: { alert_id: options.acknowledge } });
          if (options.json) printJson(row);
          else show(`Acknowledged: ${row.message}`);
          return;
        }
        const rows = await listAlerts(pool, { open: options.all !== true, limit: 200 });
        showList(options, rows, {
          none: options.all ? 'No alert has been raised yet.' : 'No open alerts.',
          head: ['alert', 'severity', 'kind', 'integration', 'raised', 'what'],
          line: (row) => [
            row.alert_id,
            row.resolved_at ? 'resolved' : row.acknowledged_at ? `${row.severity}, acknowledged` : row.severity,
            row.kind,
            row.integration || '-',
            row.raised_at.toISOString().slice(0, 16),
            row.message,
          ],
        });
      }),
    );
}
