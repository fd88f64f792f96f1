import type { TcpNetConnectOpts } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { Connection } from 'rabbitmq-client';
import { checkTarget } from '../../../outbound/socket.ts';
import { type BusMessage, contentType, headers } from '../../bus/cloud-event.ts';
import { NotTaken, never } from '../../bus/failure.ts';
import { busDestination, delivered, each } from '../../bus/publisher.ts';
import { guardedNames, tlsOptions } from '../../bus/tls.ts';
import type { DestinationServices } from '../../destination.ts';
import { type Settings, settingsSchema } from './settings.ts';

const connectMs = 10_000;

/** Persistent messages, confirmed by the broker. `mandatory`: one that no queue takes comes back before its confirmation, and is a failure. */
export const destinationType = busDestination<Settings>({
  type: 'rabbitmq',
  label: 'RabbitMQ',
  settings: settingsSchema,
  batch: { standard: 500, most: 10_000 },
  call: { messages: 10_000, bytes: 16 * 1_024 * 1_024 },
  // The default of RabbitMQ 4.
  mostBytes: () => 16 * 1_024 * 1_024,
  sizeOf: ({ body }) => Buffer.byteLength(body),
  grants: ({ exchange }) => [`write on the exchange ${exchange === '' ? 'amq.default' : exchange}`],
  codes: {
    auth: /ACCESS_REFUSED|NOT_ALLOWED/,
    mismatch: /NOT_FOUND|UNROUTABLE/,
    tooLarge: /PRECONDITION_FAILED|CONTENT_TOO_LARGE/,
    refused: never,
  },
  async connect(settings, services) {
    const { exchange, routing_key: routingKey } = settings;
    const connection = await connectTo(settings, services);
    const channel = await connection.acquire();
    await channel.confirmSelect();
    const returned = new Set<string>();
    channel.on('basic.return', ({ messageId = '' }) => returned.add(messageId));
    const publishOne = async (message: BusMessage) => {
      await channel.basicPublish(
        {
          exchange,
          routingKey,
          mandatory: true,
          durable: true,
          messageId: message.id,
          type: message.event,
          timestamp: Math.floor(message.changedAt / 1_000),
          contentType,
          headers: headers(message, 'cloudEvents:', 'cloudEvents:datacontenttype'),
        },
        Buffer.from(message.body),
      );
      return delivered;
    };
    return {
      isClosed: () => !channel.active,
      async publish(messages) {
        const answers = await each(messages, publishOne);
        // The broker sends a returned message before its confirmation; the library reports it in the next turn.
        await setImmediate();
        return answers.map((answer, i) =>
          returned.delete(messages[i]?.id ?? '') ? new NotTaken('UNROUTABLE') : answer,
        );
      },
      check: async () => {
        if (exchange !== '') await channel.exchangeDeclare({ exchange, passive: true });
        else await channel.queueDeclare({ queue: routingKey, passive: true });
        const what = exchange === '' ? `queue ${routingKey}` : `exchange ${exchange}`;
        const message =
          'Order holds within a queue. Whether a queue is bound shows at the first delivery, which otherwise waits.';
        return [{ what, result: 'exists', message }];
      },
      close: async () => {
        // It waits for its channels.
        await channel.close().catch(() => connection.unsafeDestroy());
        await connection.close();
      },
    };
  },
});

/** Connected, or rejected with the first failure: the library itself would try again and again. */
async function connectTo({ url, tls }: Settings, { allowPrivate }: DestinationServices): Promise<Connection> {
  const { Connection } = await import('rabbitmq-client');
  const { protocol, hostname } = new URL(url);
  checkTarget(hostname, protocol === 'amqps:', allowPrivate);
  const connection = new Connection({
    url,
    acquireTimeout: connectMs,
    connectionTimeout: connectMs,
    retryLow: 60_000,
    retryHigh: 60_000,
    ...(protocol === 'amqps:' && { tls: tlsOptions(tls) }),
    socket: guardedNames(allowPrivate) as TcpNetConnectOpts,
  });
  try {
    await new Promise<void>((resolve, reject) => {
      connection.once('connection', resolve);
      connection.once('error', reject);
    });
  } catch (error) {
    connection.unsafeDestroy();
    throw error;
  }
  connection.on('error', () => {});
  return connection;
}
