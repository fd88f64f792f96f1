import { z } from 'zod';
import { alertRouteSchema } from './alert-routes.ts';
import { valueMap as spellingsSchema } from './mapping-field.ts';
import { addressRange, durationText, httpUrl, nameText, section, sizeText, urlText } from './scalars.ts';

const groups = (role: string) =>
  z.array(z.string().min(1)).default([]).describe(`Values of the claim that give the role ${role}.`);

/** OpenID Connect: the identity provider says who a person is; this says what its words mean here. */
export const oidcSchema = z.strictObject({
  issuer: httpUrl().describe('The provider’s issuer URL; its metadata is read from /.well-known/openid-configuration.'),
  client_id: z.string().min(1).max(200).describe('The client that was registered at the provider.'),
  client_secret: z
    .string()
    .min(1)
    .optional()
    .meta({ writeOnly: true })
    .describe('Its secret; none for a public client.'),
  label: z.string().min(1).max(60).default('Sign in with your company').describe('The text of the button.'),
  scopes: z
    .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/))
    .default(['openid', 'profile', 'email'])
    .describe('What is requested; openid is always among them.'),
  roles: z
    .strictObject({
      claim: z.string().min(1).default('groups').describe('The claim of the ID token that decides the role.'),
      viewer: groups('viewer'),
      operator: groups('operator'),
      admin: groups('admin'),
    })
    .describe('Who gets which role; the highest one counts. A person without a role is refused.'),
  brands: z
    .strictObject({
      claim: z.string().min(1).describe('The claim that lists integrations.'),
      all: z.array(z.string().min(1)).default([]).describe('Values that mean every integration.'),
    })
    .optional()
    .describe(
      'Limits people to integrations. Without it everybody sees all; with it, a person without the claim is refused.',
    ),
  acr_values: z
    .array(z.string().min(1))
    .default([])
    .describe('Accepted strengths of the sign-in (claim acr), such as one with a second factor. Empty: any.'),
});

export type OidcSettings = z.infer<typeof oidcSchema>;

/** innbound.yaml: settings of the service. Every key has a default, and the file is optional. */

const day = (kept: string, what: string) => durationText('1d', '3650d').default(kept).describe(what);

export const workspaceSchema = z
  .strictObject({
    public_url: httpUrl()
      .optional()
      .describe('The address under which partners reach this service; webhook URLs and OAuth callbacks begin with it.'),
    network: section(
      'Outgoing connections, and the proxies in front of this service. A node reads it when it starts.',
      {
        allow_private: z
          .boolean()
          .default(false)
          .describe('Whether partner and destination URLs may lead to private, loopback or link-local addresses.'),
        proxy: urlText('http', 'https').optional().describe('An HTTP proxy for all outgoing requests.'),
        proxy_resolves: z
          .boolean()
          .default(false)
          .describe(
            'Whether the proxy may resolve names that have no address on this machine. It then has to refuse private networks itself.',
          ),
        trusted_proxies: z
          .array(addressRange())
          .default([])
          .describe(
            'Reverse proxies in front of this service, as addresses or ranges such as 10.0.0.0/8. X-Forwarded-For is trusted only from these; limits per address depend on it.',
          ),
        ca: z
          .string()
          .min(1)
          .meta({ folder: true })
          .optional()
          .describe('Path of a PEM file with further certificate authorities to trust.'),
      },
    ),
    retention: section('How long things are kept.', {
      raw: day('30d', 'Raw payloads, as received, and values that no value map lists, since they were last received.'),
      dead_letters: day('90d', 'Dead letters that are settled. Undelivered work never expires.'),
      event_ids: day('30d', 'How long a repeated event id is recognised as a duplicate.'),
      sandbox: day('7d', 'Reports of the sandbox endpoints.'),
      runs: day('90d', 'Runs and their pages.'),
      audit: day('400d', 'Who did what.'),
      history: day(
        '400d',
        'Earlier versions of records and their receipts: the timeline. Deleted by whole months. The newest state is always kept.',
      ),
    }),
    limits: section('Limits on the size of data that is accepted, and on connections.', {
      webhook_body: sizeText('1KiB', '64MiB').default('1MiB').describe('The largest event.'),
      response_body: sizeText('1MiB', '1GiB')
        .default('64MiB')
        .describe('The largest response of a partner, after decompression.'),
      json_depth: z.int().min(8).max(512).default(64).describe('The deepest nesting of JSON that is read.'),
      array_length: z
        .int()
        .min(100)
        .max(1_000_000)
        .default(100_000)
        .describe('The longest array of JSON that is read.'),
      connections_per_address: z
        .int()
        .min(10)
        .max(10_000)
        .default(500)
        .describe('Open connections from one address; trusted proxies are exempt. A node reads it when it starts.'),
    }),
    metrics: section('Metrics in Prometheus format. A node reads it when it starts.', {
      access: z
        .enum(['token', 'open', 'off'])
        .default('token')
        .describe(
          'Who may read /metrics, which names integrations: holders of a token for all integrations, anyone who reaches the port, or nobody.',
        ),
      port: z
        .int()
        .min(1)
        .max(65_535)
        .optional()
        .describe('A separate port for /metrics, without a token; the main port then does not serve it.'),
      host: z.string().min(1).default('127.0.0.1').describe('The address that the separate port listens on.'),
    }),
    log: section('Logging. A node reads it when it starts.', {
      level: z
        .enum(['debug', 'info', 'warn', 'error', 'silent'])
        .default('info')
        .describe('The lowest level that is written.'),
    }),
    sign_in: section('How people sign in to the console, in addition to tokens and sign-in links.', {
      oidc: oidcSchema.optional().describe('Sign-in to the console through an identity provider.'),
    }),
    spellings: z
      .strictObject({
        channel: spellingsSchema.optional().describe('Spellings of channels, such as `booking: [BDC, Booking.com]`.'),
        source: spellingsSchema.optional().describe('Spellings of sources.'),
        board: spellingsSchema.optional().describe('Spellings of boards, such as `half_board: [HB, HP]`.'),
      })
      .optional()
      .describe(
        'Spellings that hold for all brands, where the connector’s own `values` do not list one. An unknown one is kept and counted.',
      ),
    alerts: section('Where alerts are sent, in addition to console, log and metrics.', {
      webhook: httpUrl()
        .meta({ writeOnly: true })
        .optional()
        .describe('Alerts are posted to this URL as JSON: short for a route of type `webhook`.'),
      routes: z
        .record(nameText(), alertRouteSchema)
        .default({})
        .describe('Further places, by name: Slack, Teams, PagerDuty, Opsgenie, e-mail.'),
    }),
  })
  .meta({ title: 'Workspace settings', description: 'innbound.yaml: what holds for the whole service.' });
