import type { Json, JsonObject } from '../../json.ts';
import { isRealDate } from '../../simulate/query.ts';
import { formOf } from '../redact.ts';
import { holds, type Rule, unseen } from '../rule.ts';
import { dataOf, envelopeOf } from './delivery.ts';
import { eventNames } from './envelope-rules.ts';
import { each, type SenderEvidence } from './evidence.ts';

/** Rules about the reservation in an event. */
export const dataRules: readonly Rule<SenderEvidence>[] = [
  data(
    'complete',
    'must',
    'A reservation event contains the complete reservation',
    'Send reservation_id, confirmation_number, check_in, check_out, status, guests and stays with every event, not only what changed.',
    (given) => {
      const lacking = [
        'reservation_id',
        'confirmation_number',
        'check_in',
        'check_out',
        'status',
        'guests',
        'stays',
      ].filter((key) => given[key] === undefined);
      return lacking.length === 0 ? undefined : `Without ${lacking.join(', ')}`;
    },
  ),
  data(
    'charges',
    'should',
    'A reservation event contains its charges',
    'Add charges, as an array that may be empty.',
    (given) => (Array.isArray(given.charges) ? undefined : 'Without charges'),
  ),
  data(
    'dates',
    'must',
    'check_in and check_out are dates, YYYY-MM-DD, in order',
    'Write both as YYYY-MM-DD.',
    (given) => {
      const wrong = ['check_in', 'check_out'].find(
        (key) => given[key] !== undefined && !(typeof given[key] === 'string' && isRealDate(given[key])),
      );
      if (wrong !== undefined) return `${wrong} is written as ${formOf(String(given[wrong]).slice(0, 30))}`;
      return given.check_in !== undefined &&
        given.check_out !== undefined &&
        String(given.check_out) < String(given.check_in)
        ? 'check_out is before check_in'
        : undefined;
    },
  ),
  data(
    'guests',
    'must',
    'guests is an array of objects with first_name, last_name, email, phone as strings',
    'Send guests as an array of objects; omit what you do not know.',
    (given) =>
      list(given.guests, (guest) =>
        ['first_name', 'last_name', 'email', 'phone'].find(
          (key) => guest[key] !== undefined && guest[key] !== null && typeof guest[key] !== 'string',
        ),
      ),
  ),
  data(
    'stays',
    'must',
    'stays is an array of objects with room_type, board_type, adults, children',
    'Send stays as an array of objects, adults and children as whole numbers.',
    (given) =>
      list(
        given.stays,
        (stay) =>
          ['room_type', 'board_type'].find((key) => stay[key] !== undefined && typeof stay[key] !== 'string') ??
          ['adults', 'children'].find((key) => stay[key] !== undefined && !Number.isInteger(stay[key])),
      ),
  ),
  {
    id: 'data.cancelled',
    level: 'must',
    title: 'reservation.cancelled contains the final status',
    change: 'Set status to cancelled, or to no-show, in the data of reservation.cancelled.',
    judge: (evidence) => {
      const cancelled = evidence.deliveries.filter(
        (delivery) => envelopeOf(delivery)?.event === 'reservation.cancelled' && dataOf(delivery) !== undefined,
      );
      return cancelled.length === 0
        ? unseen('No reservation.cancelled came.')
        : each({ ...evidence, deliveries: cancelled }, (delivery) =>
            /^(cancell?ed|no[-_ ]?show)$/i.test(String(dataOf(delivery)?.status))
              ? undefined
              : `status is ${String(dataOf(delivery)?.status).slice(0, 30)}`,
          );
    },
  },
  {
    id: 'events.kinds',
    level: 'should',
    title: 'All four kinds of events were seen',
    change: 'Send each kind once during the check.',
    judge: ({ deliveries }) => {
      const seen = new Set(deliveries.map((delivery) => envelopeOf(delivery)?.event));
      const lacking = eventNames.filter((event) => !seen.has(event));
      return lacking.length === 0 ? holds('All four.') : unseen(`Not seen: ${lacking.join(', ')}.`);
    },
  },
];

function data(
  name: string,
  level: 'must' | 'should',
  title: string,
  change: string,
  fault: (given: JsonObject) => string | undefined,
): Rule<SenderEvidence> {
  return {
    id: `data.${name}`,
    level,
    title,
    change,
    judge: (evidence) => {
      const reservations = evidence.deliveries.filter(
        (delivery) => envelopeOf(delivery)?.event !== 'guest.updated' && dataOf(delivery) !== undefined,
      );
      return each({ deliveries: reservations }, (delivery) => fault(dataOf(delivery) ?? {}));
    },
  };
}

/** Another rule reports a missing list. */
function list(value: Json | undefined, wrongKey: (item: JsonObject) => string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return 'It is not an array';
  for (const item of value) {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return 'An element is not an object';
    const key = wrongKey(item);
    if (key !== undefined) return `${key} has the wrong type`;
  }
  return undefined;
}
