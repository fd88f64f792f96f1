import { z } from 'zod';
import { answerPath, placeText } from './answer-path.ts';
import { checkedText, crossChecked } from './checked.ts';
import { checkPlaceholders, placeholderNames, signedHeaderPlaceholders, signPlaceholders } from './placeholders.ts';
import { durationText, headerName, httpUrl, secretText } from './scalars.ts';
import { hasReference } from './secret-reference.ts';

/** How requests are authenticated, to partners' APIs and to `http` destinations. */

const none = z
  .strictObject({ type: z.literal('none').describe('No credentials are sent.') })
  .meta({ title: 'none', description: 'No credentials. Required, so that forgetting them is a mistake.' });

const bearer = z
  .strictObject({
    type: z.literal('bearer').describe('`Authorization: Bearer …`.'),
    token: secretText().describe('The token that the partner issued.'),
  })
  .meta({ title: 'bearer', description: 'A fixed token in the Authorization header.' });

const apiKey = crossChecked(
  z.strictObject({
    type: z.literal('api_key').describe('A key in a header or a query parameter.'),
    key: secretText().describe('The key that the partner issued.'),
    header: headerName()
      .optional()
      .describe('The header that carries the key; X-API-Key where neither header nor query is given.'),
    query: z.string().min(1).optional().describe('The query parameter that carries the key, instead of a header.'),
  }),
  ({ header, query }, report) => {
    if (header === undefined || query === undefined) return;
    report({ message: 'the key is sent in a header or in the query, not both; remove one' }, ['query']);
  },
).meta({ title: 'api_key', description: 'A key in a header or in the query.' });

const basic = z
  .strictObject({
    type: z.literal('basic').describe('HTTP Basic.'),
    username: z.string().describe('The user that the partner knows.'),
    password: z
      .string()
      .meta({ writeOnly: true })
      .optional()
      .describe(
        'The user’s password; it may be empty. Without it, `username` is sent alone, without a colon, for partners that take a key so.',
      ),
  })
  .meta({ title: 'basic', description: 'User name and password in the Authorization header.' });

const oauth2Shape = {
  type: z.literal('oauth2').describe('OAuth 2.0; tokens are fetched, kept encrypted and refreshed before they expire.'),
  token_url: httpUrl().describe('Where tokens are issued and refreshed.'),
  client_id: z.string().min(1).describe('The client id that the partner issued.'),
  client_auth: z
    .enum(['basic', 'post'])
    .default('basic')
    .describe(
      'Where the token request carries id and secret of the client: `basic` in the Authorization header, `post` in the body.',
    ),
  scopes: z.array(z.string().min(1)).default([]).describe('The scopes to request.'),
  audience: z.string().min(1).optional().describe('The audience to request, if the partner requires one.'),
  params: z
    .record(z.string(), z.string().meta({ credential: 'likely' }))
    .default({})
    .describe('Further parameters of every token request.'),
};

const clientCredentials = z
  .strictObject({
    ...oauth2Shape,
    grant: z.literal('client_credentials').describe('The service asks in its own name.'),
    client_secret: secretText().describe('The client’s secret, as the partner issued it.'),
  })
  .meta({ title: 'oauth2, client_credentials', description: 'Tokens in the name of the service itself.' });

const authorizationCode = z
  .strictObject({
    ...oauth2Shape,
    grant: z
      .literal('authorization_code')
      .describe('A person of the brand authorizes our access once, through a link.'),
    client_secret: secretText()
      .optional()
      .describe('The secret of the client; none for a public client, which PKCE protects.'),
    authorize_url: httpUrl().describe('The page on which a person of the brand authorizes our access.'),
    authorize_params: z
      .record(z.string(), z.string().meta({ credential: 'likely' }))
      .default({})
      .describe('Further parameters of the authorization link.'),
    pkce: z.boolean().default(true).describe('Whether PKCE (S256) is used; only for servers that refuse it, `false`.'),
  })
  .meta({ title: 'oauth2, authorization_code', description: 'Tokens in the name of a person who consented.' });

const oauth2 = z.discriminatedUnion('grant', [clientCredentials, authorizationCode]);

/** With a path, the token's address moves with `base_url`, such as to a sandbox. */
const besideBase = {
  token_url: checkedText('a URL, or a path', (text) =>
    hasReference(text) || /^(?:https?:\/)?\/[^/\\]/.test(text)
      ? undefined
      : {
          message:
            'must be a URL that starts with https:// or http://, or a path on the host of base_url, such as /oauth/token',
        },
  )
    .meta({ credential: 'url' })
    .describe('Where tokens are issued and refreshed: a URL, or a path on the host of `base_url`.'),
};
const pullOauth2 = z.discriminatedUnion('grant', [
  clientCredentials.extend(besideBase).meta(clientCredentials.meta() ?? {}),
  authorizationCode.extend(besideBase).meta(authorizationCode.meta() ?? {}),
]);

