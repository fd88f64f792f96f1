import { InnboundError } from '../errors.ts';
import { acknowledgeAlert, listAlerts } from '../store/operate/alerts.ts';
import { audited, type Command, type CommonOptions, commandLineUser } from './command.ts';
import { answer, showList } from './io.ts';

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
      const { pool } = runtime;
      if (options.acknowledge !== undefined) {
        const row = await acknowledgeAlert(pool, options.acknowledge, commandLineUser());
        if (row === undefined)
          throw new InnboundError('operate.not_found', `There is no alert ${options.acknowledge}.`);
        await audited(runtime, 'alerts.acknowledge', { target: { alert_id: options.acknowledge } });
        answer(options, row, `Acknowledged: ${row.message}`);
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
    });
}
