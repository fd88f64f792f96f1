import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import { recordSchemas } from '../src/core/canonical/schema.ts';

/** Writes schemas/asyncapi.json, the messages of the buses, from the canonical schema; test/deliver/bus/asyncapi.test.ts says when to run it. */
export const asyncApiFile = new URL('../schemas/asyncapi.json', import.meta.url);

type Schema = { readonly [key: string]: unknown };

const records = recordSchemas(z.number());
const events = ['created', 'updated', 'cancelled', 'erased', 'removed'];

function recordOf(schema: z.ZodType): Schema {
  const { $schema: _, ...made } = z.toJSONSchema(schema, { io: 'input', target: 'draft-7' });
  return made;
}

/** `removed` has the id alone, and a destination may get chosen fields only: nothing but the id is always there. */
const partOf = ({ required: _, ...schema }: Schema): Schema => ({
  ...schema,
  properties: { id: { type: 'string' }, ...(schema.properties as object) },
  required: ['id'],
});

const payload = (type: string, data: string): Schema => ({
  type: 'object',
  required: ['type', 'integration', 'brand_id', 'event', 'version', 'idempotency_key', 'data'],
  properties: {
    type: { const: type },
    integration: { type: 'string', description: 'The brand, by the name of its integration.' },
    brand_id: { type: 'string' },
    event: { enum: events, description: '`erased`: replace the record. `removed`: it left this destination.' },
    removed: { const: true, description: 'With the event `removed`.' },
    epoch: { type: 'integer', minimum: 2, description: 'Outranks the version; absent means 1.' },
    version: { type: 'integer', minimum: 1, description: 'Rises with every change of one record.' },
    idempotency_key: { type: 'string', description: 'The same for every attempt to deliver this version.' },
    data: { $ref: `#/components/schemas/${data}` },
  },
});

const message = (type: string, data: string): Schema => ({
  name: `${type}.changed`,
  title: `A version of a ${type}`,
  contentType: 'application/json',
  headers: { $ref: '#/components/schemas/CloudEvent' },
  payload: payload(type, data),
});

const cloudEvent: Schema = {
  type: 'object',
  description: 'The attributes of CloudEvents, under the names that the binding of the bus gives them.',
  required: ['specversion', 'id', 'source', 'type', 'subject', 'time', 'sequence', 'partitionkey', 'brandid'],
  properties: {
    specversion: { const: '1.0' },
    id: { type: 'string', description: 'The idempotency key.' },
    source: { type: 'string', pattern: '^/innbound/', description: '/innbound/INTEGRATION' },
    type: { type: 'string', pattern: `^com\\.innbound\\.(reservation|guest)\\.(${events.join('|')})\\.v1$` },
    subject: { type: 'string', description: 'The id of the record.' },
    time: { type: 'string', format: 'date-time', description: 'When the change was made.' },
    sequence: { type: 'string', pattern: '^[0-9]+$', description: 'The version.' },
    partitionkey: {
      type: 'string',
      description: 'INTEGRATION/TYPE/ID: the key that keeps the versions of a record in order.',
    },
    brandid: { type: 'string' },
    epoch: { type: 'string', pattern: '^[0-9]+$' },
  },
};

export function asyncApiText(): string {
  const document = {
    asyncapi: '3.0.0',
    info: {
      title: 'Innbound: changes on a bus',
      version: '1.0.0',
      description:
        'Versions of reservations and guests, in order per record, at least once. A consumer compares epoch and version.',
      license: { name: 'Apache-2.0' },
    },
    defaultContentType: 'application/json',
    channels: {
      changes: {
        address: null,
        title: 'The topic, queue, stream or exchange of a destination',
        messages: {
          reservation: { $ref: '#/components/messages/reservation' },
          guest: { $ref: '#/components/messages/guest' },
        },
      },
    },
    operations: {
      sendChange: {
        action: 'send',
        channel: { $ref: '#/channels/changes' },
        summary: 'Innbound publishes every change.',
      },
    },
    components: {
      messages: { reservation: message('reservation', 'Reservation'), guest: message('guest', 'Guest') },
      schemas: {
        CloudEvent: cloudEvent,
        Reservation: partOf(recordOf(records.reservation)),
        Guest: partOf(recordOf(records.guest)),
      },
    },
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

if (import.meta.main) writeFileSync(asyncApiFile, asyncApiText());
