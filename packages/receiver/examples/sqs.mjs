// Consumes a FIFO queue that an `sqs` destination fills. A message is deleted after its effect, so that a crash repeats it; the version
// decides whether it is news.   QUEUE_URL=https://sqs.… node sqs.mjs
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { isNewer, readMessages, recordKey } from 'innbound-receiver';

const QueueUrl = process.env.QUEUE_URL;
const client = new SQSClient({
  endpoint: process.env.AWS_ENDPOINT_URL_SQS,
  region: process.env.AWS_REGION ?? 'eu-west-1',
});
const records = new Map(); // your database
let stopping = false;
process.once('SIGTERM', () => {
  stopping = true;
});

while (!stopping) {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: Number(process.env.WAIT ?? 20) }),
  );
  for (const { Body, ReceiptHandle } of Messages) {
    const read = readMessages(Body);
    // Not ours: the queue's own dead letter queue takes it after its attempts.
    if ('wrong' in read) continue;
    for (const message of read) take(message);
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  }
}

function take(message) {
  const key = recordKey(message);
  // At least once, and an old version may come behind a newer one.
  if (!isNewer(message, records.get(key))) return;
  records.set(key, message);
  console.log(JSON.stringify({ key, version: message.version, event: message.event }));
}
