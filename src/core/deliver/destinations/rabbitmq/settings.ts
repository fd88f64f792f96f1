import { z } from 'zod';
import { urlText } from '../../../documents/scalars.ts';
import { tlsSetting } from '../../bus/settings.ts';

export const settingsSchema = z
  .strictObject({
    url: urlText('amqps', 'amqp').describe(
      'The broker: amqps://user:password@host/vhost, preferably as a reference to a secret.',
    ),
    exchange: z
      .string()
      .max(255)
      .default('')
      .describe('The exchange; it must exist. By default the one that names queues.'),
    routing_key: z
      .string()
      .max(255)
      .describe('The routing key, as it is written here; for the default exchange the name of a queue.'),
    tls: tlsSetting().optional().describe('Certificates of your own, with `amqps`.'),
  })
  .meta({ title: 'rabbitmq', description: 'An exchange of RabbitMQ (AMQP 0.9.1).' });

export type Settings = z.infer<typeof settingsSchema>;
