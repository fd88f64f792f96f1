import { isIP } from 'node:net';
import type { Broker, Producer, SASLOptions } from '@platformatic/kafka';
import { checkTarget } from '../../../outbound/socket.ts';
import { type BusMessage, headers } from '../../bus/cloud-event.ts';
import { busDestination, delivered } from '../../bus/publisher.ts';
import { guardedNames, isLoopback, tlsOptions } from '../../bus/tls.ts';
import type { DestinationServices } from '../../destination.ts';
import { mostBytes, type Settings, settingsSchema } from './settings.ts';

type TextProducer = Producer<string, string, string, string>;

const hostOf = (broker: string): string => broker.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');

/** The key chooses the partition, as Java's client does, so that the versions of a record stay in order. */
export const destinationType = busDestination<Settings>({
  type: 'kafka',
  label: 'Kafka',
  settings: settingsSchema,
  batch: { standard: 500, most: 10_000 },
  // A part for one partition is judged by the limit of a message.
  call: { messages: 10_000, bytes: 1_000 * 1_024 },
  mostBytes,
  sizeOf: ({ body, order }) => Buffer.byteLength(body) + 4 * Buffer.byteLength(order) + 600,
  grants: ({ topic }) => [`WRITE and DESCRIBE on the topic ${topic}`, 'IDEMPOTENT_WRITE on the cluster (before 2.8)'],
  codes: {
    auth: /AUTHENTICATION|AUTHORIZATION_FAILED/,
    mismatch: /PLT_KFK_USER|UNKNOWN_TOPIC|INVALID_TOPIC/,
    tooLarge: /MESSAGE_TOO_LARGE|RECORD_LIST_TOO_LARGE/,
    refused: /INVALID_RECORD|CORRUPT_MESSAGE|UNSUPPORTED_FOR_MESSAGE_FORMAT/,
  },
  async connect(settings, services) {
    const { topic, tombstones } = settings;
    const producer = await openProducer(settings, services);
    const seeTopic = () => producer.metadata({ topics: [topic], autocreateTopics: false });
    try {
      await seeTopic();
    } catch (error) {
      await producer.close();
      throw error;
    }
    return {
      async publish(messages) {
        await producer.send({ messages: messages.flatMap((message) => records(message, topic, tombstones)) });
        return messages.map(() => delivered);
      },
      check: async () => {
        const partitions = (await seeTopic()).topics.get(topic)?.partitionsCount ?? 0;
        const message = `${partitions} partitions. More partitions later move records to other ones: create enough now.`;
        return [{ what: `topic ${topic}`, result: 'exists', message }];
      },
      close: () => producer.close(),
    };
  },
});

function records(message: BusMessage, topic: string, tombstones: boolean) {
  const record = { topic, key: message.order, headers: headers(message, 'ce_', 'content-type') };
  const isGone = /\.(?:removed|erased)$/.test(message.event);
  const event = { ...record, value: message.body };
  return tombstones && isGone ? [event, record] : [event];
}

async function openProducer(
  { brokers, tls, sasl }: Settings,
  { allowPrivate }: DestinationServices,
): Promise<TextProducer> {
  const { kGetConnection, Producer, stringSerializers, UserError } = await import('@platformatic/kafka');
  const isEncrypted = tls === undefined ? !brokers.every((broker) => isLoopback(hostOf(broker))) : tls !== false;
  for (const broker of brokers) checkTarget(hostOf(broker), isEncrypted, allowPrivate);

  const producer = new Producer({
    clientId: 'innbound',
    bootstrapBrokers: [...brokers],
    serializers: stringSerializers,
    idempotent: true,
    acks: -1,
    autocreateTopics: false,
    connectTimeout: 5_000,
    timeout: 10_000,
    retries: 2,
    retryDelay: 200,
    ...(isEncrypted && {
      tls: { ...tlsOptions(tls), ...guardedNames(allowPrivate) },
      // An address is no name of a server, and fails as one.
      tlsServerName: brokers.every((broker) => isIP(hostOf(broker)) === 0),
    }),
    ...(sasl && { sasl: sasl as SASLOptions }),
  });
  // A broker that closes while we log in is reported twice, the second time when nobody listens: the process would end.
  producer.connections.on('connecting', ({ connection }) => connection.on('error', () => {}));
  // Brokers name each other: those addresses are judged too.
  const inside = producer as unknown as Record<symbol, (broker: Broker, done: (error: Error) => void) => void>;
  const connect = inside[kGetConnection]?.bind(producer);
  inside[kGetConnection] = (broker, done) => {
    try {
      checkTarget(broker.host, isEncrypted, allowPrivate);
    } catch (cause) {
      return done(new UserError('blocked', { cause: cause as Error }));
    }
    connect?.(broker, done);
  };
  return producer;
}
