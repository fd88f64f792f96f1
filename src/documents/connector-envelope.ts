import { z } from 'zod';
import { checkedText, crossChecked } from './checked.ts';

/** Where another sender's envelope has the fields of ours. */

const place = () =>
  checkedText('a place such as type, $body.property.id or header.X-Event', (text) =>
    /^(?:\$item|(?:header\.|\$body\.)?[^.$\s]+(?:\.[^.\s]+)*)$/.test(text)
      ? undefined
      : { message: 'must be a path in the event, $body.PATH for a path in the body, header.NAME, or $item' },
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
    each: place()
      .optional()
      .describe(
        'Where the list of events is, for a sender that puts several into one body. The other places are then looked for in each of them; `$body.PATH` is one in the whole body.',
      ),
    event: z
      .union(
        [
          places(),
          z.strictObject({
            join: z.array(place()).min(2).describe('Places whose texts together are the name.'),
            with: z.string().default('/').describe('What stands between them.'),
          }),
        ],
        { error: 'must be a place, a list of places, or { join: [place, place] }' },
      )
      .default('event')
      .describe('What happened. A list: the first that is found.'),
    names: namesSchema
      .optional()
      .describe('Which of the sender’s names are which of our four events, in any case. Left out: our own names.'),
    others: z
      .enum(['refuse', 'ignore'])
      .default('refuse')
      .describe(
        'What becomes of an event that no name fits: 422, or accepted and forgotten, for senders that send more than reservations.',
      ),
    timestamp: z
      .union([places(), z.literal(false)], { error: 'must be a place, a list of places, or false' })
      .default('timestamp')
      .describe(
        'When it happened; `false` where the sender does not say it. An event without one counts from its receipt.',
      ),
    timestamp_format: z
      .enum(['iso', 'seconds', 'milliseconds'])
      .default('iso')
      .describe('ISO 8601 with a zone, or Unix time; seconds may have a fraction.'),
    brand: z
      .union([places(), z.literal(false)], { error: 'must be a place, a list of places, or false' })
      .default('brand_id')
      .describe('The brand of the event, compared with brand_id; `false` if the sender does not send it.'),
    data: places()
      .default('data')
      .describe('The reservation, the guest, or what names them; `$item` for the event itself.'),
    optional: z
      .array(z.enum(['timestamp', 'brand']))
      .default([])
      .describe('What some of the sender’s events leave out.'),
  }),
  ({ each, event, names: given }, report) => {
    if (each === '$item') report({ message: 'must be the path of a list in the body' }, ['each']);
    if (typeof event === 'object' && event !== null && 'join' in event && given === undefined)
      report({ message: 'joined names are not event names of ours: list them in names' }, ['event']);
  },
).describe(
  'Where this sender’s events keep what our envelope says by name. Left out: event, timestamp, brand_id and data.',
);

export type EnvelopeDocument = z.infer<typeof envelopeSchema>;
