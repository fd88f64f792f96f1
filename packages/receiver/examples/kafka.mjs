// Consumes a topic that a `kafka` destination fills. Offsets are committed after the effect, so that a crash repeats messages; the version
// decides whether one is news.   BROKERS=broker-1:9092 TOPIC=hotel-changes node kafka.mjs
import { Consumer, stringDeserializers } from '@platformatic/kafka';
import { isNewer, readMessages, recordKey } from 'innbound-receiver';

const records = new Map(); // your database
const consumer = new Consumer({
  groupId: process.env.GROUP ?? 'reservations',
  clientId: 'reservations',
  bootstrapBrokers: (process.env.BROKERS ?? 'localhost:9092').split(','),
  deserializers: stringDeserializers,
  autocommit: false,
});
const stream = await consumer.consume({ topics: [process.env.TOPIC], mode: 'committed', fallbackMode: 'earliest' });
process.once('SIGTERM', () => consumer.close(true));

for await (const { key, value, commit } of stream) {
  if (value === null || value === undefined || value === '') {
    // A tombstone, in a compacted topic: the record was removed or erased.
    console.log(JSON.stringify({ gone: key }));
  } else {
    const read = readMessages(value);
    if (!('wrong' in read)) for (const message of read) take(message);
  }
  await commit();
}

function take(message) {
  const key = recordKey(message);
  // At least once, and an old version may come behind a newer one.
  if (!isNewer(message, records.get(key))) return;
  records.set(key, message);
  console.log(JSON.stringify({ key, version: message.version, event: message.event }));
}
