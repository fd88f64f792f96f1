import { isObject } from '../../../../terms.ts';
import {
  attributesOf,
  awsBus,
  awsCode,
  awsJson,
  fifoKeys,
  fifoPromise,
  parsedObject,
  sizeWithAttributes,
  xmlText,
} from '../../bus/aws.ts';
import { type Settings, settingsSchema } from './settings.ts';

const nameIn = (queueUrl: string): string => queueUrl.replace(/^.*\//, '');

export const destinationType = awsBus<Settings>({
  type: 'sqs',
  service: 'sqs',
  label: 'SQS',
  settings: settingsSchema,
  mostBytes: 1_024 * 1_024,
  sizeOf: sizeWithAttributes,
  grants: ({ queue_url }) => [
    `sqs:SendMessage on ${nameIn(queue_url)}`,
    'kms:GenerateDataKey and kms:Decrypt, if the queue has a key',
    'sqs:GetQueueAttributes, for prepare alone',
  ],
  send({ queue_url: QueueUrl }, messages) {
    const attributes = (message: (typeof messages)[number]) =>
      Object.entries(attributesOf(message)).map(([name, StringValue]) => [name, { DataType: 'String', StringValue }]);
    const Entries = messages.map((message, i) => ({
      Id: String(i),
      MessageBody: xmlText(message.body),
      MessageAttributes: Object.fromEntries(attributes(message)),
      ...fifoKeys(QueueUrl, message),
    }));
    return awsJson('1.0', 'AmazonSQS.SendMessageBatch', { QueueUrl, Entries });
  },
  entries(text, count) {
    const { Successful, Failed } = parsedObject(text);
    const entries = [Successful, Failed].flat().filter(isObject);
    return Array.from({ length: count }, (_, i) => {
      const entry = entries.find(({ Id }) => Id === String(i));
      const code = entry?.Code === undefined ? undefined : String(entry.Code);
      return entry && { code, isSender: entry.SenderFault !== false };
    });
  },
  codeIn: awsCode,
  what: ({ queue_url }) => `queue ${nameIn(queue_url)}`,
  look: ({ queue_url: QueueUrl }) =>
    awsJson('1.0', 'AmazonSQS.GetQueueAttributes', { QueueUrl, AttributeNames: ['All'] }),
  promise: ({ queue_url }) => fifoPromise(queue_url),
});
