import type { JsonObject } from '../../../terms.ts';
import { cut, factsOf, headline, type Notice, plain, type RouteSettings } from './route.ts';

type HeaderFields = Readonly<Record<string, string>>;
type ByHttp = Exclude<RouteSettings, { type: 'email' }>;

/** A request as the vendor documents it. */
export function requestOf(settings: ByHttp, notice: Notice): { url: string; headers?: HeaderFields; body: object } {
  switch (settings.type) {
    case 'slack':
      return { url: settings.url, body: slackBody(notice) };
    case 'teams':
      return { url: settings.url, body: teamsBody(notice) };
    case 'pagerduty':
      return { url: `${base(settings.url)}/v2/enqueue`, body: pagerDutyBody(settings.routing_key, notice) };
    case 'opsgenie':
      return opsgenieRequest(settings, notice);
    case 'webhook':
      return { url: settings.url, body: { type: `alert.${notice.news}`, alert: notice.alert } };
  }
}

const base = (url: string): string => url.replace(/\/+$/, '');

/** Incoming webhooks take `text` with three characters escaped; blocks would hide it in notifications. */
function slackBody(notice: Notice): JsonObject {
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const icon =
    notice.news === 'resolved'
      ? ':white_check_mark:'
      : notice.alert.severity === 'critical'
        ? ':red_circle:'
        : ':warning:';
  const facts = factsOf(notice).map(([name, value]) => `${name}: ${escaped(value)}`);
  const link = notice.link === undefined ? [] : [`<${notice.link}|Open in Innbound>`];
  return { text: cut([`${icon} *${escaped(headline(notice))}*`, ...facts, ...link].join('\n'), 4_000) };
}

/** The Workflows app takes Adaptive Cards only. */
function teamsBody(notice: Notice): JsonObject {
  const color = notice.news === 'resolved' ? 'Good' : notice.alert.severity === 'critical' ? 'Attention' : 'Warning';
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      { type: 'TextBlock', text: cut(headline(notice), 2_000), weight: 'Bolder', wrap: true, color },
      { type: 'FactSet', facts: factsOf(notice).map(([title, value]) => ({ title, value })) },
    ],
    ...(notice.link !== undefined && {
      actions: [{ type: 'Action.OpenUrl', title: 'Open in Innbound', url: notice.link }],
    }),
  };
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content: card }],
  };
}

/** The alert's id as `dedup_key`: a repeated trigger opens nothing new, and a resolve finds its incident. */
function pagerDutyBody(routingKey: string, notice: Notice): JsonObject {
  const { alert, news, link } = notice;
  const common = { routing_key: routingKey, dedup_key: alert.alert_id };
  if (news === 'resolved') return { ...common, event_action: 'resolve' };
  return {
    ...common,
    event_action: 'trigger',
    client: 'Innbound',
    ...(link !== undefined && { client_url: link, links: [{ href: link, text: 'Open in Innbound' }] }),
    payload: {
      summary: cut(headline(notice), 1_024),
      source: alert.integration === '' ? 'innbound' : plain(alert.integration),
      severity: alert.severity,
      timestamp: alert.raised_at.toISOString(),
      class: alert.kind,
      ...(alert.subject !== '' && { component: plain(alert.subject) }),
      custom_details: Object.fromEntries(factsOf(notice)),
    },
  };
}

function opsgenieRequest(settings: Extract<RouteSettings, { type: 'opsgenie' }>, notice: Notice) {
  const { alert, news, link } = notice;
  const headers = { authorization: `GenieKey ${settings.api_key}` };
  const alerts = `${base(settings.url)}/v2/alerts`;
  if (news === 'resolved') {
    const url = `${alerts}/${encodeURIComponent(alert.alert_id)}/close?identifierType=alias`;
    return { url, headers, body: { source: 'Innbound', note: 'The cause is gone.' } };
  }
  const body = {
    message: cut(headline(notice), 130),
    alias: alert.alert_id,
    description: [
      plain(alert.message),
      ...factsOf(notice).map(([name, value]) => `${name}: ${value}`),
      ...(link ? [link] : []),
    ].join('\n'),
    source: 'Innbound',
    entity: alert.integration === '' ? 'innbound' : plain(alert.integration),
    tags: [alert.kind],
    details: Object.fromEntries(factsOf(notice)),
    priority: alert.severity === 'critical' ? 'P1' : 'P3',
  };
  return { url: alerts, headers, body };
}
