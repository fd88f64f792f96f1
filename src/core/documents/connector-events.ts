import { z } from 'zod';
import { answerPath, checkAnswerPath } from './answer-path.ts';
import { checkedText, crossChecked, textsChecked } from './checked.ts';
import { requestParts, sends } from './connector-request.ts';
import { checkPlaceholders, placeholdersIn, streamPlaceholders } from './placeholders.ts';
import { durationText, section } from './scalars.ts';

/** Where another sender's envelope has the fields of ours. */

const place = () =>
  checkedText('a place such as type, $body.property.id or header.X-Event', (text) =>
    /^(?:\$item|(?:header\.|\$body\.)?[^.$\s]+(?:\.[^.\s]+)*)$/.test(text)
      ? checkAnswerPath(text)
      : {
          message: 'must be a path in the event, $body.PATH for a path in the body, header.NAME, query.NAME, or $item',
        },
  );
const places = () =>
  z.union([place(), z.array(place()).min(1)], {
    error: 'must be a place, or a list of places of which the first counts',
  });

const names = () =>
  z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1)], { error: 'must be a name or a list of names' })
    .optional();

const namesSchema = z.strictObject({
  'reservation.created': names().describe('A reservation was made.'),
  'reservation.updated': names().describe('A reservation changed in any way.'),
  'reservation.cancelled': names().describe('A reservation was cancelled, or the guest did not show up.'),
  'guest.updated': names().describe('A guest’s profile changed.'),
});

export const envelopeSchema = crossChecked(
  z.strictObject({
    each: z
      .union([z.literal('$body'), place()], { error: 'must be the path of a list in the body, or $body' })
      .optional()
      .describe(
        'The path of the list of events, for a sender that puts several into one body; `$body` if the body itself is the list. The other paths then start at each event; `$body.PATH` starts at the body.',
      ),
    json: z
      .string()
      .min(1)
      .optional()
      .describe('A key of the body whose value is JSON in a text: it is read as that JSON.'),
    event: z
      .union(
        [
          places(),
          z.literal(false),
          z.strictObject({
            join: z.array(place()).min(2).describe('Places whose texts are joined to the name.'),
            with: z.string().default('/').describe('The separator.'),
          }),
        ],
        { error: 'must be a place, a list of places, { join: [place, place] }, or false' },
      )
      .default('event')
      .describe(
        'Where the name of the event is. Of a list, the first place with a value is used. `query.NAME` for a sender that names no event but has an address for each: register the endpoint with that parameter. `false` if the sender names no event: each one counts as reservation.updated.',
      ),
    names: namesSchema
      .optional()
      .describe('The sender’s names for our four events, in any letter case. By default our own names.'),
    others: z
      .enum(['refuse', 'ignore'])
      .default('refuse')
      .describe(
        'What to do with an event of any other name: `refuse` answers 422; `ignore` accepts it without storing it, for senders that send more than reservations.',
      ),
    timestamp: z
      .union([places(), z.literal(false)], { error: 'must be a place, a list of places, or false' })
      .default('timestamp')
      .describe(
        'When it happened; `false` if the sender does not say. An event without a timestamp counts from its receipt.',
      ),
    timestamp_format: z
      .enum(['iso', 'seconds', 'milliseconds'])
      .default('iso')
      .describe('ISO 8601 with a zone, or Unix time; seconds may have a fraction.'),
    brand: z
      .union([places(), z.literal(false)], { error: 'must be a place, a list of places, or false' })
      .optional()
      .describe(
        'The brand of the event, compared with brand_id; `false` if the sender does not send it. By default the place brand_id; a stream has no default.',
      ),
    data: z
      .union(
        [
          places(),
          z.strictObject({ id: place().describe('The place of the id. It becomes the field `id` of the data.') }),
        ],
        { error: 'must be a place, a list of places, or { id: place }' },
      )
      .default('data')
      .describe(
        'Where the reservation or the guest is, or the object that names them; `$item` for the event itself. `{ id: $item }` if the event is nothing but an id.',
      ),
    optional: z
      .array(z.enum(['timestamp', 'brand']))
      .default([])
      .describe('Fields that some of the sender’s events leave out.'),
  }),
  ({ each, event, names: given, others }, report) => {
    if (each === '$item') report({ message: 'must be the path of a list in the body, or $body' }, ['each']);
    if (event === false && (given !== undefined || others === 'ignore'))
      report({ message: 'events without a name all count as reservation.updated: leave out names and others' }, [
        'event',
      ]);
    if (typeof event === 'object' && event !== null && 'join' in event && given === undefined)
      report({ message: 'joined names are not event names of ours: list them in names' }, ['event']);
  },
).describe(
  'Where this sender’s events have the fields of our envelope. By default event, timestamp, brand_id and data.',
);

export type EnvelopeDocument = z.infer<typeof envelopeSchema>;

const { path, query } = requestParts(streamPlaceholders);
const texts = () =>
  textsChecked(z.record(z.string(), z.json()), (text) => checkPlaceholders(text, streamPlaceholders)).default({});

/** Events over a WebSocket: how to subscribe, and where a message has its offset. `push` says how an event is read. */
export const streamSchema = crossChecked(
  z.strictObject({
    type: z
      .literal('graphql-transport-ws')
      .default('graphql-transport-ws')
      .describe('The protocol: GraphQL subscriptions over WebSocket.'),
    path,
    query,
    init: texts().describe('The payload of `connection_init`, such as the credentials.'),
    subscription: z
      .string()
      .min(1)
      .describe(
        'The GraphQL subscription. `{NAME}` is replaced by the variable of that name, written as GraphQL, for servers that do not publish the types of their variables.',
      ),
    variables: texts().describe('The variables of the subscription. A value whose placeholder is empty is left out.'),
    event: answerPath().describe('Where the `data` of a message has the event, such as newEvent.'),
    offset: answerPath().describe('Where the event has its offset. It is stored as text, together with the event.'),
    ping: durationText('1s', '1m').default('10s').describe('How often we send a ping.'),
    pause: durationText('1s', '5m')
      .default('5s')
      .describe('How long to wait between the end of a connection and the next one.'),
    replay: section('What the partner sends again after an interruption.', {
      kept: durationText('1h', '365d').default('7d').describe('How long the partner keeps events for a replay.'),
      inclusive: z
        .boolean()
        .default(false)
        .describe(
          'Whether a replay begins with the event of the offset itself. If it does not come, events are missing, which raises an alert.',
        ),
    }),
  }),
  ({ subscription, variables = {} }, report) => {
    if (!sends({ body: variables }, streamPlaceholders, 'offset'))
      report({ message: 'sends no {offset}: after an interruption events would be lost' }, ['variables']);
    if (typeof subscription !== 'string') return;
    const known = Object.fromEntries(Object.keys(variables as object).map((name) => [name, '']));
    if (placeholdersIn(subscription).length > 0) report(checkPlaceholders(subscription, known), ['subscription']);
  },
);
