import { z } from 'zod';
import { answerPath } from './answer-path.ts';
import { crossChecked, textsChecked } from './checked.ts';
import { requestParts, sends } from './connector-request.ts';
import { checkPlaceholders, placeholdersIn, streamPlaceholders } from './placeholders.ts';
import { durationText } from './scalars.ts';

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
    replay: z
      .strictObject({
        kept: durationText('1h', '365d').default('7d').describe('How long the partner keeps events for a replay.'),
        inclusive: z
          .boolean()
          .default(false)
          .describe(
            'Whether a replay begins with the event of the offset itself. If it does not come, events are missing, which raises an alert.',
          ),
      })
      .prefault({})
      .describe('What the partner sends again after an interruption.'),
  }),
  ({ subscription, variables = {} }, report) => {
    if (!sends({ body: variables }, streamPlaceholders, 'offset'))
      report({ message: 'sends no {offset}: after an interruption events would be lost' }, ['variables']);
    if (typeof subscription !== 'string') return;
    const known = Object.fromEntries(Object.keys(variables as object).map((name) => [name, '']));
    if (placeholdersIn(subscription).length > 0) report(checkPlaceholders(subscription, known), ['subscription']);
  },
);
