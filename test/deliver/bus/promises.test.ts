/** What every bus promises beyond the conformance suite: kills, restarts of the broker, order, many at once, sizes, attributes. */
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { after, type TestContext, test } from 'node:test';
import { skipWithout } from '../../../scripts/prepare-servers.ts';
import type { Outcome } from '../../../src/core/deliver/destination.ts';
import { until } from '../../support/process.ts';
import { delivery, openStore, reservation, services, takeIn } from '../support.ts';
import { sharedKafka, sharedNats, sharedRabbit } from './shared.ts';
import {
  type BusSubject,
  eventBridgeSubject,
  kafkaSubject,
  natsSubject,
  pubSubSubject,
  rabbitSubject,
  serviceBusSubject,
  snsSubject,
  sqsSubject,
} from './subjects.ts';

interface Bus {
  readonly name: string;
  make(): Promise<BusSubject>;
  readonly prefix: string;
  readonly type: string;
  /** It is asked over its own protocol. */
  readonly isReal?: true;
  /** Where the broker can be killed and keeps what it confirmed. */
  readonly server?: () => Promise<{ start(): Promise<void>; kill(): Promise<void> }>;
  /** A message of so many bytes is too large; otherwise of 1.1 MB. */
  readonly tooLarge?: number;
}

const ce = { prefix: 'ce-', type: 'ce-datacontenttype' };
const amqp = { prefix: 'cloudEvents:', type: 'cloudEvents:datacontenttype' };
const buses: Bus[] = [
  { name: 'sqs', make: () => sqsSubject(), ...ce, isReal: true },
  { name: 'sns', make: snsSubject, ...ce },
  { name: 'eventbridge', make: eventBridgeSubject, prefix: '', type: 'datacontenttype' },
  { name: 'pubsub', make: pubSubSubject, prefix: 'ce-', type: 'content-type', tooLarge: 11_000_000 },
  { name: 'servicebus', make: serviceBusSubject, ...amqp },
];
const ownType = { type: 'content-type', isReal: true } as const;
if (!skipWithout('kcat'))
  buses.push({ name: 'kafka', make: () => kafkaSubject(), server: sharedKafka, prefix: 'ce_', ...ownType });
if (!skipWithout('nats-server'))
  buses.push({ name: 'nats', make: () => natsSubject(), server: sharedNats, prefix: 'ce-', ...ownType });
if (!skipWithout('rabbitmq-server')) {
  const server = sharedRabbit;
  buses.push({ name: 'rabbitmq', make: () => rabbitSubject(), server, ...amqp, isReal: true, tooLarge: 17 << 20 });
}

const limits = () => ({
  batch: 10,
  deadlineMs: 10_000,
  leaseLeftMs: () => 60_000,
  extend: async () => true,
  signal: new AbortController().signal,
});

const lines = async (subject: BusSubject) =>
  (await subject.kept()).map(
    ({ body }) => JSON.parse(body) as { version: number; idempotency_key: string; data: { id: string } },
  );

/** Every version, the first arrivals of each record in order. */
async function assertComplete(subject: BusSubject, ids: readonly string[], versions: number): Promise<void> {
  const seen = await lines(subject);
  const first = seen.filter(
    ({ idempotency_key: key }, i) => seen.findIndex((one) => one.idempotency_key === key) === i,
  );
  const byRecord = Map.groupBy(first, ({ data }) => data.id);
  const expected = Array.from({ length: versions }, (_, i) => i + 1);
  for (const id of ids)
    assert.deepEqual(
      byRecord.get(id)?.map(({ version }) => version),
      expected,
      id,
    );
}

test('five versions of each record in order, over kills of the node and restarts of the brokers', async (t) => {
  const { pool, db, close } = await openStore();
  const subjects = await Promise.all(buses.map(async (bus) => ({ ...bus, subject: await bus.make() })));
  const servers = await Promise.all(buses.flatMap(({ server }) => server?.() ?? []));
  const nodes: ChildProcess[] = [];
  t.after(async () => {
    for (const node of nodes) node.kill('SIGKILL');
    await Promise.all([close(), ...subjects.map(({ subject }) => subject.close())]);
  });
  const to = subjects.map(({ name, subject }) => ({ name, settings: subject.settings }));
  const start = async () => {
    const NODE_SETTINGS = JSON.stringify({ connection: db.connection, to });
    const node = fork(new URL('./worker.ts', import.meta.url), { env: { ...process.env, NODE_SETTINGS } });
    nodes.push(node);
    await once(node, 'message');
    return node;
  };
  const ids = Array.from({ length: 24 }, (_, i) => `R-${i}`);
  const records = (amount: number) => ids.map((id) => reservation(id, { total_amount: String(amount) }));
  const names = to.map(({ name }) => name);
  const change = (amount: number) => takeIn(pool, records(amount), names);
  const left = async () =>
    (await pool.query('select destination from outbox where due_at is not null')).rows.map((row) => row.destination);
  await change(1);
  await change(2);
  const first = await start();
  await change(3);
  await until('the first node delivers', async () => (await left()).length < ids.length * names.length);
  first.kill('SIGKILL');
  await Promise.all(servers.map((server) => server.kill()));
  await change(4);
  await start();
  await Promise.all(servers.map((server) => server.start()));
  await change(5);
  await until(
    'everything is delivered',
    async () => {
      await pool.query(`update outbox set due_at = now() where due_at > now() and not leased`);
      await pool.query(`update remotes set probe_at = now() where state <> 'closed'`);
      return (await left()).length === 0;
    },
    60_000,
  );
  for (const { subject } of subjects) await assertComplete(subject, ids, 5);
  assert.deepEqual((await pool.query('select destination, message from dead_letters')).rows, []);
});

