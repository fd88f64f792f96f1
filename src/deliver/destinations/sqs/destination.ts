import { isObject } from '../../../terms.ts';
import { httpCodes, seen } from '../../bus/asking.ts';
import {
  attributesOf,
  awsAsking,
  awsCode,
  awsRefusal,
  entryOutcome,
  fifoKeys,
  parsedObject,
  sizeWithAttributes,
  xmlText,
} from '../../bus/aws.ts';
import { busDestination } from '../../bus/publisher.ts';
import { type Settings, settingsSchema } from './settings.ts';

const label = 'SQS';
const mostBytes = 1_024 * 1_024;

export const destinationType = busDestination<Settings>({
  type: 'sqs',
  label,
  settings: settingsSchema,
  batch: { standard: 10, most: 1_000 },
  call: { messages: 10, bytes: mostBytes },
  mostBytes: () => mostBytes,
  sizeOf: sizeWithAttributes,
  grants: ({ queue_url }) => [
    `sqs:SendMessage on ${nameIn(queue_url)}`,
    'kms:GenerateDataKey and kms:Decrypt, if the queue has a key',
    'sqs:GetQueueAttributes, for prepare alone',
  ],
  codes: httpCodes,
  async connect(settings, services) {
    const { queue_url: QueueUrl } = settings;
    const isOrdered = QueueUrl.endsWith('.fifo');
    const send = awsAsking('sqs', settings, services);
    const request = (action: string, body: object, limits?: Parameters<typeof send>[2]) =>
      send(
        { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `AmazonSQS.${action}` },
        JSON.stringify(body),
        limits,
      );
    return {
      async publish(messages, limits) {
        const Entries = messages.map((message, i) => ({
          Id: String(i),
          MessageBody: xmlText(message.body),
          MessageAttributes: Object.fromEntries(
            Object.entries(attributesOf(message)).map(([name, StringValue]) => [
              name,
              { DataType: 'String', StringValue },
            ]),
          ),
          ...(isOrdered && fifoKeys(message)),
        }));
        const said = await request('SendMessageBatch', { QueueUrl, Entries }, limits);
        if ('failure' in said) return messages.map(() => said.failure);
        const { answer, text } = said;
        const body = parsedObject(text);
        if (answer.status !== 200) {
          const refused = awsRefusal(label, awsCode(body), { status: answer.status, whole: messages.length > 1 });
          return messages.map(() => refused);
        }
        const entries = [body.Successful, body.Failed].flat().filter(isObject);
        return messages.map((_, i) => {
          const entry = entries.find(({ Id }) => Id === String(i));
          return entryOutcome(label, entry && { code: entry.Code, isSender: entry.SenderFault !== false });
        });
      },
      async check() {
        const said = await request('GetQueueAttributes', { QueueUrl, AttributeNames: ['All'] });
        const message = () =>
          isOrdered
            ? 'FIFO: versions of a record stay in order, repetitions within 5 minutes are dropped.'
            : 'Not FIFO: it may reorder and repeat; compare sequence.';
        return [
          seen(label, `queue ${nameIn(QueueUrl)}`, said, {
            isMissing: (text) => /NotExist|NonExistent/.test(text),
            message,
          }),
        ];
      },
      async close() {},
    };
  },
});

const nameIn = (queueUrl: string): string => queueUrl.replace(/^.*\//, '');
