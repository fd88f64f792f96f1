import { isObject } from '../../../../terms.ts';
import { awsBus, awsCode, awsJson, parsedObject } from '../../bus/aws.ts';
import { structured } from '../../bus/cloud-event.ts';
import { type Settings, settingsSchema } from './settings.ts';

/** Structured mode: `Detail` is the whole event. EventBridge orders nothing and drops no repetition. */
export const destinationType = awsBus<Settings>({
  type: 'eventbridge',
  service: 'events',
  label: 'EventBridge',
  settings: settingsSchema,
  mostBytes: 1_000_000,
  // As it counts: the time has 14 bytes.
  sizeOf: (message) => Buffer.byteLength(structured(message)) + message.event.length + 'innbound'.length + 14,
  grants: ({ bus }) => [`events:PutEvents on the bus ${bus}`, 'events:DescribeEventBus, for prepare alone'],
  send({ bus: EventBusName }, messages) {
    const Entries = messages.map((message) => ({
      EventBusName,
      Source: 'innbound',
      DetailType: message.event,
      Detail: structured(message),
      Time: Math.floor(message.changedAt / 1_000),
    }));
    return awsJson('1.1', 'AWSEvents.PutEvents', { Entries });
  },
  // One entry for each that was sent, in their order.
  entries(text, count) {
    const { Entries } = parsedObject(text);
    if (!Array.isArray(Entries) || Entries.length !== count) return [];
    return Entries.map((entry) => {
      if (!isObject(entry)) return undefined;
      if (entry.ErrorCode !== undefined) return { code: String(entry.ErrorCode), isSender: true };
      return typeof entry.EventId === 'string' ? { code: undefined, isSender: true } : undefined;
    });
  },
  codeIn: awsCode,
  what: ({ bus }) => `bus ${bus}`,
  look: ({ bus: Name }) => awsJson('1.1', 'AWSEvents.DescribeEventBus', { Name }),
  promise: () => 'It keeps no order and drops no repetition: consumers compare id and sequence.',
});
