import { z } from 'zod';
import { isObject } from '../../terms.ts';
import { pullAuthSchema } from './auth.ts';
import { checkedText, crossChecked } from './checked.ts';
import { capacitySchema, measuresSchema } from './measures.ts';
import { ruleSchema } from './rule.ts';
import {
  countryText,
  durationText,
  headerName,
  httpUrl,
  nameText,
  rateSchema,
  secretText,
  section,
  timezoneText,
} from './scalars.ts';
import { dayOffsetForm, parseDayOffset } from './units.ts';

/** Headers of the connection and the message itself: only the HTTP client sets them, because others could be used to smuggle requests. */
const ofTheConnection: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Further headers of a brand's requests. Their values are often credentials, so all are treated as such. */
const ownHeadersSchema = crossChecked(z.record(headerName(), secretText()), (headers, report) => {
  const seen = new Set<string>();
  for (const name of Object.keys(headers)) {
    const lower = name.toLowerCase();
    if (lower === 'authorization') report({ message: 'belongs to auth' }, [name]);
    else if (ofTheConnection.has(lower)) report({ message: 'is set by the HTTP client and cannot be chosen' }, [name]);
    else if (seen.has(lower)) report({ message: 'is set twice; header names are not case-sensitive' }, [name]);
    seen.add(lower);
  }
});

/** Which of the headers the credentials set. */
function setByAuth(auth: unknown, headers: unknown): string[] {
  if (!isObject(auth) || !isObject(headers)) return [];
  const own = Object.keys(isObject(auth.headers) ? auth.headers : {});
  if (auth.type === 'api_key' && auth.query === undefined) own.push(String(auth.header ?? 'X-API-Key'));
  const taken = new Set(own.map((name) => name.toLowerCase()));
  return Object.keys(headers).filter((name) => taken.has(name.toLowerCase()));
}

/** One brand: a connector, its credentials, time zone, schedules, and the destinations it feeds. */

const farthestDays = 730;

const dayOffsetText = checkedText('days from today such as +1d, 0d or -6d', (text) => {
  const days = parseDayOffset(text);
  if (days === undefined) return { message: 'must be days from today such as +1d, 0d or -6d' };
  return Math.abs(days) > farthestDays
    ? { message: `must be within ${farthestDays} days; a backfill can reach further` }
    : undefined;
}).meta({ pattern: dayOffsetForm.source, examples: ['+1d', '0d', '-6d'] });

const rangeSchema = crossChecked(
  z.tuple([dayOffsetText, dayOffsetText], { error: 'must be two offsets in days, such as [+1d, +7d]' }),
  ({ 0: from, 1: to }, report) => {
    const [first, last] = [parseDayOffset(String(from)), parseDayOffset(String(to))];
    if (first === undefined || last === undefined || first <= last) return;
    report({ message: 'the range ends before it begins', suggestion: `[${to}, ${from}]` });
  },
);

const syncSchema = z.strictObject({
  every: durationText('15m', '60m').describe('How often it runs: 15m to 60m.'),
  range: rangeSchema
    .optional()
    .describe(
      'First and last day to request, relative to today at the property; both are included. Not needed for a request without {window.…}, such as a feed.',
    ),
  status: z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1)], { error: 'must be a status or a list of them' })
    .optional()
    .describe('The status filter in the partner’s own spelling, for {sync.status}; by default none.'),
});

const pullShape = z.strictObject({
  base_url: httpUrl().describe('The partner’s API; the connector’s paths are added to it.'),
  auth: pullAuthSchema.describe('The credentials of every request.'),
  query: z
    .record(
      z.string(),
      z
        .union([z.string().min(1), z.array(z.string().min(1)).min(1)], { error: 'must be text or a list of texts' })
        .meta({ credential: 'likely' }),
    )
    .optional()
    .describe(
      'Query parameters that this brand needs in addition to its credentials, such as the ids of its account. A list is sent as a repeated parameter.',
    ),
  body: z
    .record(z.string(), z.json())
    .optional()
    .meta({ credential: 'likely' })
    .describe(
      'Keys of the body that this brand needs in addition to its credentials, such as an account id; merged into the connector’s body.',
    ),
  headers: ownHeadersSchema
    .optional()
    .describe(
      'Headers that this brand needs in addition to its credentials, such as an application key. Sent with every request to the host of base_url, token requests included.',
    ),
  syncs: z
    .strictObject({
      pre_stay: syncSchema.optional().describe('Reservations with a check-in to come.'),
      stay: syncSchema.optional().describe('Guests in house.'),
      post_stay: syncSchema.optional().describe('Reservations whose check-out has passed.'),
    })
    .default({})
    .describe('What is pulled, and how often.'),
  rate: rateSchema.optional().describe('The maximum request rate to this partner, over all nodes.'),
  lag: durationText('0s', '1d')
    .default('30m')
    .describe(
      'How long the list may still show a booking as it was before an event. A row that the list only repeats overturns the event after this time, not before.',
    ),
  timeouts: section('How long a request may take.', {
    connect: durationText('1s', '1m').default('10s').describe('Maximum time to connect to the server.'),
    idle: durationText('1s', '10m').default('30s').describe('Maximum time without receiving a byte.'),
    total: durationText('1s', '30m').default('2m').describe('For one request in total.'),
  }),
});

