import { z } from 'zod';
import { isObject } from '../../terms.ts';
import { reservationFields } from '../canonical/fields.ts';
import { answerPath, parsePlace } from './answer-path.ts';
import { checkedText, crossChecked, type Report, textsIn } from './checked.ts';
import { streamSchema } from './connector-events.ts';
import { mapSchema, pushMapSchema, shapeSchema, valuesSchema } from './connector-mapping.ts';
import { paginationSchema } from './connector-pagination.ts';
import { pushShape } from './connector-push.ts';
import { acknowledgeSchema, furtherListsSchema, relatedSchema } from './connector-related.ts';
import {
  checkBody,
  checkBounds,
  checkJoinedIds,
  checkSteps,
  errorsSchema,
  guestRequestSchema,
  requestOfSync,
  requestSchema,
  singleSchema,
  syncRequestSchema,
} from './connector-request.ts';
import { valueAt } from './path.ts';
import { daysText, durationText, headerName, nameText, section } from './scalars.ts';

/** The API of one kind of PMS, as data. Only the adapter that it may name is code. */

const pullSchema = crossChecked(
  z.strictObject({
    request: requestSchema
      .optional()
      .describe(
        'How to request the list of reservations. Leave it out for a partner without a list, whose events are the only source.',
      ),
    requests: z
      .strictObject({
        pre_stay: syncRequestSchema.optional(),
        stay: syncRequestSchema.optional(),
        post_stay: syncRequestSchema.optional(),
      })
      .default({})
      .describe(
        'Other requests for single syncs. One with a path is complete; one without is `request` with further or other keys, such as `post_stay: { query: { filter: departure } }`. A backfill uses `request`.',
      ),
    also: furtherListsSchema.default([]),
    pagination: paginationSchema.default({ type: 'none' }).describe('How pages of a list are requested.'),
    single: singleSchema.optional(),
    details: z
      .strictObject({
        missing: z
          .enum(['left_out', 'cancelled'])
          .default('left_out')
          .describe(
            'What it means if `single` does not find a listed reservation: it is left out, or one that is stored is cancelled, unless its status is checked_in or checked_out.',
          ),
      })
      .optional()
      .describe(
        'For a list that only names reservations: each row is replaced by the answer of `single` for its id, and `map` describes that answer. `map.id` also reads the id in a row of the list.',
      ),
    guest: guestRequestSchema.optional(),
    related: relatedSchema
      .default([])
      .describe(
        'Further requests for data that the rows of a page refer to by id only; lookups and joins find the answers beside the rows.',
      ),
    window: z
      .union([
        z.literal('none').describe('The list has no dates: one request, however long the range.'),
        z.strictObject({
          step: daysText()
            .default('7d')
            .describe(
              'The longest range of one request, in whole days. Above 7d it holds for requested ranges only (a backfill); scheduled syncs ask for at most a week.',
            ),
        }),
      ])
      .default({ step: '7d' })
      .describe('How a sync’s range is cut into requests.'),
    acknowledge: acknowledgeSchema
      .optional()
      .describe(
        'A call that acknowledges the reservations of a page, for feeds that repeat unacknowledged ones. It is sent after the page’s commit; then the list is requested again until it shows nothing new.',
      ),
    changed: answerPath()
      .optional()
      .describe(
        'Where a row says when it changed: a number, or a time in ISO 8601. Of two rows of one reservation in a run, the one that changed later counts; without it, the one that comes later.',
      ),
    since: section('For a list by modification time: the values of {since} and {now}.', {
      overlap: durationText('1m', '7d')
        .default('15m')
        .describe('How much earlier than the start of the last complete run to request from.'),
      first: durationText('1h', '365d').default('30d').describe('How far back the first run goes.'),
      step: daysText()
        .optional()
        .describe(
          'The longest range of one request, in whole days, for a partner that limits it: {since} and {now} are then the bounds of one step. Steps overlap, so those of two days and more are asked for with one day less. Without it, one request covers all changes.',
        ),
    }),
    gone: z
      .enum(['kept', 'cancelled'])
      .default('kept')
      .describe(
        'What to do with a reservation that a complete run no longer lists and that a `single` request, if there is one, does not find: `kept` marks it as not listed, `cancelled` delivers it as cancelled, unless its status is checked_in or checked_out.',
      ),
    errors: errorsSchema,
    wait: headerName()
      .optional()
      .describe(
        'The header in which a 429 names the wait, in seconds, as Unix time or as a date. Retry-After, X-RateLimit-Reset, RateLimit-Reset and X-RateLimit-Retry-After are read without this.',
      ),
    property: answerPath()
      .optional()
      .describe(
        'For an account with several properties: where a row names its property, such as hotel.code. Rows of other properties go to the integration with that brand_id that is `pulled_by` this one; rows without such an integration are left out and counted.',
      ),
    adapter: checkedText('xml, or the path of a module', (text) =>
      text === 'xml' || /^\.\.?\/.+\.(?:ts|js|mjs)$/.test(text)
        ? undefined
        : { message: 'must be xml, or a path from this file to a module, such as ./fixed-width.ts' },
    )
      .optional()
      .describe(
        'For partners that answer in another format: `xml`, or a module whose default export turns the bytes of a response into JSON, and whose export `request`, if there is one, writes the bodies of requests.',
      ),
  }),
  (pull, report) => {
    if (pull.window !== 'none') {
      checkBounds(pull.request, report, ['request']);
    }
    for (const [type, own] of Object.entries(pull.requests ?? {})) {
      const request = isObject(own) ? requestOfSync(pull.request, own) : {};
      const at: Report = (problem, path = []) => report(problem, ['requests', type, ...path]);
      checkBody(request, at);
      if (request.path === undefined) at({ message: 'has no path, and there is no request that it changes' });
      else if (pull.window !== 'none') checkBounds(request, report, ['requests', type]);
    }
    checkSteps(pull, report);
    if (valueAt(pull, ['request', 'method']) !== 'GET') return;
    for (const [key, place] of Object.entries(pull.pagination ?? {})) {
      if (typeof place !== 'string' || parsePlace(place)?.part !== 'body') continue;
      report({ message: 'a GET has no body to carry this; use query.NAME or method: POST' }, ['pagination', key]);
    }
  },
);

