import { z } from 'zod';
import { toGuest, toReservation } from '../../canonical/check.ts';
import { decodeRecord } from '../../canonical/encode.ts';
import { isObject, type Json } from '../../terms.ts';

/**
 * What the JSON columns of a row may hold, for rows that come from a file: a value that a later read could not walk through would stop
 * everything that reads it. `field` gives the row's other columns.
 */
type Content = (value: Json, text: string, field: (column: string) => string | null) => boolean;

const form =
  (schema: z.ZodType): Content =>
  (value) =>
    schema.safeParse(value).success;
const object: Content = (value) => isObject(value);
const list: Content = (value) => Array.isArray(value);
/** As somebody else sent it. */
const anything: Content = () => true;

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
  return isObject(value) && (kind === 'workspace' || value[kind] === field('name'));
};

const moment = z.tuple([z.number(), z.number()]);
const moments = z.record(z.string(), moment).optional();
const values = z.record(z.string(), z.unknown());
const run = z.looseObject({ since: moment, otherwise: moment.optional() });
const item = z.looseObject({ values, at: moments, run: run.optional(), since: moment.optional() });
const view = z.union([
  z.looseObject({
    moment,
    values,
    at: moments,
    lists: z.record(z.string(), z.looseObject({ at: moment.optional(), items: z.array(item) })),
  }),
  z.strictObject({
    moment,
    none: z.array(z.string()).optional(),
    ids: z.record(z.string(), z.array(z.string().nullable())).optional(),
    runs: z.array(run.nullable()).optional(),
  }),
]);
const statement = z.looseObject({ value: z.boolean().nullable(), at: z.number() });
const views = z.looseObject({
  consent: statement.extend({ source: z.string(), others: z.record(z.string(), statement).optional() }).optional(),
});
const isViews: Content = (value) =>
  views.safeParse(value).success &&
  Object.entries(value as object).every(([source, one]) => source === 'consent' || view.safeParse(one).success);

const counted = z.looseObject({ rows: z.number(), signs: z.record(z.string(), z.unknown()) });

/** Every column of type json or jsonb; test/store/db/stored-json.test.ts compares it with the schema. */
export const storedJson = new Map<string, Content>(
  Object.entries({
    'documents.body': isDocument,
    'mapping_cases.expected': anything,
    'streams.refused': object,
    'rejections.newest': object,
    'sandbox_reports.report': object,
    'records.data': isRecord,
    'records.views': isViews,
    'records.unlisted': object,
    'history.diff': form(z.array(z.looseObject({ path: z.string() }))),
    'history.raw': anything,
    'history.notes': list,
    'history.origins': form(z.record(z.string(), z.string())),
    'guards.normal': form(
      z.looseObject({
        recent: z.array(counted),
        usual: counted.extend({ days: z.number() }),
        holds: z.array(z.looseObject({ id: z.string(), state: z.string() })),
      }),
    ),
    'quality.counts': object,
    'hotel_reports.report': object,
    'erasures.receipt': object,
    'erasures.progress': object,
    'runs.position': object,
    'runs.findings': list,
    'runs.last_request': object,
    'partner_accounts.inventory': form(z.array(z.tuple([z.string(), z.number()]))),
    'staged_rows.row': anything,
    'dead_letters.detail': object,
    'dead_letters.raw': anything,
    'alerts.detail': object,
    'incidents.summary': object,
    'jobs.request': object,
    'jobs.counts': form(z.record(z.string(), z.number())),
    'jobs.position': anything,
    'audit.target': object,
  }),
);