for (const bus of buses) {
  const { name } = bus;

  async function setUp(t: TestContext) {
    const subject = await bus.make();
    const destination = await subject.open();
    t.after(() => Promise.all([destination.close(), subject.close()]));
    return { subject, destination };
  }

  test(`${name}: each message is a CloudEvent, and its key contains the record`, async (t) => {
    const { subject, destination } = await setUp(t);
    const odd = 'R 1042/ä.*>';
    const events = [
      delivery(reservation('R-1')),
      delivery(reservation(odd), { version: 2, epoch: 2 }),
      delivery({ id: 'R-1' } as never, { event: 'erased', version: 3, idempotency_key: 'ib_erased_3' }),
    ];
    assert.deepEqual(await destination.deliver(events, limits()), Array(3).fill({ kind: 'delivered' }));
    const kept = await subject.kept();
    const named = (attributes: Readonly<Record<string, string>>) => (attribute: string) => {
      const value = attributes[bus.prefix + attribute];
      return bus.prefix === 'ce-' && name !== 'pubsub' && value ? decodeURIComponent(value) : value;
    };
    assert.equal(kept.length, 3);
    const plain = kept.find(({ body }) => body.includes('"id":"R-1"') && body.includes('"version":1'));
    const of = named(plain?.attributes ?? {});
    const expected = {
      specversion: '1.0',
      id: 'ib_R-1_1xxxxxxxxxxxxxxxx',
      source: '/innbound/lisbon',
      type: 'com.innbound.reservation.created.v1',
      subject: 'R-1',
      time: '2026-11-15T12:00:00.000Z',
      sequence: '1',
      partitionkey: 'lisbon/reservation/R-1',
      brandid: 'LIS01',
    };
    assert.deepEqual(Object.fromEntries(Object.keys(expected).map((key) => [key, of(key)])), expected);
    assert.equal(plain?.attributes[bus.type], 'application/json');
    if (name !== 'rabbitmq') assert.match(plain?.order ?? '', /R-1$/);
    const other = named(kept.find(({ body }) => body.includes('1042'))?.attributes ?? {});
    assert.deepEqual([other('subject'), other('sequence')], [odd, '2']);
    const erased = kept.find(({ body }) => body.includes('"erased"'));
    assert.equal(named(erased?.attributes ?? {})('id'), 'ib_erased_3');
    assert.doesNotMatch(erased?.body ?? '', /guests\.example/);
  });

  test(`${name}: a message over the limit is a dead letter alone, with the limit in the sentence`, async (t) => {
    const { destination } = await setUp(t);
    const remarks = 'x'.repeat(bus.tooLarge ?? 1_100_000);
    const records = [reservation('small'), reservation('large', { extra: { remarks } }), reservation('other')];
    const outcomes = await destination.deliver(
      records.map((record) => delivery(record)),
      limits(),
    );
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['delivered', 'dead', 'delivered'],
    );
    const { code, message } = outcomes[1] as Outcome & { kind: 'dead' };
    assert.equal(code, 'deliver.too_large');
    assert.match(message, /^The message has \d{7,8} bytes; .* takes at most \d{5,8}\.$/);
  });

  test(`${name}: prepare says what is there and which rights it takes`, async (t) => {
    const { subject } = await setUp(t);
    const offered = services('/');
    t.after(() => offered.close());
    const settings = subject.type.settings.parse(subject.settings);
    const prepared = await subject.type.prepare?.(settings, offered, { dryRun: true });
    assert.ok(
      prepared?.steps.every(({ result }) => result === 'exists' || result === 'unknown'),
      JSON.stringify(prepared),
    );
    assert.ok((prepared?.grants ?? []).length > 0);
    const gone = { topic: 'missing', subject: 'missing', routing_key: 'missing', bus: 'missing' };
    const names = Object.entries(gone).filter(([key]) => Object.hasOwn(subject.settings, key));
    const missing = { ...subject.settings, ...Object.fromEntries(names) };
    if (name === 'sqs')
      Object.assign(missing, { queue_url: String(subject.settings.queue_url).replace(/changes/, 'missing') });
    if (name === 'sns')
      Object.assign(missing, { topic_arn: String(subject.settings.topic_arn).replace(/changes/, 'missing') });
    if (name === 'servicebus') return;
    const failed = await subject.type.prepare?.(subject.type.settings.parse(missing), offered, { dryRun: true });
    assert.equal(failed?.steps.at(-1)?.result, 'failed', JSON.stringify(failed));
    const destination = subject.type.open(subject.type.settings.parse(missing), offered);
    t.after(() => destination.close());
    const [outcome] = await destination.deliver([delivery(reservation('r'))], limits());
    assert.deepEqual(
      [outcome?.kind, (outcome as Outcome & { code: string }).code],
      ['retry', 'deliver.bus_mismatch'],
      JSON.stringify(outcome),
    );
  });

  // Where a call takes 10 messages (sqs), or the broker 250 a second (what stands for Kafka), fewer.
  const many = name === 'sqs' || name === 'kafka' ? 1_000 : 10_000;
  test(`${name}: ${many} messages at once all arrive`, {
    skip: !bus.isReal && 'a stub says nothing about it',
  }, async (t) => {
    const { subject, destination } = await setUp(t);
    const ids = Array.from({ length: many }, (_, i) => `R-${i}`);
    const outcomes = await destination.deliver(
      ids.map((id) => delivery(reservation(id))),
      limits(),
    );
    assert.deepEqual(new Set(outcomes.map(({ kind }) => kind)), new Set(['delivered']));
    assert.equal(new Set((await lines(subject)).map(({ data }) => data.id)).size, ids.length);
  });
}

after(async () => {
  if (!skipWithout('kcat')) assert.deepEqual((await sharedKafka()).wrong, [], 'the numbers of the producers');
});
