import { z } from 'zod';
import { isObject, type Json } from '../../../terms.ts';
import { toGuest, toReservation } from '../../canonical/check.ts';
import { decodeRecord } from '../../canonical/reservation.ts';

/**
 * What the JSON columns of a row may hold, for rows that come from a file: a value that a later read could not walk through would stop
 * everything that reads it. `field` gives the row's other columns.
 */
type Content = (value: Json, text: string, field: (column: string) => string | null) => boolean;

const form =
  (schema: z.ZodType): Content =>
  (value) =>
    schema.safeParse(value).success;

const isRecord: Content = (value, text, field) => {
  if (!isObject(value)) return false;
  // A row that was locked for a record that never came.
  if (field('version') === '0') return true;
  try {
    const checked =
      field('type') === 'guest'
        ? toGuest({ record: decodeRecord('guest', text) })
        : toReservation({ record: decodeRecord('reservation', text) });
    return checked.kind === 'ok' && !checked.notes.some(({ code }) => code === 'invalid_dropped');
  } catch {
    return false;
  }
};

const isDocument: Content = (value, _, field) => {
  const kind = field('kind') ?? '';
  const isNamed = isObject(value) && (kind === 'workspace' || value[kind] === field('name'));
  return isNamed && Array.isArray(value.deliver ?? []);
};

const moment = z.tuple([z.number(), z.number()]);
const moments = z.record(z.string(), moment).optional();
const values = z.record(z.string(), z.unknown());
const item = z.looseObject({ values, at: moments });
const mention = z.strictObject({
  value: z.boolean().nullable(),
  since: z.number(),
  until: z.number(),
  isOwn: z.literal(true).optional(),
});
const element = item.extend({
  mentions: z.array(mention).optional(),
  since: moment.optional(),
  gone: moment.optional(),
});
const account = z.looseObject({
  time: moment,
  values,
  at: moments,
  lists: z.record(z.string(), z.looseObject({ at: moment.optional(), items: z.array(element) })),
});
const stated = {
  at: moment,
  seen: moment.optional(),
  isPerson: z.literal(true).optional(),
  fields: z.literal('partial').optional(),
  elements: z.literal('partial').optional(),
  base: account.optional(),
};
const fieldNames = z.array(z.string()).optional();
const claim = z.union([
  z.strictObject({
    ...stated,
    values,
    less: fieldNames,
    lists: z.record(z.string(), z.array(item).nullable()).optional(),
    assumed: values.optional(),
    unread: fieldNames,
  }),
  z.strictObject({
    ...stated,
    none: fieldNames,
    ids: z.record(z.string(), z.array(z.string().nullable())).optional(),
  }),
]);
const statement = z.looseObject({ value: z.boolean().nullable(), at: z.number() });
const quarantined = z.looseObject({
  hold: z.string(),
  state: z.enum(['held', 'refused', 'ended']),
  source: z.string(),
  path: z.string(),
  at: moment,
  until: moment.optional(),
  content: z.looseObject({ values, lists: z.record(z.string(), z.array(item)) }),
});
const claims = z.looseObject({
  quarantine: z.array(quarantined).optional(),
  consent: statement.extend({ source: z.string(), others: z.record(z.string(), statement).optional() }).optional(),
  times: moments,
});
const log = z.array(claim).min(1);
const isClaims: Content = (value) =>
  claims.safeParse(value).success &&
  Object.entries(value as object).every(
    ([source, one]) => ['consent', 'times', 'quarantine'].includes(source) || log.safeParse(one).success,
  );

const night = z.looseObject({ night: z.string(), rooms: z.number(), revenue: z.record(z.string(), z.number()) });
const hotelReport = z.looseObject({
  nights: z.array(night),
  today: values,
  lost: values,
  channels: z.array(values),
  guests: values,
  errors: z.array(values),
});

const instant = z.iso.datetime({ offset: true });
const counted = z.looseObject({ rows: z.number(), signs: values });
const hold = z.looseObject({ id: z.string(), sign: z.string(), state: z.string(), at: z.number(), heldAt: z.number() });
const normal = z.looseObject({ recent: z.array(counted), usual: counted, holds: z.array(hold) });

const checked = new Map<string, Content>([
  ['documents.body', isDocument],
  ['records.data', isRecord],
  ['records.claims', isClaims],
  ['records.unlisted', form(z.looseObject({ since: instant, asked_at: instant.optional() }))],
  ['history.diff', form(z.array(z.looseObject({ path: z.string() })))],
  ['history.notes', form(z.array(z.tuple([z.string(), z.string()], z.json())))],
  ['history.origins', form(z.record(z.string(), z.string()))],
  ['guards.normal', form(normal)],
  ['hotels.budgets', form(z.record(z.string(), z.number()))],
  ['hotels.report', form(hotelReport)],
  ['rejections.newest', form(z.array(z.looseObject({ at: z.number() })))],
  ['onboarding_links.comments', form(z.array(values))],
  ['runs.findings', form(z.array(values))],
  ['nodes.broken', form(z.array(z.looseObject({ document: z.string(), message: z.string() })))],
  ['runs.position', form(z.looseObject({ feed: z.int().optional() }))],
  ['erasures.receipt', form(z.looseObject({ notified: z.array(values).optional() }))],
  ['jobs.counts', form(z.record(z.string(), z.number()))],
  ['comparisons.counts', form(z.record(z.string(), z.number()))],
  ['comparisons.differences', form(z.array(z.looseObject({ id: z.string(), kind: z.string() })))],
  ['jobs.refusals', form(z.array(z.looseObject({ id: z.string(), reason: z.string() })))],
]);
const objects = [
  ...[
    'streams.refused',
    'sandbox_reports.report',
    'activity.quality',
    'stays.data',
    'erasures.progress',
    'onboarding_links.push_facts',
    'onboarding_links.pull_facts',
  ],
  ...['runs.last_request', 'dead_letters.detail', 'alerts.detail', 'jobs.request', 'audit.target'],
];
/** As somebody else sent it, or as an operation chose it for itself. */
const anything = ['mapping_cases.expected', 'history.raw', 'staged_rows.row', 'dead_letters.raw', 'jobs.position'];

/** Every column of type json or jsonb; test/store/db/stored-json.test.ts compares it with the schema. */
export const storedJson: ReadonlyMap<string, Content> = new Map([
  ...checked,
  ...objects.map((place) => [place, (value: Json) => isObject(value)] as const),
  ...anything.map((place) => [place, () => true] as const),
]);
