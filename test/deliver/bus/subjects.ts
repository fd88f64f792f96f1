/** The buses as subjects of the conformance suite: a fresh topic or queue each, read back with another client where there is one. */
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { type Channel, connect as connectRabbit } from 'amqplib';
import type { DestinationType } from '../../../src/core/deliver/destination.ts';
import { destinationType as eventbridge } from '../../../src/core/deliver/destinations/eventbridge/destination.ts';
import { destinationType as kafka } from '../../../src/core/deliver/destinations/kafka/destination.ts';
import { destinationType as nats } from '../../../src/core/deliver/destinations/nats/destination.ts';
import { destinationType as pubsub } from '../../../src/core/deliver/destinations/pubsub/destination.ts';
import { destinationType as rabbitmq } from '../../../src/core/deliver/destinations/rabbitmq/destination.ts';
import { destinationType as servicebus } from '../../../src/core/deliver/destinations/servicebus/destination.ts';
import { destinationType as sns } from '../../../src/core/deliver/destinations/sns/destination.ts';
import { destinationType as sqs } from '../../../src/core/deliver/destinations/sqs/destination.ts';
import type { Effect, Subject } from '../conformance.ts';
import { services } from '../support.ts';
import type { startNats } from './servers.ts';
import { sharedAws, sharedKafka, sharedNats, sharedRabbit } from './shared.ts';
import { eventBridge, type Kept, pubSub, serviceBus } from './stubs.ts';

export interface BusSubject extends Subject {
  readonly type: DestinationType;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Everything that the bus keeps, repetitions included. */
  kept(): Promise<readonly Kept[]>;
}

function busSubject<Settings>(
  type: DestinationType<Settings>,
  settings: Readonly<Record<string, unknown>>,
  kept: () => Promise<readonly Kept[]>,
  more: { readonly refused?: Set<string>; close?(): Promise<unknown> } = {},
): BusSubject {
  const offered = services('/');
  const { refused } = more;
  return {
    type: type as DestinationType,
    settings,
    isReceiver: true,
    open: async (given = offered) => type.open(type.settings.parse(settings), given),
    kept,
    // As a consumer takes them: the first of each id.
    async effects() {
      const effects = (await kept()).map(({ body }): Effect => {
        const { data, version, idempotency_key: key, event } = JSON.parse(body);
        return { id: data.id, version, key, event, data: body };
      });
      return effects.filter(({ key }, i) => effects.findIndex((other) => other.key === key) === i);
    },
    ...(refused && { refuse: async (id: string) => void refused.add(id) }),
    async close() {
      await offered.close();
      await more.close?.();
    },
  };
}

let names = 0;
const next = (): string => `changes-${++names}`;

export async function kafkaSubject(more = {}): Promise<BusSubject> {
  const server = await sharedKafka();
  const topic = next();
  return busSubject(kafka, { brokers: [server.broker], topic, ...more }, async () =>
    server.read(topic).map(({ key, headers, payload }) => ({ order: key, attributes: headers, body: payload ?? '' })),
  );
}

export async function natsSubject(
  server?: Awaited<ReturnType<typeof startNats>>,
  more = {},
  reader = {},
): Promise<BusSubject> {
  const { port, tls } = server ?? (await sharedNats());
  const subject = next();
  const servers = `127.0.0.1:${port}`;
  const always = { reconnect: true, maxReconnectAttempts: -1, reconnectTimeWait: 50 };
  const login = { servers, ...always, ...(tls && { tls }), ...reader };
  const connection = await connect(login);
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: subject, subjects: [`${subject}.>`], duplicate_window: 120e9 });
  const kept = async () => {
    const { state } = await manager.streams.info(subject);
    const numbers = Array.from({ length: state.messages }, (_, i) => state.first_seq + i);
    const messages = await Promise.all(numbers.map((seq) => manager.streams.getMessage(subject, { seq })));
    return messages.flatMap((message): Kept[] => {
      if (message === null) return [];
      const attributes = Object.fromEntries(message.header.keys().map((name) => [name, message.header.get(name)]));
      return [{ order: message.subject, attributes, body: message.string() }];
    });
  };
  return busSubject(nats, { servers: [`nats://127.0.0.1:${port}`], subject, ...(tls && { tls }), ...more }, kept, {
    close: () => connection.close(),
  });
}

