import type { Command } from 'commander';
import { InnboundError } from '../errors.ts';
import { systemClock } from '../kit/clock.ts';
import { testAlertRoute, viewRoutes } from '../operations/alert-routes.ts';
import { audited, type CommonOptions, common, printJson, show, showList, withRuntime } from './command.ts';
import { io } from './io.ts';

export function define(alert: Command): void {
  common(alert.command('routes'))
    .description('list the alert routes and their state')
    .action((options: CommonOptions) =>
      withRuntime(options, 'alert routes', async (runtime) => {
        const routes = await viewRoutes(runtime);
        showList(options, routes, {
          none: 'No alert routes. Add them under alerts.routes in innbound.yaml.',
          head: ['route', 'type', 'severities', 'integrations', 'quiet', 'waiting', 'last failure'],
          line: (one) => [
            one.route,
            one.type,
            one.severities.join(','),
            one.integrations?.join(',') ?? 'all',
            one.quiet ? `${one.quiet.from}-${one.quiet.to} ${one.quiet.timezone}` : '-',
            String(one.waiting),
            one.failure ?? '-',
          ],
        });
      }),
    );
  common(alert.command('test [route]'))
    .description('send a test alert over one route, or over all, at once')
    .addHelpText(
      'after',
      `
Quiet hours are ignored. Incidents that the test opens at PagerDuty and Opsgenie are closed again.

Example:
  innbound alert test night-desk`,
    )
    .action((name: string | undefined, options: CommonOptions) =>
      withRuntime(options, 'alert test', async (runtime) => {
        const names = name === undefined ? (await viewRoutes(runtime)).map(({ route }) => route) : [name];
        if (names.length === 0) throw new InnboundError('operate.not_found', 'There are no alert routes.');
        for (const route of names) {
          const sent = await testAlertRoute(runtime, route, systemClock);
          if (sent === undefined) throw new InnboundError('operate.not_found', `There is no alert route ${route}.`);
          await audited(runtime, 'alert_routes.test', { target: { route, sent: sent.kind === 'sent' } });
          const failure = sent.kind === 'sent' ? null : sent.message;
          if (options.json) printJson({ route, sent: failure === null, failure });
          else show(failure === null ? `${route}: sent.` : `${route}: failed. ${failure}`);
          if (failure !== null) io().exitCode = 1;
        }
      }),
    );
}
