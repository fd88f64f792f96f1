import { z } from 'zod';
import { textThat } from './checked.ts';
import { httpUrl, nameText, secretText, timezoneText } from './scalars.ts';

/** Where alerts are sent, in addition to console, log and metrics: `alerts.routes` of innbound.yaml. */

const severity = z.enum(['warning', 'critical']);

const timeOfDay = () => textThat('a time of day such as 22:00', (text) => /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(text));

const quiet = z.strictObject({
  from: timeOfDay().describe('When quiet hours begin.'),
  to: timeOfDay().describe('When they end; a time before `from` is on the next day.'),
  timezone: timezoneText().describe('The time zone of both.'),
  severities: z
    .array(severity)
    .min(1)
    .default(['warning'])
    .describe('Alerts of these severities wait until quiet hours end; others are sent at once.'),
});

const shared = {
  severities: z.array(severity).min(1).default(['warning', 'critical']).describe('The severities that it gets.'),
  integrations: z
    .array(nameText())
    .min(1)
    .optional()
    .describe('Only alerts of these integrations. By default those of all integrations and of the whole service.'),
  quiet: quiet.optional().describe('Quiet hours. An alert that is over before they end is not sent.'),
};

/** The URL is the credential. */
const posted = <Type extends string>(type: Type, kind: string, url: string, description: string) =>
  z
    .strictObject({
      type: z.literal(type).describe(kind),
      url: httpUrl().meta({ writeOnly: true }).describe(url),
      ...shared,
    })
    .meta({ title: type, description });

const slack = posted(
  'slack',
  'An incoming webhook of Slack.',
  'The URL of the incoming webhook.',
  'A channel of Slack.',
);
const teams = posted(
  'teams',
  'A webhook of the Workflows app in Microsoft Teams.',
  'The URL of the workflow.',
  'A channel of Microsoft Teams.',
);

const pagerduty = z
  .strictObject({
    type: z.literal('pagerduty').describe('Events API v2 of PagerDuty.'),
    routing_key: secretText().describe('The integration key of an Events API v2 integration.'),
    url: httpUrl()
      .default('https://events.pagerduty.com')
      .describe('https://events.eu.pagerduty.com for accounts in the European Union.'),
    ...shared,
  })
  .meta({ title: 'pagerduty', description: 'A service of PagerDuty; the incident resolves with the alert.' });

const opsgenie = z
  .strictObject({
    type: z.literal('opsgenie').describe('Alert API of Opsgenie.'),
    api_key: secretText().describe('The key of an API integration.'),
    url: httpUrl()
      .default('https://api.opsgenie.com')
      .describe(
        'https://api.eu.opsgenie.com for accounts in the European Union; https://api.atlassian.com/jsm/ops/integration for Jira Service Management.',
      ),
    ...shared,
  })
  .meta({ title: 'opsgenie', description: 'A team of Opsgenie; the alert there closes with ours.' });

const address = () => z.string().regex(/^[^\s@<>"]+@[^\s@<>"]+$/, { error: 'must be an e-mail address' });

const email = z
  .strictObject({
    type: z.literal('email').describe('Mail through an SMTP server.'),
    host: z.string().min(1).describe('The SMTP server.'),
    port: z.int().min(1).max(65_535).default(587).describe('Its port.'),
    security: z
      .enum(['starttls', 'tls', 'none'])
      .default('starttls')
      .describe('`starttls` (usual on port 587), `tls` (usual on port 465), or `none`, which sends in plain text.'),
    user: z.string().min(1).optional().describe('The user of the SMTP server.'),
    password: secretText().optional().describe('The user’s password.'),
    from: address().describe('The sender.'),
    to: z.array(address()).min(1).max(50).describe('The recipients.'),
    weekly: z
      .boolean()
      .optional()
      .describe('Also sends the figures of each hotel of `integrations`, or of all, on Monday morning at the hotel.'),
    ...shared,
    severities: z
      .array(severity)
      .default(['warning', 'critical'])
      .describe('The severities that it gets; [] for no alerts.'),
  })
  .meta({ title: 'email', description: 'Mail to one or more people.' });

const webhook = posted('webhook', 'A POST of the alert as JSON.', 'The address.', 'Any address that takes JSON.');

export const alertRouteSchema = z.discriminatedUnion('type', [slack, teams, pagerduty, opsgenie, email, webhook]);
export type AlertRoute = z.infer<typeof alertRouteSchema>;