/** What people look a system up by, and how far its description can be relied upon. */
const systemSchema = z.strictObject({
  vendor: z.string().min(1).describe('Who makes it.'),
  market: z.string().min(1).describe('For which kinds of houses, and where.'),
  aliases: z.array(z.string().min(1)).default([]).describe('Other names: earlier ones, products, spellings.'),
  basis: z
    .enum(['live', 'vendor', 'clients'])
    .describe(
      'What the connector rests on: a test against a `live` property, the documentation of the `vendor`, or only the code of others, its `clients`.',
    ),
});

export const connectorSchema = crossChecked(
  z.strictObject({
    connector: nameText().describe('The connector’s name; integrations refer to it.'),
    title: z.string().min(1).optional().describe('The system’s name, for people.'),
    description: z.string().optional().describe('What it covers, and against which version of the partner’s API.'),
    system: systemSchema.optional().describe('What people look the system up by.'),
    pull: pullSchema.optional().describe('How to poll the partner’s API; leave it out for a partner that only pushes.'),
    shape: shapeSchema.optional().describe('Where a response has the reservations, and whether they are flat rows.'),
    map: mapSchema
      .optional()
      .describe(
        'Which of the partner’s fields becomes which of ours; a field that is not mentioned has the same name.',
      ),
    values: valuesSchema.optional().describe('The partner’s spellings of our values.'),
    unknown_status: z
      .enum(['dead_letter', 'other'])
      .default('dead_letter')
      .describe(
        'What to do with a record whose status no value map lists: keep it as a dead letter, or accept it as `other`.',
      ),
    push: z
      .strictObject({
        map: pushMapSchema.optional().describe('Overrides `map` for events.'),
        ...pushShape,
      })
      .optional()
      .describe('How the partner’s events differ from the default, if they do.'),
    stream: streamSchema
      .optional()
      .describe('How to read the partner’s events from a stream. `push` describes the events themselves.'),
  }),
  (connector, report) => {
    const has = (...path: string[]) => valueAt(connector, path) !== undefined;
    const refuse = (isWrong: boolean, path: string[], message: string) => isWrong && report({ message }, path);
    const isFlat = has('shape', 'flat');
    refuse(
      isFlat && has('pull', 'acknowledge'),
      ['pull', 'acknowledge'],
      'flat rows become reservations only at the end of a run, so a page of them cannot be acknowledged',
    );
    refuse(
      isFlat && has('pull', 'property'),
      ['pull', 'property'],
      'flat rows cannot be divided between brands; map one reservation per row, or poll each property',
    );
    refuse(
      has('pull', 'details') && (isFlat || !has('pull', 'single') || has('pull', 'single', 'map')),
      ['pull', 'details'],
      'details need pull.single without a map of its own, and no flat rows',
    );
    checkFurtherLists(connector, report);
    checkJoinedIds(connector, report);
    refuse(
      isFlat && has('pull', 'related', '0'),
      ['pull', 'related'],
      'flat rows are grouped over several responses, so they cannot use the related tables of one response',
    );
    refuse(has('push', 'xml') && !has('push', 'envelope'), ['push', 'xml'], 'events in XML need push.envelope');
    const brand = valueAt(connector, ['push', 'envelope', 'brand']);
    refuse(
      connector.stream !== undefined && (brand === undefined || brand === false),
      ['stream'],
      'a stream needs `brand` in push.envelope, such as brand: hotel.code: each event must name its property',
    );
    refuse(
      has('push', 'thin', 'guest') && !has('pull', 'guest'),
      ['push', 'thin', 'guest'],
      'thin guest events need pull.guest to fetch the guest',
    );
    refuse(
      has('push', 'thin') && !has('pull', 'single'),
      ['push', 'thin'],
      'thin events need pull.single to fetch the reservation',
    );
  },
).meta({ title: 'Connector', description: 'The API of one kind of PMS: request, paging, shape, mapping, spellings.' });

