import { InnboundError } from '../../errors.ts';
import { alertRoutes } from '../api/routes/alerts.ts';
import { call, calling } from './call.ts';
import type { Command, CommonOptions } from './command.ts';
import { io } from './io.ts';
import { print } from './print.ts';

export function define(alert: Command): void {
  calling(
    alert.subcommand('routes', 'list the alert routes and their state'),
    alertRoutes,
    'alert_routes.list',
    () => ({}),
    {
      none: 'No alert routes. Add them under alerts.routes in innbound.yaml.',
      columns: ['route', 'type', 'severities', 'integrations', 'quiet', 'waiting', 'failure'],
    },
  );
  alert
    .subcommand('test [route]', 'send a test alert over one route, or over all, at once')
    .notes(`
Quiet hours are ignored. Incidents that the test opens at PagerDuty and Opsgenie are closed again.

Example:
  innbound alert test night-desk`)
    .inRuntime(async (runtime, name: string | undefined, options: CommonOptions) => {
      const all = await call<{ items: { route: string }[] }>(runtime, alertRoutes, 'alert_routes.list');
      const names = name === undefined ? all.items.map(({ route }) => route) : [name];
      if (names.length === 0) throw new InnboundError('operate.not_found', 'There are no alert routes.');
      for (const route of names) {
        const tested = await call<{ sent: boolean }>(runtime, alertRoutes, 'alert_routes.test', { params: { route } });
        print(options, { route, ...tested });
        if (!tested.sent) io().exitCode = 1;
      }
    });
}