export async function rabbitSubject(more = {}): Promise<BusSubject> {
  const server = await sharedRabbit();
  const queue = next();
  const messages: Kept[] = [];
  // Another client, and a connection for each reading, because the tests restart the broker.
  const withChannel = async (work: (channel: Channel) => Promise<unknown>) => {
    const connection = await connectRabbit(server.url);
    await work(await connection.createChannel());
    await connection.close();
  };
  await withChannel((channel) => channel.assertQueue(queue, { durable: true }));
  const kept = async () => {
    await withChannel(async (channel) => {
      for (;;) {
        const message = await channel.get(queue, { noAck: true });
        if (message === false) return;
        const { headers, messageId, contentType } = message.properties;
        const attributes = {
          ...(headers as Record<string, string>),
          'message-id': messageId,
          'content-type': contentType,
        };
        messages.push({ order: queue, attributes, body: message.content.toString() });
      }
    });
    return messages;
  };
  return busSubject(rabbitmq, { url: server.url, routing_key: queue, ...more }, kept);
}

const keys = { access_key_id: 'AKIDTEST', secret_access_key: 'secret' };
const place = { region: 'eu-west-1', credentials: keys };

type Aws = Awaited<ReturnType<typeof sharedAws>>;

function queued(server: Aws, name: string): Kept[] {
  const { ready = [] } = server.inspectQueue(name)?.messages ?? {};
  return ready.map(({ body, messageAttributes, messageGroupId = '' }) => ({
    order: messageGroupId,
    attributes: Object.fromEntries(
      Object.entries(messageAttributes).map(([key, value]) => [key, value.StringValue ?? '']),
    ),
    body,
  }));
}

const fifo = { FifoQueue: 'true', ContentBasedDeduplication: 'false' };

export async function sqsSubject(isFifo = true): Promise<BusSubject> {
  const server = await sharedAws();
  const name = `${next()}${isFifo ? '.fifo' : ''}`;
  const { queueUrl } = server.createQueue(name, { region: 'eu-west-1', ...(isFifo && { attributes: fifo }) });
  const settings = { queue_url: queueUrl, endpoint: `http://127.0.0.1:${server.port}`, ...place };
  return busSubject(sqs, settings, async () => queued(server, name));
}

export async function snsSubject(): Promise<BusSubject> {
  const server = await sharedAws();
  const name = `${next()}.fifo`;
  const { topicArn } = server.createTopic(name, { region: 'eu-west-1', attributes: { FifoTopic: 'true' } });
  server.createQueue(name, { region: 'eu-west-1', attributes: fifo });
  server.subscribe({ topic: name, queue: name, region: 'eu-west-1', attributes: { RawMessageDelivery: 'true' } });
  const settings = { topic_arn: topicArn, endpoint: `http://127.0.0.1:${server.port}`, ...place };
  return busSubject(sns, settings, async () => queued(server, name));
}

export async function eventBridgeSubject() {
  const stub = await eventBridge();
  const settings = { bus: 'changes', endpoint: stub.url, ...place };
  return Object.assign(
    busSubject(eventbridge, settings, async () => stub.kept, stub),
    { stub },
  );
}

export async function pubSubSubject() {
  const stub = await pubSub();
  const settings = { project: 'hotel-data', topic: 'changes', endpoint: stub.url, credentials: stub.credentials };
  return Object.assign(
    busSubject(pubsub, settings, async () => stub.kept, stub),
    { stub },
  );
}

export async function serviceBusSubject() {
  const stub = await serviceBus();
  const settings = {
    namespace: 'hotel-data',
    entity: 'changes',
    key_name: 'send',
    key: 'c2VjcmV0',
    endpoint: stub.url,
  };
  return Object.assign(
    busSubject(servicebus, settings, async () => stub.kept, stub),
    { stub },
  );
}
