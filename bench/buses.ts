/**
 * What a destination adds to its client library: `npm run bench -- buses`. Each round sends the same 5,000 messages in calls of 500, once by the
 * destination and once by the library alone with the same bodies, headers and confirmations, to NATS and RabbitMQ on this machine. What is
 * compared is processor time of this process, and time.
 */
import os from 'node:os';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, headers as newHeaders } from '@nats-io/transport-node';
import { Connection } from 'rabbitmq-client';
import { type BusMessage, busMessage, headers } from '../src/core/deliver/bus/cloud-event.ts';
import type { DeliverLimits } from '../src/core/deliver/destination.ts';
import { loadDestinationTypes } from '../src/core/deliver/destinations.ts';
import { chunksOf } from '../src/kit/chunks.ts';
import { startNats, startRabbit } from '../test/deliver/bus/servers.ts';
import { delivery, reservation, services } from '../test/deliver/support.ts';

const messages = 5_000;
const rounds = 7;
type Publish = (message: BusMessage) => Promise<unknown>;

export async function run(): Promise<void> {
  const nats = await startNats();
  const rabbit = await startRabbit();
  const client = await connect({ servers: `127.0.0.1:${nats.port}` });
  await (await jetstreamManager(client)).streams.add({ name: 'bench', subjects: ['bench.>'], duplicate_window: 120e9 });
  const stream = jetstream(client);
  const connection = new Connection(rabbit.url);
  await connection.queueDeclare({ queue: 'bench', durable: true });
  const channel = await connection.acquire();
  await channel.confirmSelect();
  const publishNats: Publish = (message) => {
    const named = newHeaders();
    for (const [name, value] of Object.entries(headers(message, 'ce-'))) named.set(name, value);
    return stream.publish(`bench.lisbon.reservation.${message.record}`, message.body, {
      msgID: message.id,
      headers: named,
    });
  };
  const properties = { routingKey: 'bench', durable: true, mandatory: true, contentType: 'application/json' };
  const publishRabbit: Publish = (message) =>
    channel.basicPublish(
      { ...properties, messageId: message.id, headers: headers(message, 'cloudEvents:') },
      Buffer.from(message.body),
    );
  try {
    await compare('nats', { servers: [`127.0.0.1:${nats.port}`], subject: 'bench' }, publishNats);
    await compare('rabbitmq', { url: rabbit.url, routing_key: 'bench' }, publishRabbit);
    console.log(`machine load ${os.loadavg()[0]?.toFixed(1)} on ${os.cpus().length} processors`);
  } finally {
    await channel.close();
    await Promise.all([client.close(), connection.close()]);
    await Promise.all([nats.stop(), rabbit.stop()]);
  }
}

async function compare(name: string, settings: object, publish: Publish): Promise<void> {
  const offered = services('/');
  const type = (await loadDestinationTypes()).get(name);
  const destination = type?.open(type.settings.parse(settings), offered);
  const limits = { extend: async () => true, signal: new AbortController().signal } as unknown as DeliverLimits;
  const ratios: { cpu: number; time: number; perSecond: number }[] = [];
  for (let round = 0; round <= rounds; round++) {
    const of = (by: string) => Array.from({ length: messages }, (_, i) => delivery(reservation(`${by}-${round}-${i}`)));
    const [ours, alone] = [of('a'), of('b').map(busMessage)];
    const byUs = await measured(async () => {
      for (const batch of chunksOf(ours, 500)) {
        const outcomes = await destination?.deliver(batch, limits);
        if (outcomes?.some(({ kind }) => kind !== 'delivered')) throw new Error(JSON.stringify(outcomes[0]));
      }
    });
    const byLibrary = await measured(async () => {
      for (const batch of chunksOf(alone, 500)) await Promise.all(batch.map(publish));
    });
    // The first one warms up.
    if (round === 0) continue;
    const perSecond = messages / (byUs.time / 1_000);
    ratios.push({ cpu: byUs.cpu / byLibrary.cpu, time: byUs.time / byLibrary.time, perSecond });
  }
  const median = (of: (one: (typeof ratios)[number]) => number) =>
    ratios.map(of).sort((a, b) => a - b)[rounds >> 1] ?? 0;
  const [cpu, time, perSecond] = [median((one) => one.cpu), median((one) => one.time), median((one) => one.perSecond)];
  console.log(
    `${name}: ${Math.round(perSecond)} messages a second, ${cpu.toFixed(2)} times the processor time and ${time.toFixed(2)} times the time of the library alone`,
  );
  await destination?.close();
  await offered.close();
}

async function measured(work: () => Promise<void>): Promise<{ cpu: number; time: number }> {
  const before = process.cpuUsage();
  const startedAt = performance.now();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { cpu: (user + system) / 1_000, time: performance.now() - startedAt };
}
