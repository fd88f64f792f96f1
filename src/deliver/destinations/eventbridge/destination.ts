import { isObject } from '../../../terms.ts';
import { httpCodes, seen } from '../../bus/asking.ts';
import { awsAsking, awsCode, awsRefusal, entryOutcome, parsedObject } from '../../bus/aws.ts';
import { type BusMessage, structured } from '../../bus/cloud-event.ts';
import { busDestination } from '../../bus/publisher.ts';
import { type Settings, settingsSchema } from './settings.ts';

const label = 'EventBridge';
const mostBytes = 1_000_000;

/** Structured mode: `Detail` is the whole event. EventBridge orders nothing and drops no repetition. */
export const destinationType = busDestination<Settings>({
  type: 'eventbridge',
  label,
  settings: settingsSchema,
  batch: { standard: 10, most: 1_000 },
  call: { messages: 10, bytes: mostBytes },
  mostBytes: () => mostBytes,
  // As it counts: the time has 14 bytes.
  sizeOf: (message: BusMessage) =>
    Buffer.byteLength(structured(message)) + message.event.length + 'innbound'.length + 14,
  grants: ({ bus }) => [`events:PutEvents on the bus ${bus}`, 'events:DescribeEventBus, for prepare alone'],
  codes: httpCodes,
  async connect(settings, services) {
    const { bus } = settings;
    const send = awsAsking('events', settings, services);
    const request = (action: string, body: object, limits?: Parameters<typeof send>[2]) =>
      send(
        { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `AWSEvents.${action}` },
        JSON.stringify(body),
        limits,
      );
    return {
      async publish(messages, limits) {
        const Entries = messages.map((message) => ({
          EventBusName: bus,
          Source: 'innbound',
          DetailType: message.event,
          Detail: structured(message),
          Time: Math.floor(message.changedAt / 1_000),
        }));
        const said = await request('PutEvents', { Entries }, limits);
        if ('failure' in said) return messages.map(() => said.failure);
        const { answer, text } = said;
        const body = parsedObject(text);
        if (answer.status !== 200) {
          const refused = awsRefusal(label, awsCode(body), { status: answer.status, whole: messages.length > 1 });
          return messages.map(() => refused);
        }
        // One entry for each that was sent, in their order.
        const entries = Array.isArray(body.Entries) && body.Entries.length === messages.length ? body.Entries : [];
        return messages.map((_, i) => {
          const entry = entries[i];
          const isKnown = isObject(entry) && (entry.ErrorCode !== undefined || typeof entry.EventId === 'string');
          return entryOutcome(label, isKnown ? { code: entry.ErrorCode, isSender: true } : undefined);
        });
      },
      async check() {
        const said = await request('DescribeEventBus', { Name: bus });
        const message = () => 'It keeps no order and drops no repetition: consumers compare id and sequence.';
        return [seen(label, `bus ${bus}`, said, { isMissing: (text) => /ResourceNotFound/.test(text), message })];
      },
      async close() {},
    };
  },
});
