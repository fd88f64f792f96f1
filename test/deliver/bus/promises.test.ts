/** What every bus promises beyond the conformance suite: kills, restarts of the broker, order, many at once, sizes, attributes. */
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { after, type TestContext, test } from 'node:test';
import { skipWithout } from '../../../scripts/prepare-servers.ts';
import { drainOnce } from '../../../src/deliver/deliveries.ts';
import type { Outcome } from '../../../src/deliver/destination.ts';
import { until } from '../../support/process.ts';
import { config, delivery, lane, openStore, ports, reservation, services, takeIn } from '../support.ts';
import { startKafka, startNats, startRabbit } from './servers.ts';
import {
  type BusSubject,
  eventBridgeSubject,
  kafkaSubject,
  kafkaTopics,
  natsSubject,
  pubSubSubject,
  rabbitSubject,
  serviceBusSubject,
  snsSubject,
  sqsSubject,
  startAws,
} from './subjects.ts';

interface Bus {
  readonly name: string;
  make(): Promise<BusSubject>;
  /** Where the broker can be killed and keeps what it confirmed. */
  readonly server?: { start(): Promise<void>; kill(): Promise<void> };
  readonly prefix: string;
  readonly type: string;
  /** It is asked over its own protocol. */
  readonly isReal?: true;
}

const aws = await startAws();
after(() => aws.stop());
const buses: Bus[] = [
  { name: 'sqs', make: async () => sqsSubject(aws), prefix: 'ce-', type: 'ce-datacontenttype', isReal: true },
  { name: 'sns', make: async () => snsSubject(aws), prefix: 'ce-', type: 'ce-datacontenttype' },
  { name: 'eventbridge', make: eventBridgeSubject, prefix: '', type: 'datacontenttype' },
  { name: 'pubsub', make: pubSubSubject, prefix: 'ce-', type: 'content-type' },
  { name: 'servicebus', make: serviceBusSubject, prefix: 'cloudEvents:', type: 'cloudEvents:datacontenttype' },
];
if (!skipWithout('kcat')) {
  const server = await startKafka(kafkaTopics);
  after(() => server.stop());
  buses.push({
    name: 'kafka',
    make: async () => kafkaSubject(server),
    prefix: 'ce_',
    type: 'content-type',
    isReal: true,
  });
}
if (!skipWithout('nats-server')) {
  const server = await startNats('max_payload: 65536\n');
  after(() => server.stop());
  buses.push({
    name: 'nats',
    make: () => natsSubject(server),
    server,
    prefix: 'ce-',
    type: 'content-type',
    isReal: true,
  });
}
if (!skipWithout('rabbitmq-server')) {
  const server = await startRabbit();
  after(() => server.stop());
  const names = { prefix: 'cloudEvents:', type: 'cloudEvents:datacontenttype' };
  buses.push({ name: 'rabbitmq', make: () => rabbitSubject(server), server, ...names, isReal: true });
}

async function setUp(t: TestContext, bus: Bus) {
  const [store, subject] = await Promise.all([openStore(), bus.make()]);
  t.after(() => Promise.all([store.close(), subject.close()]));
  return { ...store, subject };
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

for (const bus of buses) {
  const { name } = bus;

  test(`${name}: five versions of each record in order, over kills${bus.server ? ' and restarts of the broker' : ''}`, async (t) => {
    const { pool, db, subject } = await setUp(t, bus);
    const ids = Array.from({ length: 40 }, (_, i) => `R-${i}`);
    const nodes: ChildProcess[] = [];
    t.after(() => nodes.map((node) => node.kill('SIGKILL')));
    const start = async () => {
      const NODE_SETTINGS = JSON.stringify({ connection: db.connection, type: name, settings: subject.settings });
      const node = fork(new URL('./worker.ts', import.meta.url), { env: { ...process.env, NODE_SETTINGS } });
      nodes.push(node);
      await once(node, 'message');
      return node;
    };
    const left = async () =>
      Number((await pool.query('select count(*) as n from outbox where due_at is not null')).rows[0].n);
    const change = (amount: number) =>
      takeIn(
        pool,
        ids.map((id) => reservation(id, { total_amount: String(amount) })),
        ['it'],
      );
    await change(1);
    await change(2);
    const first = await start();
    await change(3);
    await until('the first node delivers', async () => (await left()) < ids.length);
    first.kill('SIGKILL');
    await bus.server?.kill();
    await change(4);
    await start();
    await bus.server?.start();
    await change(5);
    await until(
      'everything is delivered',
      async () => {
        await pool.query(`update outbox set due_at = now() where due_at > now() and not leased`);
        await pool.query(`update remotes set probe_at = now() where state <> 'closed'`);
        return (await left()) === 0;
      },
      60_000,
    );
    await assertComplete(subject, ids, 5);
    const { rows } = await pool.query('select count(*)::int as dead from dead_letters');
    assert.deepEqual(rows, [{ dead: 0 }]);
  });

  test(`${name}: each message is a CloudEvent, and its key contains the record`, async (t) => {
    const { subject } = await setUp(t, bus);
    const destination = await subject.open();
    t.after(() => destination.close());
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
    const { pool, subject } = await setUp(t, bus);
    const remarks = 'x'.repeat(name === 'rabbitmq' ? 17 << 20 : 11_000_000);
    const one = lane(config('it', { batch: 10 }));
    await takeIn(
      pool,
      [reservation('small'), reservation('large', { extra: { remarks } }), reservation('other')],
      ['it'],
    );
    const counts = await drainOnce(ports(pool, [one], { it: await subject.open() }));
    assert.deepEqual(counts, { delivered: 2, skipped: 0, retry: 0, dead: 1 });
    const { rows } = await pool.query('select id, code, message from dead_letters');
    assert.deepEqual([rows[0].id, rows[0].code], ['large', 'deliver.too_large']);
    assert.match(rows[0].message, /^The message has \d{8} bytes; .* takes at most \d{5,8}\.$/);
  });

  test(`${name}: prepare says what is there and which rights it takes`, async (t) => {
    const { subject } = await setUp(t, bus);
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

  // The broker that stands for Kafka takes 250 a second.
  const many = name === 'kafka' ? 1_000 : 10_000;
  test(`${name}: ${many} changes at once all arrive`, {
    skip: !bus.isReal && 'a stub says nothing about it',
  }, async (t) => {
    const { pool, subject } = await setUp(t, bus);
    const ids = Array.from({ length: many }, (_, i) => `R-${i}`);
    await takeIn(
      pool,
      ids.map((id) => reservation(id)),
      ['it'],
    );
    const one = lane(config('it', { batch: subject.type.batch({}).standard }));
    const { delivered } = await drainOnce(ports(pool, [one], { it: await subject.open() }));
    assert.equal(delivered, many);
    assert.equal(new Set((await lines(subject)).map(({ data }) => data.id)).size, many);
  });
}
