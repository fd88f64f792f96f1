/** Connections that are not HTTP: no socket to a private address, and logins with TLS, certificates and passwords. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { skipWithout } from '../../../scripts/prepare-servers.ts';
import { loadDestinationTypes } from '../../../src/deliver/destinations.ts';
import { delivery, reservation, services, temporaryFolder } from '../support.ts';
import { startNats } from './servers.ts';
import { natsSubject } from './subjects.ts';

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

test('nats: mutual TLS and a password; a wrong one and no certificate are failures of the login', {
  skip: skipWithout('nats-server'),
}, async (t) => {
  const { folder, remove } = await temporaryFolder();
  t.after(remove);
  const openssl = (...args: string[]) => {
    const made = spawnSync('openssl', args, { cwd: folder, encoding: 'utf8' });
    assert.equal(made.status, 0, made.stderr);
  };
  writeFileSync(path.join(folder, 'names'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  const key = ['-newkey', 'rsa:2048', '-nodes'];
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=test authority', '-days', '2');
  for (const name of ['server', 'client']) {
    openssl('req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
    openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-out',
      `${name}.pem`,
      '-days',
      '2',
      '-extfile',
      'names',
    );
  }
  const file = (name: string) => path.join(folder, name);
  const server = await startNats(
    `tls { cert_file: "${file('server.pem')}", key_file: "${file('server.key')}", ca_file: "${file('ca.pem')}", verify: true }
     authorization { user: innbound, password: "p@ss" }\n`,
  );
  t.after(() => server.stop());
  const read = (name: string) => readFileSync(file(name), 'utf8');
  const tls = { ca: read('ca.pem'), cert: read('client.pem'), key: read('client.key') };
  const credentials = { user: 'innbound', password: 'p@ss' };
  const subject = await natsSubject(server, { tls, credentials }, {}, { tls, user: 'innbound', pass: 'p@ss' });
  t.after(() => subject.close());
  assert.deepEqual(await outcomeOf('nats', subject.settings, true), { kind: 'delivered' });
  assert.equal((await subject.kept()).length, 1);
  const wrong = await outcomeOf(
    'nats',
    { ...subject.settings, credentials: { user: 'innbound', password: 'no' } },
    true,
  );
  assert.ok(wrong?.kind === 'retry' && wrong.code === 'deliver.auth_failed', JSON.stringify(wrong));
  const bare = await outcomeOf('nats', { ...subject.settings, tls: { ca: tls.ca } }, true);
  assert.equal(bare?.kind, 'retry', JSON.stringify(bare));
});
