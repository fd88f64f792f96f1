import { isObject, type Json, type JsonObject } from '../../json.ts';
import { isRealDate } from '../../simulate/query.ts';
import { formOf } from '../redact.ts';
import { broken, holds, ruleTable, unseen } from '../rule.ts';
import { type Delivery, dataOf, each, envelopeOf, eventIdOf, type SenderEvidence } from './plan.ts';

const eventNames = ['reservation.created', 'reservation.updated', 'reservation.cancelled', 'guest.updated'];
const complete = ['reservation_id', 'confirmation_number', 'check_in', 'check_out', 'status', 'guests', 'stays'];

/** Rules about the envelope. */
export const envelopeRules = ruleTable<SenderEvidence>({
  'envelope.event': {
    title: `event is one of ${eventNames.join(', ')}`,
    change: 'Use these four names.',
    judge: field('event', (value) => typeof value === 'string' && eventNames.includes(value)),
  },
  'envelope.timestamp': {
    title: 'timestamp is ISO 8601 in UTC',
    change: 'Write it as 2026-03-31T14:05:09Z.',
    judge: field(
      'timestamp',
      (value) =>
        typeof value === 'string' &&
        /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00)$/.test(value) &&
        !Number.isNaN(Date.parse(value)),
    ),
  },
  'envelope.brand_id': {
    title: 'brand_id names the brand',
    change: 'Send the agreed brand_id, as a string, with every event.',
    judge: each((delivery, { brandId }) => {
      const brand = envelopeOf(delivery)?.brand_id;
      if (typeof brand !== 'string' || brand === '') return 'It is missing or not a string';
      return brandId === undefined || brand === brandId ? undefined : `It is ${brand}, not ${brandId}`;
    }, isEvent),
  },
  'envelope.data': {
    title: 'data is an object',
    change: 'Put the reservation or the guest into data.',
    judge: field('data', isObject),
  },
  'envelope.event_id': {
    level: 'should',
    title: 'Every event has a unique id',
    change: 'Add event_id, unique per event and the same in its retries: it identifies duplicates.',
    judge: ({ plan }) => {
      const firsts = plan.events.flatMap(({ deliveries }) => deliveries.slice(0, 1)).filter(isEvent);
      if (firsts.length === 0) return unseen('There was no event.');
      const without = firsts.find((delivery) => eventIdOf(delivery) === undefined);
      return without === undefined ? holds(`${firsts.length} events.`) : broken('There is none.', without.number);
    },
  },
});

/** Rules about the reservation in an event. */
export const dataRules = ruleTable<SenderEvidence>({
  'data.complete': {
    title: 'A reservation event contains the complete reservation',
    change:
      'Send reservation_id, confirmation_number, check_in, check_out, status, guests and stays with every event, not only what changed.',
    judge: data((given) => {
      const lacking = complete.filter((key) => given[key] === undefined);
      return lacking.length === 0 ? undefined : `Without ${lacking.join(', ')}`;
    }),
  },
  'data.charges': {
    level: 'should',
    title: 'A reservation event contains its charges',
    change: 'Add charges, as an array that may be empty.',
    judge: data(({ charges }) => (Array.isArray(charges) ? undefined : 'Without charges')),
  },
  'data.dates': {
    title: 'check_in and check_out are dates, YYYY-MM-DD, in order',
    change: 'Write both as YYYY-MM-DD.',
    judge: data((given) => {
      const { check_in: from, check_out: to } = given;
      const wrong = ['check_in', 'check_out'].find(
        (key) => given[key] !== undefined && !(typeof given[key] === 'string' && isRealDate(given[key])),
      );
      if (wrong !== undefined) return `${wrong} is written as ${formOf(String(given[wrong]).slice(0, 30))}`;
      const isReversed = from !== undefined && to !== undefined && String(to) < String(from);
      return isReversed ? 'check_out is before check_in' : undefined;
    }),
  },
  'data.guests': {
    title: 'guests is an array of objects with first_name, last_name, email, phone as strings',
    change: 'Send guests as an array of objects; omit what you do not know.',
    judge: data(({ guests }) =>
      list(guests, (guest) =>
        ['first_name', 'last_name', 'email', 'phone'].find(
          (key) => guest[key] !== undefined && guest[key] !== null && typeof guest[key] !== 'string',
        ),
      ),
    ),
  },
  'data.stays': {
    title: 'stays is an array of objects with room_type, board_type, adults, children',
    change: 'Send stays as an array of objects, adults and children as whole numbers.',
    judge: data(({ stays }) =>
      list(
        stays,
        (stay) =>
          ['room_type', 'board_type'].find((key) => stay[key] !== undefined && typeof stay[key] !== 'string') ??
          ['adults', 'children'].find((key) => stay[key] !== undefined && !Number.isInteger(stay[key])),
      ),
    ),
  },
  'data.cancelled': {
    title: 'reservation.cancelled contains the final status',
    change: 'Set status to cancelled, or to no-show, in the data of reservation.cancelled.',
    judge: each(
      (delivery) => {
        const status = String(dataOf(delivery)?.status);
        return /^(cancell?ed|no[-_ ]?show)$/i.test(status) ? undefined : `status is ${status.slice(0, 30)}`;
      },
      (delivery) => envelopeOf(delivery)?.event === 'reservation.cancelled' && dataOf(delivery) !== undefined,
      'No reservation.cancelled came.',
    ),
  },
  'events.kinds': {
    level: 'should',
    title: 'All four kinds of events were seen',
    change: 'Send each kind once during the check.',
    judge: ({ deliveries }) => {
      const seen = new Set(deliveries.map((delivery) => envelopeOf(delivery)?.event));
      const lacking = eventNames.filter((event) => !seen.has(event));
      return lacking.length === 0 ? holds('All four.') : unseen(`Not seen: ${lacking.join(', ')}.`);
    },
  },
});

function isEvent(delivery: Delivery): boolean {
  return envelopeOf(delivery) !== undefined;
}

/** A field of the envelope. */
function field(name: string, fits: (value: Json | undefined) => boolean) {
  return each((delivery) => {
    const value = envelopeOf(delivery)?.[name];
    if (fits(value)) return undefined;
    if (typeof value === 'string') return `It is ${JSON.stringify(formOf(value.slice(0, 40)))}`;
    return value === undefined
      ? 'It is missing'
      : `It is ${Array.isArray(value) ? 'an array' : `of type ${typeof value}`}`;
  }, isEvent);
}

/** The data of each event about a reservation. */
function data(fault: (given: JsonObject) => string | undefined) {
  return each(
    (delivery) => fault(dataOf(delivery) ?? {}),
    (delivery) => envelopeOf(delivery)?.event !== 'guest.updated' && dataOf(delivery) !== undefined,
  );
}

/** Another rule reports a missing list. */
function list(value: Json | undefined, wrongKey: (item: JsonObject) => string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return 'It is not an array';
  for (const item of value) {
    if (!isObject(item)) return 'An element is not an object';
    const key = wrongKey(item);
    if (key !== undefined) return `${key} has the wrong type`;
  }
  return undefined;
}