export type Connector = z.infer<typeof connectorSchema>;

/**
 * A field that `shape.also` sets on its rows must be one that the mapping reads. Otherwise `set: { status: cancelled }` beside a status
 * that is mapped from elsewhere changes nothing, and a cancelled booking stays confirmed.
 */
function checkFurtherLists(connector: unknown, report: Report): void {
  const lists = valueAt(connector, ['shape', 'also']);
  if (!Array.isArray(lists)) return;
  const map = valueAt(connector, ['map']);
  const read = pathsRead(map);
  for (const [i, list] of lists.entries()) {
    for (const key of Object.keys((valueAt(list, ['set']) ?? {}) as object)) {
      if (read.some((path) => path === key || path.startsWith(`${key}.`) || path.startsWith(`${key}[`))) continue;
      const isField = Object.hasOwn(reservationFields, key);
      const next = isField ? `add it to map.${key} (first: [.., ${key}])` : 'set a field that the mapping reads';
      report({ message: `the mapping does not read ${key}, so setting it has no effect; ${next}` }, [
        'shape',
        'also',
        i,
        'set',
        key,
      ]);
    }
  }
}

/** Every path in the mapping, and the names of the fields that it does not mention. */
function pathsRead(map: unknown): string[] {
  const unnamed = Object.keys(reservationFields).filter((field) => valueAt(map, [field]) === undefined);
  return [...unnamed, ...[...textsIn(map)].map(({ text }) => text)];
}