const pullSchema = crossChecked(pullShape, ({ auth, headers }, report) => {
  for (const name of setByAuth(auth, headers)) {
    report({ message: `is set by auth; remove it here` }, ['headers', name]);
  }
});

const pushSchema = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe(
      'Whether the brand has a webhook endpoint. Its URL and secret are issued (innbound endpoint), never written here.',
    ),
  sandbox: z
    .boolean()
    .default(false)
    .describe(
      'Rehearsal before going live: the brand’s own address answers as usual and reports each event, but stores and delivers none.',
    ),
  rate: rateSchema.prefault({ requests: 200, burst: 1_000 }).describe('The rate above which the endpoint answers 429.'),
});

const streamSchema = z.strictObject({
  key: secretText().optional().describe('The application key, for {key} and {key.sha256}.'),
  chain: z.string().min(1).optional().describe('The chain or account of the brand, for {chain}.'),
});

export const integrationSchema = crossChecked(
  z.strictObject({
    integration: nameText().describe('The integration’s name; commands and the console use it.'),
    group: nameText().optional().describe('The console shows the brands of a group together.'),
    connector: nameText().describe('The connector, which describes the partner’s API.'),
    brand_id: z
      .string()
      .min(1)
      .describe('The brand or property as the partner names it: {brand_id} in requests, brand_id in events.'),
    timezone: timezoneText().describe('The property’s IANA time zone, such as Europe/Lisbon.'),
    country: countryText()
      .optional()
      .describe('ISO 3166 code of two letters: the region of phone numbers without a prefix.'),
    rooms_available: capacitySchema
      .optional()
      .describe(
        'How many rooms the hotel can sell: a number, or a number for each first night from which it holds. Occupancy and RevPAR need it.',
      ),
    measures: measuresSchema.prefault({}).describe('How the page of the hotel shows its figures.'),
    paused: z.boolean().default(false).describe('Pauses pulling. Events are still accepted and processed.'),
    id_prefix: z
      .string()
      .regex(/^[a-z0-9_-]{1,60}~$/, 'must be a name and a tilde, such as lisbon-mews~')
      .optional()
      .describe(
        'Precedes the ids of reservations and guests, because the brand has moved here from another system whose ids may be the same. `innbound brand move` writes it; a brand that has records keeps it.',
      ),
    pull: pullSchema.optional().describe('Pull mode; without it, the brand is not polled.'),
    pulled_by: nameText()
      .optional()
      .describe(
        'The integration whose polls also bring the reservations of this brand: one account for several properties. Needs `pull.property` in their connector.',
      ),
    push: pushSchema.prefault({ enabled: false }).describe('Push mode; without it, the brand has no endpoint.'),
    stream: streamSchema
      .optional()
      .describe(
        'Reads the brand’s events from the partner’s stream. Brands with the same address, key and chain share one connection, and so do the brands that are `pulled_by` this one.',
      ),
    transforms: z
      .array(ruleSchema)
      .default([])
      .describe('Business rules of this brand, applied in their order after normalization.'),
    guard: z
      .union(
        [
          z.literal('off'),
          z.strictObject({
            rows: z.int().min(3).max(1_000).default(5).describe('The fewest rows that make an accident.'),
            share: z
              .number()
              .min(0.2)
              .max(1)
              .default(0.5)
              .describe('The share of 20 or more rows that makes an accident; of fewer rows, at least 0.8.'),
          }),
        ],
        { error: 'must be off, or limits such as { rows: 5, share: 0.5 }' },
      )
      .prefault({})
      .describe(
        'Holds back what vanishes or changes in nearly all rows at once, until somebody says otherwise; off passes it on.',
      ),
    deliver: z.array(nameText()).default([]).describe('The destinations that get this brand’s changes.'),
    preview: z
      .array(nameText())
      .optional()
      .describe(
        'Those of them that get nothing yet: what they would get waits, and `innbound destination release` or the console shows it and lets it go.',
      ),
  }),
  ({ deliver, preview }, report) => {
    if (!Array.isArray(deliver)) return;
    deliver.forEach((name, i) => {
      if (deliver.indexOf(name) < i) report({ message: `${name} is listed twice` }, ['deliver', i]);
    });
    if (!Array.isArray(preview)) return;
    preview.forEach((name, i) => {
      if (!deliver.includes(name)) report({ message: `${name} is not in deliver` }, ['preview', i]);
    });
  },
).meta({
  title: 'Integration',
  description: 'One brand: its connector, credentials, time zone, schedules and destinations.',
});

export type Integration = z.infer<typeof integrationSchema>;
