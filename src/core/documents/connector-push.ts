import { z } from 'zod';
import { answerPath, checkAnswerPath } from './answer-path.ts';
import { checkedText, crossChecked, textsChecked } from './checked.ts';
import { envelopeSchema } from './connector-events.ts';
import { valueAt } from './path.ts';
import {
  answerPlaceholders,
  checkPlaceholders,
  placeholderNames,
  subscriptionPlaceholders,
  webhookSignPlaceholders,
} from './placeholders.ts';
import { durationText, headerName, httpUrl } from './scalars.ts';

const signedText = checkedText('timestamp.body, body, or a text with {timestamp} and {body}', (text) => {
  if (text === 'timestamp.body' || text === 'body') return undefined;
  const wrong = checkPlaceholders(text.replace(/\{header\.[\w-]+\}/g, '{header.NAME}'), webhookSignPlaceholders);
  if (wrong !== undefined) return wrong;
  const bodies = placeholderNames(text).filter((name) => name === 'body' || name === 'body_base64').length;
  return bodies === 1
    ? undefined
    : { message: 'must be timestamp.body, body, or a text with {body} or {body_base64} once' };
});

const signsTime = (sign: unknown) => sign === 'timestamp.body' || placeholderNames(sign).includes('timestamp');

const partName = () =>
  checkedText('the name of a part, such as t or v1', (text) =>
    /^[^\s=,;]+$/.test(text) ? undefined : { message: 'must be the name of a part alone, such as t or v1' },
  );

const signatureParts = z.strictObject({
  timestamp: partName().optional().describe('The name of the part with the time, such as `t`.'),
  signature: partName().describe(
    'The name of the part with the signature, such as `v1`. It may occur up to ten times, for example while the partner changes its secret; one signature must be right.',
  ),
});

const hmac = crossChecked(
  z.strictObject({
    type: z.literal('hmac').describe('A signature over the raw body, in a header.'),
    algorithm: z
      .enum(['sha256', 'sha512', 'sha1', 'md5'])
      .default('sha512')
      .describe('The hash under the HMAC. `sha1` and `md5` only for senders that offer nothing better.'),
    sign: signedText
      .default('timestamp.body')
      .describe(
        'What is signed: `timestamp.body`, `body`, or another text with {body}, such as `v0:{timestamp}:{body}` or `{method}{url}{body}`. Without the timestamp, a replayed request cannot be distinguished from a new one; only the event id shows a duplicate.',
      ),
    header: headerName().default('X-Webhook-Signature').describe('The header with the signature.'),
    prefix: z.string().default('').describe('Text before the signature in its header, such as `sha512=`.'),
    encoding: z.enum(['hex', 'base64']).default('hex').describe('How the signature is written.'),
    timestamp_header: headerName()
      .optional()
      .describe('The header with the time, if the time is signed and is not one of the `parts`.'),
    parts: signatureParts
      .optional()
      .describe(
        'The header consists of named parts, separated by commas or semicolons, such as `t=1772357400,v1=5257a8…`.',
      ),
    timestamp_format: z
      .enum(['seconds', 'milliseconds', 'iso'])
      .default('seconds')
      .describe('The format of the timestamp: the Unix time in seconds or milliseconds, or ISO 8601 with a zone.'),
    tolerance: durationText('30s', '1h').default('5m').describe('How far the timestamp may be from our clock.'),
  }),
  (scheme, report) => {
    const { sign, timestamp_header: header, parts, prefix } = scheme;
    const part = valueAt(parts, ['timestamp']);
    if (signsTime(sign) && header === undefined && part === undefined) {
      report({
        message: 'the timestamp is signed: say which header (timestamp_header) or part (parts.timestamp) carries it',
      });
    }
    if (header !== undefined && part !== undefined) {
      report({ message: 'the timestamp is one of the parts already; give one of the two' }, ['timestamp_header']);
    }
    if (parts !== undefined && typeof prefix === 'string' && prefix !== '') {
      report({ message: 'a header with parts has no prefix; parts.signature is the name before the signature' }, [
        'prefix',
      ]);
    }
  },
).meta({ title: 'hmac', description: 'HMAC with other names, hashes or encodings than the default.' });

const token = crossChecked(
  z.strictObject({
    type: z.literal('token').describe('A shared secret in clear text, for senders that cannot sign.'),
    header: headerName().optional().describe('The header that carries the token.'),
    prefix: z.string().default('').describe('Text before the token in its header, such as `Bearer ` with its space.'),
    query: z.string().min(1).optional().describe('The query parameter that carries the token, instead of a header.'),
  }),
  ({ header, query }, report) => {
    if ((header === undefined) === (query === undefined)) report({ message: 'give exactly one of header and query' });
  },
).meta({ title: 'token', description: 'A token in a header or in the URL.' });

