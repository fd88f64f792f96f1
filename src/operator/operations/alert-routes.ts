import { rootCertificates } from 'node:tls';
import { openSocket } from '../../core/outbound/socket.ts';
import { InnboundError } from '../../errors.ts';
import type { Clock } from '../../kit/clock.ts';
import { randomId } from '../../kit/ids.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { type RoutableAlert, routeStates } from '../store/alerts.ts';
import { isMeant, type News, type RouteSettings, waitMs } from '../watch/routes/route.ts';
import { type Mail, type MailPorts, type RouteAnswer, sendByMail, sendNotice } from '../watch/routes/send.ts';
import { type SendAlertsPorts, testRoute } from '../watch/send-alerts.ts';

/** The name of the route for `alerts.webhook`; no route of a document can have it. */
const webhookRoute = 'alerts.webhook';

/** The routes in force, with references to secrets unresolved. */
export function alertRoutes(runtime: Runtime): ReadonlyMap<string, RouteSettings> {
  const { webhook, routes } = runtime.active().settings.alerts;
  const all = new Map<string, RouteSettings>(Object.entries(routes));
  if (webhook !== undefined) {
    all.set(webhookRoute, { type: 'webhook', url: webhook, severities: ['warning', 'critical'] });
  }
  return all;
}

/** The routes for an alert, each with how long quiet hours delay it. */
export function routesFor(
  routes: ReadonlyMap<string, RouteSettings>,
  alert: RoutableAlert,
  news: News,
  now: number,
): { route: string; waitMs: number }[] {
  return [...routes]
    .filter(([, settings]) => news === 'resolved' || isMeant(settings, alert))
    .map(([route, settings]) => ({ route, waitMs: waitMs(settings, alert, news, now) }));
}

async function settingsOf(runtime: Runtime, route: string): Promise<RouteSettings | 'unreadable' | undefined> {
  const settings = alertRoutes(runtime).get(route);
  if (settings === undefined) return undefined;
  const resolved = await runtime.resolve(settings);
  return resolved.kind === 'ok' ? resolved.body : 'unreadable';
}

const mailDeadlineMs = 20_000;

function mailPorts({ allowPrivate, ca }: Runtime): MailPorts {
  const connect = (host: string, port: number) =>
    openSocket(host, port, { allowPrivate, timeoutMs: mailDeadlineMs, lifeMs: mailDeadlineMs });
  return { connect, ...(ca !== undefined && { ca: [...rootCertificates, ca] }) };
}

/** Sends a mail that is not an alert over an e-mail route, with a link to a page of the console. */
export async function mailOver(
  runtime: Runtime,
  route: string,
  { subject, text }: Mail,
  page: string,
): Promise<RouteAnswer> {
  const settings = await settingsOf(runtime, route);
  if (settings === undefined || settings === 'unreadable' || settings.type !== 'email') {
    return { kind: 'failed', message: `The settings of the route ${route} cannot be read.` };
  }
  const link = linkOf(runtime, page);
  return sendByMail(
    settings,
    { subject, text: `${text}\n${link === undefined ? '' : `\n${link}\n`}` },
    mailPorts(runtime),
  );
}

const linkOf = (runtime: Runtime, page = '/alerts'): string | undefined => {
  const { public_url } = runtime.active().settings;
  return public_url === undefined ? undefined : `${public_url.replace(/\/+$/, '')}${page}`;
};

/** What sending needs, from the documents in force. */
export function sendingPorts(runtime: Runtime, clock: Clock): Pick<SendAlertsPorts, 'settingsOf' | 'send' | 'link'> {
  const ports = { http: runtime.http, mail: mailPorts(runtime), now: clock.now };
  return {
    settingsOf: (route) => settingsOf(runtime, route),
    send: (settings, notice) => sendNotice(settings, notice, ports),
    link: linkOf(runtime),
  };
}

/** Each route with how many alerts wait for it, and why its last try failed, if it did. */
export async function viewRoutes(runtime: Runtime) {
  const states = new Map((await routeStates(runtime.pool)).map((state) => [state.route, state]));
  return [...alertRoutes(runtime)].map(([route, { type, severities, integrations, quiet }]) => {
    const state = states.get(route);
    return {
      route,
      type,
      severities,
      integrations: integrations ?? null,
      quiet: quiet ? { from: quiet.from, to: quiet.to, timezone: quiet.timezone } : null,
      waiting: state?.waiting ?? 0,
      failure: state?.failure ?? null,
      last_sent_at: state?.last_sent_at ?? null,
    };
  });
}

/** Sends a test notice at once, quiet hours or not. Undefined if there is no such route. */
export async function testAlertRoute(runtime: Runtime, route: string, clock: Clock): Promise<RouteAnswer | undefined> {
  const settings = await settingsOf(runtime, route);
  if (settings === undefined) return undefined;
  if (settings === 'unreadable') {
    throw new InnboundError('documents.secret_missing', `A secret of the alert route ${route} cannot be read.`);
  }
  return testRoute(settings, { ...sendingPorts(runtime, clock), now: clock.now(), alertId: randomId('alr') });
}
