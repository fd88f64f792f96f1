import assert from 'node:assert/strict';
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { deliverPorts } from '../../src/composition/deliver.ts';
import { startDeliveries } from '../../src/core/deliver/deliveries.ts';
import type { DeliverLimits, Destination, Outcome } from '../../src/core/deliver/destination.ts';
import { type Renewal, renewingDestination } from '../../src/core/deliver/renewing.ts';
import { apiNode, reservation as taken } from '../api/node.ts';
import { until } from '../support/process.ts';
import { listen } from './http-server.ts';
import { delivery, reservation } from './support.ts';

const limits: DeliverLimits = {
  batch: 10,
  deadlineMs: 10_000,
  leaseLeftMs: () => 60_000,
  extend: async () => true,
  signal: new AbortController().signal,
};

test('a running service uses a replaced secret or file without an apply, and refuses nothing meanwhile', async (t) => {
  const valid = { crm: 'Bearer token-1', erp: 'token-1' };
  const server = await listen(({ path: at, headers }) => {
    const isValid = at === '/crm' ? headers.authorization === valid.crm : headers['x-key'] === valid.erp;
    return { status: isValid ? 200 : 401 };
  });
  const node = await apiNode('', {
    'destinations/lake.yaml': `destination: lake
type: http
url: ${server.url}/crm
auth: { type: bearer, token: "\${secret:crm-token}" }
`,
    'destinations/erp.yaml': `destination: erp
type: http
url: ${server.url}/erp
auth: { type: api_key, header: X-Key, key: "\${file:erp-key}" }
`,
    'integrations/other.yaml': `integration: other
connector: hotel
brand_id: OPO02
timezone: Europe/Lisbon
country: PT
push: { enabled: true }
deliver: [erp]
`,
  });
  const file = path.join(node.runtime.workspaceDir, 'erp-key');
  const writeKey = async (value: string) => {
    await writeFile(file, value);
    await chmod(file, 0o600);
  };
  const admin = await node.token('admin');
  const setToken = (value: string) => node.call('PUT', '/secrets/crm-token', admin, { value });
  await setToken('token-1');
  await writeKey('token-1');
  const loop = startDeliveries(await deliverPorts(node.runtime));
  t.after(async () => {
    await loop.stop();
    await node.stop();
    await server.close();
  });
  const settled = async (id: string) => {
    await node.take('grand', taken(id));
    await node.take('other', taken(id));
    const states = async () =>
      (await node.runtime.pool.query(`select destination, delivered_version, held_by from outbox where id = $1`, [id]))
        .rows;
    await until('both are settled', async () =>
      (await states()).every(({ delivered_version, held_by }) => delivered_version > 0 || held_by !== null),
    );
    return (await states()).map(({ destination, held_by }) => [destination, held_by === null]).sort();
  };
  const both = [
    ['erp', true],
    ['lake', true],
  ];
  assert.deepEqual(await settled('R1'), both);
  Object.assign(valid, { crm: 'Bearer token-2', erp: 'token-2' });
  await setToken('token-2');
  await writeKey('token-2');
  assert.deepEqual(await settled('R2'), both);
});

test('a token that the vendor ends early is renewed once for all calls that used it', async (t) => {
  let issued = 0;
  let valid = '';
  /** Calls wait for each other, so that all of them have used the same token. */
  let gate: { wanted: number; open: () => void; opened: Promise<void> } | undefined;
  const server = await listen(async ({ path: at, headers }) => {
    if (at === '/token') {
      valid = `Bearer token-${++issued}`;
      return { status: 200, body: { access_token: `token-${issued}`, token_type: 'bearer', expires_in: 3600 } };
    }
    const isValid = headers.authorization === valid;
    if (gate && --gate.wanted === 0) gate.open();
    await gate?.opened;
    return { status: isValid ? 200 : 401 };
  });
  const node = await apiNode('', {
    'destinations/lake.yaml': `destination: lake
type: http
url: ${server.url}/crm
auth: { type: oauth2, grant: client_credentials, token_url: "${server.url}/token", client_id: us, client_secret: letmein }
`,
  });
  t.after(async () => {
    await node.stop();
    await server.close();
  });
  const ports = await deliverPorts(node.runtime);
  const config = ports.lanes().destinations.find(({ name }) => name === 'lake');
  assert.ok(config);
  const destination = await ports.open(config);
  const deliver = (id: string) => destination.deliver([delivery(reservation(id))], { ...limits, batch: 1 });
  assert.deepEqual(
    (await deliver('r')).map(({ kind }) => kind),
    ['delivered'],
  );
  valid = 'ended by the vendor';
  const { promise, resolve } = Promise.withResolvers<void>();
  gate = { wanted: 4, open: resolve, opened: promise };
  const outcomes = await Promise.all(['a', 'b', 'c', 'd'].map(deliver));
  assert.deepEqual(
    outcomes.flat().map(({ kind }) => kind),
    ['delivered', 'delivered', 'delivered', 'delivered'],
  );
  assert.equal(issued, 2);
  await destination.close();
});