const basic = z
  .strictObject({
    type: z.literal('basic').describe('HTTP Basic; the password is the endpoint’s secret.'),
    username: z
      .string()
      .regex(/^[^:]+$/, { error: 'must be a name without a colon' })
      .describe('The user name that the sender is configured with.'),
  })
  .meta({ title: 'basic', description: 'User name and password in the Authorization header.' });

const standardWebhooks = z
  .strictObject({
    type: z
      .literal('standard_webhooks')
      .describe('The scheme of standardwebhooks.com: webhook-id, webhook-timestamp, webhook-signature.'),
    headers: z
      .enum(['webhook', 'svix'])
      .default('webhook')
      .describe('How the names of the three headers begin; `svix` for senders that send through Svix.'),
  })
  .meta({ title: 'standard_webhooks', description: 'Standard Webhooks.' });

const verificationSchema = z
  .discriminatedUnion('type', [hmac, token, basic, standardWebhooks])
  .describe(
    'How this sender’s requests are verified. By default HMAC-SHA512 over `timestamp.body`, hex after `sha512=` in X-Webhook-Signature, the time in X-Webhook-Timestamp.',
  );
export type Verification = z.infer<typeof verificationSchema>;

const eventIdPath = checkedText('a path such as event_id or header.X-Event-Id', (text) =>
  text === '' || text === 'header.' ? { message: 'must be a path in the body, or header.NAME' } : checkAnswerPath(text),
);

/** The push section without `map`, which has the mapping's own schema. */
export const pushShape = {
  event_id: z
    .union([eventIdPath, z.array(eventIdPath).min(1), z.literal(false)], {
      error: 'must be a path, a list of paths, or false',
    })
    .default(['event_id', 'id'])
    .describe(
      'Where the event’s id is: paths in the event, header.NAME, or $body.PATH if one body holds several events. The first that is found is used, except the reservation’s own id where the event is the reservation; without an id, equal bodies are duplicates, except thin events without a time. `false` for senders without ids whose equal bodies are different events.',
    ),
  xml: z
    .strictObject({
      answer: textsChecked(z.record(z.string(), z.json()), (text) =>
        checkPlaceholders(text, answerPlaceholders),
      ).describe('The document that accepts an event, in the form in which adapter: xml writes requests.'),
    })
    .optional()
    .describe(
      'For a sender whose events are XML: they are read as adapter: xml reads answers, from inside the root element; its name is `#name`. Needs `envelope`.',
    ),
  envelope: envelopeSchema.optional(),
  absent: z
    .enum(['keep', 'clear'])
    .default('keep')
    .describe(
      'What it means if an event leaves out a key. `keep`: the stored value stays. `clear`, for a partner that sends complete objects: the value is removed if an event gave it before; values that only a poll gave stay. null and an empty list always clear.',
    ),
  lists: z
    .enum(['replace', 'merge'])
    .default('replace')
    .describe(
      'What a list of guests, rooms or charges in an event means. `replace`: the list is complete. `merge`: the list names some of them; the others stay.',
    ),
  thin: z
    .strictObject({
      id: z
        .union(
          [
            answerPath(),
            z.array(answerPath()).min(1),
            z.strictObject({
              join: z
                .array(answerPath())
                .min(2)
                .max(3)
                .describe('Paths to the parts of the id, if pull.single needs several.'),
              with: z.string().min(1).default('/').describe('The text between the parts, as in pull.single.split.'),
            }),
          ],
          { error: 'must be a path, a list of paths, or { join: [path, path] }' },
        )
        .describe('Path in the event’s `data` to the reservation’s id; of several, the first that is found.'),
      guest: z
        .union([answerPath(), z.array(answerPath()).min(1)], { error: 'must be a path or a list of paths' })
        .optional()
        .describe('Path in the `data` of a guest event to the guest’s id: the guest is fetched through pull.guest.'),
    })
    .optional()
    .describe('For events that only name the reservation that changed: it is fetched through pull.single.'),
  subscription: z
    .strictObject({
      base_url: httpUrl()
        .optional()
        .describe(
          'The address of the API for subscriptions, if it is not the brand’s pull.base_url. It gets the same credentials.',
        ),
      path: z
        .string()
        .startsWith('/')
        .describe('GET of this path lists the subscriptions, POST makes one, DELETE of PATH/ID ends one.'),
      body: textsChecked(z.record(z.string(), z.json()), (text) =>
        checkPlaceholders(text, subscriptionPlaceholders),
      ).describe('The body that makes one, with {url}, and {secret} if the sender signs.'),
      root_path: answerPath()
        .optional()
        .describe('The path of the list in the answer; by default the answer is the list.'),
      url: answerPath().describe('The path of the address in a listed subscription.'),
      id: answerPath().default('id').describe('The path of its id.'),
    })
    .optional()
    .describe('How `innbound endpoint NAME --subscribe` makes the partner send events to the endpoint.'),
  verification: verificationSchema.optional(),
};