const hmac = crossChecked(
  z.strictObject({
    type: z.literal('hmac').describe('Every request is signed, again at each attempt.'),
    secret: secretText().describe('The secret that both sides know.'),
    secret_encoding: z
      .enum(['text', 'base64', 'hex'])
      .default('text')
      .describe('How the secret is encoded: `text` is used as written, `base64` and `hex` are decoded first.'),
    algorithm: z.enum(['sha256', 'sha512']).default('sha256').describe('The hash under the HMAC.'),
    encoding: z.enum(['hex', 'base64']).default('hex').describe('How the signature is written.'),
    sign: checkedText('a template such as {timestamp}.{body}', (text) => checkPlaceholders(text, signPlaceholders))
      .default('{timestamp}.{method}.{path_query}.{body}')
      .describe(
        `The string to sign. Placeholders: ${Object.keys(signPlaceholders)
          .map((name) => `{${name}}`)
          .join(', ')}.`,
      ),
    headers: z
      .record(
        headerName(),
        checkedText('a template such as {signature}', (text) => checkPlaceholders(text, signedHeaderPlaceholders)).meta(
          { credential: 'fixed' },
        ),
      )
      .default({ 'X-Signature': '{signature}', 'X-Timestamp': '{timestamp}' })
      .describe('The headers to send: templates over the placeholders of `sign` and {signature}.'),
  }),
  ({ sign, headers }, report) => {
    const sent = placeholderNames(headers);
    if (!sent.includes('signature')) report({ message: 'no header carries {signature}' }, ['headers']);
    for (const name of placeholderNames(sign)) {
      if (!['timestamp', 'nonce'].includes(name) || sent.includes(name)) continue;
      report({ message: `{${name}} is signed, but no header carries it` }, ['headers']);
    }
  },
).meta({ title: 'hmac', description: 'A signature over parts of the request, in headers.' });

const custom = crossChecked(
  z.strictObject({
    type: z.literal('custom').describe('Credentials in places that no standard names.'),
    headers: z.record(headerName(), secretText()).optional().describe('Headers to add to every request.'),
    query: z.record(z.string(), secretText()).optional().describe('Query parameters to add to every request.'),
    body: z
      .record(z.string(), z.json())
      .optional()
      .meta({ writeOnly: true })
      .describe('Keys to add to the body of every request; only for requests that have one.'),
  }),
  ({ headers, query, body }, report) => {
    if (!headers && !query && !body) report({ message: 'needs at least one of headers, query and body' });
  },
).meta({ title: 'custom', description: 'Fixed values in headers, the query or the body.' });

const login = crossChecked(
  z.strictObject({
    type: z.literal('login').describe('A token from a login call of the partner’s own; kept encrypted and renewed.'),
    method: z.enum(['GET', 'POST']).default('POST').describe('The method of the login call.'),
    path: z
      .string()
      .regex(/^\//, { error: 'must start with /; it is added to base_url' })
      .describe('The path of the login under base_url.'),
    encoding: z.enum(['json', 'form']).default('json').describe('How the body is written.'),
    headers: z.record(headerName(), secretText()).optional().describe('Headers of the login call.'),
    query: z.record(z.string(), secretText()).optional().describe('Query parameters of the login call.'),
    body: z.record(z.string(), z.json()).optional().meta({ writeOnly: true }).describe('The body of the login call.'),
    token: answerPath().default('token').describe('Path of the token in the answer, or header.NAME.'),
    expires_in: answerPath()
      .optional()
      .describe('Path of the token’s lifetime in seconds, or of the date-time when it ends, if the answer has one.'),
    lifetime: durationText('1m', '30d')
      .default('30m')
      .describe('How long a token is used if the answer has no lifetime.'),
    header: headerName().default('Authorization').describe('The header that carries the token.'),
    place: placeText()
      .optional()
      .describe('Where requests carry the token instead of `header`: query.NAME or body.KEY.KEY.'),
    value: z
      .string()
      .optional()
      .describe(
        'How the token is written; {token} is replaced by it. By default `Bearer {token}` in a header, `{token}` at a `place`.',
      ),
  }),
  ({ method, body, value, place }, report) => {
    if (typeof place === 'string' && place.startsWith('header.'))
      report({ message: 'for a header, write header: NAME' }, ['place']);
    if (method === 'GET' && body !== undefined) report({ message: 'a body needs method: POST' }, ['body']);
    if (typeof value === 'string' && !value.includes('{token}')) report({ message: 'sends no {token}' }, ['value']);
  },
).meta({ title: 'login', description: 'A token that a login call returns.' });

/** For partners, with the login call in addition. */
export const pullAuthSchema = z.discriminatedUnion('type', [
  none,
  bearer,
  apiKey,
  basic,
  pullOauth2,
  hmac,
  custom,
  login,
]);

export type PullAuthDocument = z.infer<typeof pullAuthSchema>;

export const authSchema = z.discriminatedUnion('type', [none, bearer, apiKey, basic, oauth2, hmac, custom]);
export type AuthDocument = z.infer<typeof authSchema>;
