import { z } from 'zod';
import { secretText, sizeText } from '../../../documents/scalars.ts';
import { parseSize } from '../../../documents/units.ts';
import { tlsSetting } from '../../bus/settings.ts';

const brokerForm = /^(?:\[[0-9a-f:.]+\]|[A-Za-z0-9._-]+):\d{1,5}$/;

export const settingsSchema = z
  .strictObject({
    brokers: z
      .array(z.string().regex(brokerForm, { error: 'must be HOST:PORT' }))
      .min(1)
      .describe('Brokers to ask first, each HOST:PORT; they name the others.'),
    topic: z
      .string()
      .regex(/^[a-zA-Z0-9._-]{1,249}$/, { error: 'must be the name of a topic' })
      .describe('The topic; it must exist.'),
    tls: tlsSetting()
      .optional()
      .describe('TLS, with certificates of your own or as it is; by default true, but for brokers on loopback.'),
    sasl: z
      .strictObject({
        mechanism: z.enum(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER']).describe('How we log in.'),
        username: z.string().min(1).optional().describe('The user; `$ConnectionString` for Event Hubs.'),
        password: secretText().optional().describe('The password.'),
        token: secretText().optional().describe('The token of OAUTHBEARER.'),
      })
      .optional()
      .describe('The login; by default none.'),
    tombstones: z
      .boolean()
      .default(false)
      .describe('For compacted topics: after `removed` and `erased`, a message without a value for the same key.'),
    max_message: sizeText('1KiB', '64MiB')
      .default('1000KiB')
      .describe('The largest message; not more than `max.message.bytes` of the topic.'),
  })
  .meta({ title: 'kafka', description: 'A topic of Kafka, Confluent, MSK, Redpanda or Event Hubs.' });

export type Settings = z.infer<typeof settingsSchema>;

export const mostBytes = ({ max_message }: Settings): number => parseSize(max_message) ?? 0;
