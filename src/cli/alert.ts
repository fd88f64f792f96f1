import { InnboundError } from '../errors.ts';
import { systemClock } from '../kit/clock.ts';
import { testAlertRoute, viewRoutes } from '../operations/alert-routes.ts';
import { audited, type Command, type CommonOptions } from './command.ts';
import { answer, io, showList } from './io.ts';

export function define(alert: Command): void {
  alert
    .subcommand('routes', 'list the alert routes and their state')
    .inRuntime(async (runtime, options: CommonOptions) => {
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
    });
  alert
    .subcommand('test [route]', 'send a test alert over one route, or over all, at once')
    .notes(`
Quiet hours are ignored. Incidents that the test opens at PagerDuty and Opsgenie are closed again.

Example:
  innbound alert test night-desk`)
    .inRuntime(async (runtime, name: string | undefined, options: CommonOptions) => {
      const names = name === undefined ? (await viewRoutes(runtime)).map(({ route }) => route) : [name];
      if (names.length === 0) throw new InnboundError('operate.not_found', 'There are no alert routes.');
      for (const route of names) {
        const sent = await testAlertRoute(runtime, route, systemClock);
        if (sent === undefined) throw new InnboundError('operate.not_found', `There is no alert route ${route}.`);
        await audited(runtime, 'alert_routes.test', { target: { route, sent: sent.kind === 'sent' } });
        const failure = sent.kind === 'sent' ? null : sent.message;
        answer(
          options,
          { route, sent: failure === null, failure },
          failure === null ? `${route}: sent.` : `${route}: failed. ${failure}`,
        );
        if (failure !== null) io().exitCode = 1;
      }
    });
}