/** A destination per value of the secret, and a clock that stands still. */
function setUp(answer: (secret: string) => Outcome = () => ({ kind: 'delivered' })) {
  const clock = { nowMs: 0, uptimeMs: () => clock.nowMs };
  const state = { secret: 'one' as string | undefined, isDown: false };
  const used: string[] = [];
  const closed: string[] = [];
  const held: { until?: Promise<void> } = {};
  const renewal: Renewal<string> = {
    read: async () => {
      if (state.isDown) throw new Error('the store does not answer');
      if (state.secret === undefined) return { kind: 'missing', message: 'The destination test needs a secret.' };
      return { kind: 'ok', settings: state.secret };
    },
    open: (secret): Destination => ({
      deliver: async (batch) => {
        used.push(secret);
        await held.until;
        return batch.map(() => answer(secret));
      },
      close: async () => {
        closed.push(secret);
      },
    }),
    clock,
  };
  const deliver = (destination: Destination) => destination.deliver([delivery(reservation('r'))], limits);
  return { clock, state, used, closed, held, deliver, open: () => renewingDestination(renewal, 'one') };
}

test('a replaced secret is used soon, also if the old one is still accepted; running calls end first', async () => {
  const { clock, state, used, closed, held, deliver, open } = setUp();
  const destination = open();
  await deliver(destination);
  state.secret = 'two';
  await deliver(destination);
  const { promise, resolve } = Promise.withResolvers<void>();
  held.until = promise;
  const running = deliver(destination);
  clock.nowMs += 10_000;
  const next = deliver(destination);
  await until('the second call', async () => used.length === 4);
  assert.deepEqual(used, ['one', 'one', 'one', 'two']);
  assert.deepEqual(closed, []);
  resolve();
  await Promise.all([running, next]);
  assert.deepEqual(closed, ['one']);
  await destination.close();
  assert.deepEqual(closed, ['one', 'two']);
});

test('credentials that were refused and replaced meanwhile use no try and make no dead letter', async () => {
  const refused: Outcome = { kind: 'dead', code: 'deliver.auth_failed', message: 'no', status: 401 };
  const { state, deliver, open } = setUp((secret) => (secret === 'one' ? refused : { kind: 'delivered' }));
  const destination = open();
  assert.deepEqual(await deliver(destination), [refused]);
  state.secret = 'two';
  const [again] = await deliver(destination);
  assert.ok(again?.kind === 'retry' && again.free && again.code === 'deliver.auth_failed', JSON.stringify(again));
  assert.deepEqual(await deliver(destination), [{ kind: 'delivered' }]);
});

test('a secret that was deleted stops deliveries without using tries; a store that is away does not', async () => {
  const { clock, state, used, deliver, open } = setUp();
  const destination = open();
  state.isDown = true;
  clock.nowMs += 10_000;
  assert.deepEqual(await deliver(destination), [{ kind: 'delivered' }]);
  state.isDown = false;
  state.secret = undefined;
  clock.nowMs += 10_000;
  const [outcome] = await deliver(destination);
  assert.ok(outcome?.kind === 'retry' && outcome.code === 'deliver.auth_failed' && outcome.status === undefined);
  assert.match(outcome.message, /needs a secret/);
  assert.equal(used.length, 1);
  state.secret = 'one';
  assert.deepEqual(await deliver(destination), [{ kind: 'delivered' }]);
});
