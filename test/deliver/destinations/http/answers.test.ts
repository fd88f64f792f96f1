import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { DeliverLimits, Outcome } from '../../../../src/core/deliver/destination.ts';
import { foundValues, itemOutcomes } from '../../../../src/core/deliver/destinations/http/answer.ts';
import { destinationType as http } from '../../../../src/core/deliver/destinations/http/destination.ts';
import { destinationType as webhook } from '../../../../src/core/deliver/destinations/webhook/destination.ts';
import { delivery, reservation, services } from '../../support.ts';

/** Answers that no correct API gives, and answers to batches: the outcome of each item. */

const limits = (batch: number, deadlineMs = 30_000): DeliverLimits => ({
  batch,
  deadlineMs,
  leaseLeftMs: () => 60_000,
  extend: async () => true,
  signal: new AbortController().signal,
});
const three = ['a', 'b', 'c'].map((id) => delivery(reservation(id)));

async function listening(t: TestContext, answer: RequestListener) {
  const server = createServer((request, response) => {
    request.resume().once('end', () => answer(request, response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const offered = services('/');
  t.after(async () => {
    await offered.close();
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`, offered };
}

async function setUp(t: TestContext, answer: RequestListener) {
  const { url, offered } = await listening(t, answer);
  return {
    one: async (deadlineMs?: number) =>
      (await http.open(http.settings.parse({ url }), offered).deliver(three.slice(0, 1), limits(1, deadlineMs)))[0],
    batch: (answerRule: object) =>
      http
        .open(http.settings.parse({ url, unique: '{data.id}', answer: answerRule }), offered)
        .deliver(three, limits(10)),
    hook: async () => {
      const settings = webhook.settings.parse({ url, secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` });
      return (await webhook.open(settings, offered).deliver(three.slice(0, 1), limits(1)))[0];
    },
  };
}

const says =
  (status: number, body: unknown): RequestListener =>
  (_request, response) =>
    void response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));

const brief = (outcomes: readonly Outcome[]) =>
  outcomes.map((outcome) => [
    outcome.kind,
    'code' in outcome ? outcome.code : undefined,
    'whole' in outcome ? outcome.whole : undefined,
  ]);

const taken = ['delivered', undefined, undefined];
const dead = ['dead', 'deliver.refused', undefined];
const unclear = ['retry', 'deliver.answer_unreadable', true];
const byPosition = { results: 'results', ok: 'ok', code: 'code', retry: ['LATER'] };
const byKey = { errors: 'errors', keys: ['ids', 'id'], code: 'code' };

test('results by position: one item refused, one retried', async (t) => {
  const results = [{ ok: true }, { ok: false, code: 'NO' }, { ok: false, code: 'LATER' }];
  const { batch } = await setUp(t, says(207, { results }));
  const outcomes = await batch(byPosition);
  assert.deepEqual(brief(outcomes), [taken, dead, ['retry', 'deliver.server_error', undefined]]);
});

for (const [what, body] of [
  ['too short', { results: [{ ok: true }, { ok: true }] }],
  ['too long', { results: Array(4).fill({ ok: true }) }],
  ['without its list', {}],
  ['no JSON', '<html>busy</html>'],
] as const) {
  test(`an answer to a batch that is ${what} says nothing of any item; its beginning is kept`, async (t) => {
    const { batch } = await setUp(t, says(200, body));
    const outcomes = await batch(byPosition);
    assert.deepEqual(brief(outcomes), [unclear, unclear, unclear]);
    const [first] = outcomes;
    assert.equal(first?.answer, typeof body === 'string' ? body : JSON.stringify(body));
  });
}

test('errors by key, in any order and case; an error that names no item is about the whole batch', async (t) => {
  const errors = [{ ids: ['c'] }, { id: 'A' }];
  const { batch } = await setUp(t, says(207, { errors }));
  assert.deepEqual(brief(await batch(byKey)), [dead, taken, dead]);
  const stranger = await setUp(t, says(207, { errors: [{ id: 'zz' }, { id: 'b' }] }));
  assert.deepEqual(brief(await stranger.batch(byKey)), [
    ['dead', 'deliver.refused', true],
    dead,
    ['dead', 'deliver.refused', true],
  ]);
});

