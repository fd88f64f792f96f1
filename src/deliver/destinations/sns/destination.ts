import { httpCodes, seen, vendorCode } from '../../bus/asking.ts';
import {
  attributesOf,
  awsAsking,
  awsRefusal,
  entryOutcome,
  fifoKeys,
  sizeWithAttributes,
  xmlText,
} from '../../bus/aws.ts';
import { busDestination } from '../../bus/publisher.ts';
import { type Settings, settingsSchema } from './settings.ts';

const label = 'SNS';
const mostBytes = 256 * 1_024;

export const destinationType = busDestination<Settings>({
  type: 'sns',
  label,
  settings: settingsSchema,
  batch: { standard: 10, most: 1_000 },
  call: { messages: 10, bytes: mostBytes },
  mostBytes: () => mostBytes,
  sizeOf: sizeWithAttributes,
  grants: ({ topic_arn }) => [`sns:Publish on ${topic_arn}`, 'sns:GetTopicAttributes, for prepare alone'],
  codes: httpCodes,
  async connect(settings, services) {
    const { topic_arn: TopicArn } = settings;
    const isOrdered = TopicArn.endsWith('.fifo');
    const send = awsAsking('sns', settings, services);
    const request = (form: Readonly<Record<string, string>>, limits?: Parameters<typeof send>[2]) =>
      send(
        { 'content-type': 'application/x-www-form-urlencoded' },
        new URLSearchParams({ Version: '2010-03-31', TopicArn, ...form }).toString(),
        limits,
      );
    return {
      async publish(messages, limits) {
        const form: Record<string, string> = { Action: 'PublishBatch' };
        for (const [i, message] of messages.entries()) {
          const entry = { Id: String(i), Message: xmlText(message.body), ...(isOrdered && fifoKeys(message)) };
          for (const [name, value] of Object.entries(entry)) {
            form[`PublishBatchRequestEntries.member.${i + 1}.${name}`] = value;
          }
          for (const [at, [name, value]] of Object.entries(attributesOf(message)).entries()) {
            const attribute = `PublishBatchRequestEntries.member.${i + 1}.MessageAttributes.entry.${at + 1}`;
            form[`${attribute}.Name`] = name;
            form[`${attribute}.Value.DataType`] = 'String';
            form[`${attribute}.Value.StringValue`] = value;
          }
        }
        const said = await request(form, limits);
        if ('failure' in said) return messages.map(() => said.failure);
        const { answer, text } = said;
        if (answer.status !== 200) {
          const code = vendorCode(textIn(text, 'Code'));
          const refused = awsRefusal(label, code, { status: answer.status, whole: messages.length > 1 });
          return messages.map(() => refused);
        }
        const entries = Array.from(text.matchAll(/<member>(.*?)<\/member>/gs), ([, inner = '']) => inner);
        return messages.map((_, i) => {
          const entry = entries.find((inner) => textIn(inner, 'Id') === String(i));
          const code = entry && textIn(entry, 'Code');
          return entryOutcome(
            label,
            entry === undefined ? undefined : { code, isSender: textIn(entry, 'SenderFault') !== 'false' },
          );
        });
      },
      async check() {
        const said = await request({ Action: 'GetTopicAttributes' });
        const message = () =>
          isOrdered
            ? 'FIFO: versions of a record stay in order, repetitions within 5 minutes are dropped.'
            : 'Not FIFO: it may reorder and repeat; compare sequence.';
        return [
          seen(label, `topic ${TopicArn}`, said, {
            isMissing: (text) => textIn(text, 'Code') === 'NotFound',
            message,
          }),
        ];
      },
      async close() {},
    };
  },
});

/** Ids, codes and flags: they hold no entities. */
const textIn = (xml: string, tag: string): string | undefined => new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(xml)?.[1];
