import { vendorCode } from '../../bus/asking.ts';
import { attributesOf, awsBus, fifoKeys, fifoPromise, sizeWithAttributes, xmlText } from '../../bus/aws.ts';
import { type Settings, settingsSchema } from './settings.ts';

const request = (form: Readonly<Record<string, string>>) => ({
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams({ Version: '2010-03-31', ...form }).toString(),
});

/** Ids, codes and flags: they hold no entities. */
const textIn = (xml: string, tag: string): string | undefined => new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(xml)?.[1];

export const destinationType = awsBus<Settings>({
  type: 'sns',
  service: 'sns',
  label: 'SNS',
  settings: settingsSchema,
  mostBytes: 256 * 1_024,
  sizeOf: sizeWithAttributes,
  grants: ({ topic_arn }) => [`sns:Publish on ${topic_arn}`, 'sns:GetTopicAttributes, for prepare alone'],
  send({ topic_arn: TopicArn }, messages) {
    const form: Record<string, string> = { Action: 'PublishBatch', TopicArn };
    for (const [i, message] of messages.entries()) {
      const member = `PublishBatchRequestEntries.member.${i + 1}`;
      const entry = { Id: String(i), Message: xmlText(message.body), ...fifoKeys(TopicArn, message) };
      for (const [name, value] of Object.entries(entry)) form[`${member}.${name}`] = value;
      for (const [at, [name, value]] of Object.entries(attributesOf(message)).entries()) {
        const attribute = `${member}.MessageAttributes.entry.${at + 1}`;
        form[`${attribute}.Name`] = name;
        form[`${attribute}.Value.DataType`] = 'String';
        form[`${attribute}.Value.StringValue`] = value;
      }
    }
    return request(form);
  },
  entries(text, count) {
    const entries = Array.from(text.matchAll(/<member>(.*?)<\/member>/gs), ([, inner = '']) => inner);
    return Array.from({ length: count }, (_, i) => {
      const entry = entries.find((inner) => textIn(inner, 'Id') === String(i));
      return entry === undefined
        ? undefined
        : { code: textIn(entry, 'Code'), isSender: textIn(entry, 'SenderFault') !== 'false' };
    });
  },
  codeIn: (text) => vendorCode(textIn(text, 'Code')),
  what: ({ topic_arn }) => `topic ${topic_arn}`,
  look: ({ topic_arn: TopicArn }) => request({ Action: 'GetTopicAttributes', TopicArn }),
  promise: ({ topic_arn }) => fifoPromise(topic_arn),
});