test('an answer that names many keys is compared in one pass', () => {
  let reads = 0;
  const plain = Array.from({ length: 1_000 }, (_, i) => `key-${i}`);
  const keys = new Proxy(plain, { get: (target, name) => Reflect.get(target, name, reads++) });
  const strangers = Array.from({ length: 5_000 }, (_, i) => `other-${i}`);
  const bytes = Buffer.from(
    JSON.stringify({ errors: [{ ids: [...strangers, 'KEY-7'] }], found: strangers.map((id) => ({ id })) }),
  );
  const words = () => '';
  const rule = http.settings.parse({ url: 'https://crm.example', unique: '{data.id}', answer: byKey }).answer;
  assert.ok(rule !== undefined);
  const outcomes = itemOutcomes(rule, bytes, keys, { status: 207, durationMs: 1 }, words);
  assert.deepEqual(
    outcomes.flatMap(({ kind }, i) => (kind === 'dead' ? [i] : [])),
    [7],
  );
  const values = foundValues({ list: 'found', key: 'id', as: { id: 'id' } }, bytes, keys);
  assert.equal(values.filter(({ id }) => id !== undefined).length, 0);
  assert.ok(reads < 10 * plain.length, `${reads} reads`);
});

test('a 200 that breaks off is retried', async (t) => {
  const { one, hook } = await setUp(t, (request, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{"a":', () => request.socket.destroy());
  });
  for (const outcome of [await one(), await hook()]) {
    assert.deepEqual(brief(outcome ? [outcome] : []), [['retry', 'deliver.unreachable', undefined]]);
  }
});

test('an endless answer is cut off by size or deadline', async (t) => {
  const block = Buffer.alloc(1 << 20, 'x');
  const endless = await setUp(t, (_request, response) => {
    const go = (): void => {
      while (!response.destroyed && response.write(block));
    };
    response.on('drain', go).on('error', () => {});
    go();
  });
  for (const outcome of [await endless.one(), await endless.hook()]) {
    assert.deepEqual(brief(outcome ? [outcome] : []), [['retry', 'deliver.unreachable', undefined]]);
  }
  const slow = await setUp(t, (_request, response) => {
    const drip = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(drip));
  });
  const outcome = await slow.one(300);
  assert.deepEqual(brief(outcome ? [outcome] : []), [['retry', 'deliver.timeout', undefined]]);
});

test('credentials only go to the configured address: redirects are not followed', async (t) => {
  let followed = 0;
  const elsewhere = createServer((_request, response) => {
    followed += 1;
    response.end();
  });
  elsewhere.listen(0, '127.0.0.1');
  await once(elsewhere, 'listening');
  t.after(() => void elsewhere.close());
  const location = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
  for (const status of [301, 302, 303, 307, 308]) {
    const { one, hook } = await setUp(t, (_request, response) => void response.writeHead(status, { location }).end());
    for (const outcome of [await one(), await hook()]) assert.deepEqual(brief(outcome ? [outcome] : []), [dead]);
  }
  assert.equal(followed, 0);
});

test('after two requests in a row without an answer, the rest of the call is not sent', async (t) => {
  let asked = 0;
  const { url, offered } = await listening(t, () => {
    asked += 1;
  });
  const settings = http.settings.parse({ url, each: 'guest', body: { mail: '{guest.email}' } });
  const outcomes = await http.open(settings, offered).deliver(three, limits(1, 100));
  assert.deepEqual(brief(outcomes), Array(3).fill(['retry', 'deliver.timeout', undefined]));
  assert.equal(asked, 2);
});

test('each request of a call has the whole timeout', async (t) => {
  const { url, offered } = await listening(t, (_request, response) => void setTimeout(() => response.end('{}'), 1_000));
  const settings = http.settings.parse({ url, each: 'guest', body: { mail: '{guest.email}' } });
  const outcomes = await http.open(settings, offered).deliver(three, limits(1, 2_900));
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    Array(3).fill('delivered'),
  );
});
