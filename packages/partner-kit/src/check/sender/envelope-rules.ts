import { isObject, type Json } from '../../json.ts';
import { formOf } from '../redact.ts';
import { broken, holds, type Rule, unseen } from '../rule.ts';
import { envelopeOf, eventIdOf } from './delivery.ts';
import { each, type SenderEvidence } from './evidence.ts';

export const eventNames = ['reservation.created', 'reservation.updated', 'reservation.cancelled', 'guest.updated'];

/** Rules about the envelope. */
export const envelopeRules: readonly Rule<SenderEvidence>[] = [
  envelope(
    'event',
    'must',
    `event is one of ${eventNames.join(', ')}`,
    'Use these four names.',
    (value) => typeof value === 'string' && eventNames.includes(value),
  ),
  envelope(
    'timestamp',
    'must',
    'timestamp is ISO 8601 in UTC',
    'Write it as 2026-03-31T14:05:09Z.',
    (value) =>
      typeof value === 'string' &&
      /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00)$/.test(value) &&
      !Number.isNaN(Date.parse(value)),
  ),
  {
    id: 'envelope.brand_id',
    level: 'must',
    title: 'brand_id names the brand',
    change: 'Send the agreed brand_id, as a string, with every event.',
    judge: (evidence) =>
      each(objectsOnly(evidence), (delivery) => {
        const brand = envelopeOf(delivery)?.brand_id;
        if (typeof brand !== 'string' || brand === '') return 'It is missing or not a string';
        return evidence.brandId === undefined || brand === evidence.brandId
          ? undefined
          : `It is ${brand}, not ${evidence.brandId}`;
      }),
  },
  envelope('data', 'must', 'data is an object', 'Put the reservation or the guest into data.', (value) =>
    isObject(value),
  ),
  {
    id: 'envelope.event_id',
    level: 'should',
    title: 'Every event has a unique id',
    change: 'Add event_id, unique per event and the same in its retries: it identifies duplicates.',
    judge: ({ plan }) => {
      const readable = plan.events.filter(
        ({ deliveries }) => deliveries[0] !== undefined && envelopeOf(deliveries[0]) !== undefined,
      );
      if (readable.length === 0) return unseen('There was no event.');
      const without = readable.find(
        ({ deliveries }) => deliveries[0] !== undefined && eventIdOf(deliveries[0]) === undefined,
      );
      return without === undefined
        ? holds(`${readable.length} events.`)
        : broken('There is none.', without.deliveries[0]?.number);
    },
  },
];

function objectsOnly(evidence: SenderEvidence): SenderEvidence {
  return { ...evidence, deliveries: evidence.deliveries.filter((delivery) => envelopeOf(delivery) !== undefined) };
}

function envelope(
  name: string,
  level: 'must' | 'should',
  title: string,
  change: string,
  fits: (value: Json | undefined) => boolean,
): Rule<SenderEvidence> {
  return {
    id: `envelope.${name}`,
    level,
    title,
    change,
    judge: (evidence) =>
      each(objectsOnly(evidence), (delivery) => {
        const value = envelopeOf(delivery)?.[name];
        if (fits(value)) return undefined;
        return value === undefined
          ? 'It is missing'
          : `It is ${typeof value === 'string' ? JSON.stringify(formOf(value.slice(0, 40))) : Array.isArray(value) ? 'an array' : `of type ${typeof value}`}`;
      }),
  };
}
