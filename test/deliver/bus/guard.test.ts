/** Connections that are not HTTP: no socket to a private address, and logins with TLS, certificates and passwords. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { skipWithout } from '../../../scripts/prepare-servers.ts';
import { loadDestinationTypes } from '../../../src/core/deliver/destinations.ts';
import { delivery, reservation, services } from '../support.ts';
import { startNats } from './servers.ts';
import { sharedKafka, sharedRabbit } from './shared.ts';
import { type BusSubject, kafkaSubject, natsSubject, rabbitSubject } from './subjects.ts';

const types = await loadDestinationTypes();
const limits = {
  batch: 1,
  deadlineMs: 10_000,
  leaseLeftMs: () => 60_000,
  extend: async () => true,
  signal: new AbortController().signal,
};

async function outcomeOf(type: string, settings: unknown, allowPrivate: boolean) {
  const offered = services('/', allowPrivate);
  const found = types.get(type);
  const destination = found?.open(found.settings.parse(settings), offered);
  const [outcome] = (await destination?.deliver([delivery(reservation('r'))], limits)) ?? [];
  await destination?.close();
  await offered.close();
  return outcome;
}

test('a name or a literal that is private gets no connection, with and without TLS', async (t) => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as { port: number };
  for (const host of ['localhost', '127.0.0.1', '[::ffff:127.0.0.1]', '127.1']) {
    const at = `${host}:${port}`;
    for (const [type, settings] of [
      ['kafka', { brokers: [at], topic: 't', tls: true }],
      ['kafka', { brokers: [at], topic: 't', tls: false }],
      ['nats', { servers: [`tls://${at}`], subject: 's' }],
      ['nats', { servers: [at], subject: 's', tls: false }],
      ['rabbitmq', { url: `amqps://${at}`, routing_key: 'q' }],
      ['rabbitmq', { url: `amqp://${at}`, routing_key: 'q' }],
    ] as const) {
      const outcome = await outcomeOf(type, settings, false);
      assert.ok(
        outcome?.kind === 'dead' && outcome.code === 'deliver.blocked_address',
        `${type} ${at}: ${JSON.stringify(outcome)}`,
      );
    }
  }
  assert.equal(connections, 0);
  const allowed = await outcomeOf('rabbitmq', { url: `amqp://127.0.0.1:${port}`, routing_key: 'q' }, true);
  assert.ok(allowed?.kind === 'retry' && allowed.code === 'deliver.unreachable', JSON.stringify(allowed));
  assert.equal(connections, 1, 'the server counts');
});

/** Delivered with the right login, refused with a wrong one, and no connection without a certificate. */
async function assertLogins(
  type: string,
  subject: BusSubject,
  wrong: object,
  bare: object,
  t: TestContext,
): Promise<void> {
  t.after(() => subject.close());
  const outcome = (change: object) => outcomeOf(type, { ...subject.settings, ...change }, true);
  assert.deepEqual(await outcome({}), { kind: 'delivered' });
  assert.equal((await subject.kept()).length, 1);
  const refused = await outcome(wrong);
  assert.ok(refused?.kind === 'retry' && refused.code === 'deliver.auth_failed', JSON.stringify(refused));
  assert.equal((await outcome(bare))?.kind, 'retry');
  assert.equal((await subject.kept()).length, 1);
}

for (const [login, right, wrong, reader] of [
  [
    'user: innbound, password: "p@ss"',
    { user: 'innbound', password: 'p@ss' },
    { user: 'innbound', password: 'no' },
    { user: 'innbound', pass: 'p@ss' },
  ],
  ['token: "t0ken"', { token: 't0ken' }, { token: 'other' }, { token: 't0ken' }],
] as const) {
  test(`nats: mutual TLS, and ${login.split(':')[0]}`, { skip: skipWithout('nats-server') }, async (t) => {
    const server = await startNats(login);
    t.after(() => server.stop());
    const subject = await natsSubject(server, { credentials: right }, reader);
    await assertLogins('nats', subject, { credentials: wrong }, { tls: { ca: server.tls?.ca } }, t);
  });
}

test('rabbitmq: mutual TLS, and a password', { skip: skipWithout('rabbitmq-server') }, async (t) => {
  const { tls, secureUrl } = await sharedRabbit();
  const subject = await rabbitSubject({ url: secureUrl('guest'), tls });
  await assertLogins('rabbitmq', subject, { url: secureUrl('no') }, { tls: { ca: tls.ca } }, t);
});

// The broker that stands for Kafka has no logins: a front of the tests has the server's side of them, and of TLS.
for (const mechanism of ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const) {
  test(`kafka: mutual TLS, and ${mechanism}`, { skip: skipWithout('kcat') }, async (t) => {
    const sasl = { mechanism, username: 'innbound', password: 'p@ss' };
    const { broker, tls, wrong, stop } = await (await sharedKafka()).secured(sasl);
    t.after(stop);
    const subject = await kafkaSubject({ brokers: [broker], tls, sasl });
    await assertLogins('kafka', subject, { sasl: { ...sasl, password: 'no' } }, { tls: { ca: tls.ca } }, t);
    assert.deepEqual(wrong, []);
  });
}
