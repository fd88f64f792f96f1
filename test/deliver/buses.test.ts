import { skipWithout } from '../../scripts/prepare-servers.ts';
import {
  eventBridgeSubject,
  kafkaSubject,
  natsSubject,
  pubSubSubject,
  rabbitSubject,
  serviceBusSubject,
  snsSubject,
  sqsSubject,
} from './bus/subjects.ts';
import { conformance } from './conformance.ts';

const batch = { batch: 10 };

conformance('sqs', () => sqsSubject(), batch);
conformance('sns', snsSubject, batch);
conformance('eventbridge', eventBridgeSubject, batch);
conformance('pubsub', pubSubSubject, batch);
conformance('servicebus', serviceBusSubject, batch);
if (!skipWithout('kcat')) conformance('kafka', () => kafkaSubject(), batch);
if (!skipWithout('nats-server')) conformance('nats', () => natsSubject(), batch);
if (!skipWithout('rabbitmq-server')) conformance('rabbitmq', () => rabbitSubject(), batch);
