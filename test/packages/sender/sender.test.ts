import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { backoffMs, defaultBackoff, retryAfterMs } from '../../../packages/sender/src/backoff.ts';
import {
  type Observation,
  sign,
  WebhookSender,
  type WebhookSenderOptions,
} from '../../../packages/sender/src/index.ts';
import { type Received, startReceiver } from '../partner-kit/receiver.ts';

const ends: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const end of ends.reverse()) await end();
});

async function receiver(answer?: Parameters<typeof startReceiver>[1]) {
  const started = await startReceiver('s3cret of 24 characters!', answer);
  ends.push(started.stop);
  return started;
}

async function folder() {
  const made = await mkdtemp(join(tmpdir(), 'spool-'));
  ends.push(() => rm(made, { recursive: true, force: true }));
  return made;
}

/** Delays take no time: each advances the clock. */
async function sender(options: Partial<WebhookSenderOptions> & { url: string }) {
  const waits: number[] = [];
  let nowMs = Date.parse('2026-06-15T10:00:00Z');
  const opened = await WebhookSender.open({
    secret: 's3cret of 24 characters!',
    brandId: 'LIS01',
    now: () => nowMs,
    wait: async (ms) => {
      waits.push(ms);
      nowMs += ms;
    },
    ...options,
  });
  ends.push(() => opened.close());
  return { sender: opened, waits };
}

const event = { event: 'reservation.updated', data: { reservation_id: 'R1', total: 10.5 } };

test('an empty or short secret signs nothing', async () => {
  for (const weak of ['', 'whsec_', 's3cret']) {
    await assert.rejects(sender({ url: 'http://127.0.0.1:9', secret: weak }), /at least 24 characters/);
  }
  assert.throws(() => sign('', 1, '{}'), /empty/);
});

test('an event is put into an envelope, signed over its bytes, and accepted', async () => {
  const { url, received } = await receiver();
  const { sender: one } = await sender({ url });
  const result = await one.send(event);
  const [got] = received as [Received];
  assert.deepEqual(result, {
    kind: 'delivered',
    eventId: got.json.event_id,
    attempts: 1,
    status: 202,
    duplicate: false,
  });
  assert.deepEqual(got.json, {
    event: 'reservation.updated',
    event_id: got.json.event_id,
    timestamp: '2026-06-15T10:00:00.000Z',
    brand_id: 'LIS01',
    data: event.data,
  });
  assert.equal(got.headers['content-type'], 'application/json');
  assert.equal(got.headers['x-webhook-timestamp'], '1781517600');
  assert.ok(got.signed);
});

test('the signature matches the documented example', () => {
  assert.equal(
    sign('secret', 1700000000, '{"a":"ü"}'),
    'sha512=7e05bee02f2ca8b3e59faabae0e87288302469a303a85c4f1c617876c8375ba02fb4a2db3598271edac4864a2c84293743f852c32a2b30dc1fc0dc1e188d12de',
  );
});

test('four retries with growing delays, each signed with its own time, all with the same bytes; then a dead letter', async () => {
  const { url, received } = await receiver(() => ({ status: 500 }));
  const seen: Observation[] = [];
  const { sender: one, waits } = await sender({
    url,
    random: () => 1,
    observe: (observation) => seen.push(observation),
  });
  const result = await one.send(event);
  assert.equal(result.kind, 'dead');
  assert.equal(received.length, 5);
  assert.deepEqual(waits, [2_000, 8_000, 32_000, 128_000]);
  assert.ok(received.every(({ signed }) => signed));
  assert.equal(new Set(received.map(({ headers }) => headers['x-webhook-signature'])).size, 5);
  assert.equal(new Set(received.map(({ body }) => body)).size, 1);
  assert.deepEqual(
    seen.map(({ kind }) => kind),
    ['accepted', ...Array.from({ length: 4 }, () => ['attempt', 'retry']).flat(), 'attempt', 'dead'],
  );
  assert.doesNotMatch(JSON.stringify(seen), /10\.5/);
  const [dead] = await one.deadLetters();
  assert.deepEqual([dead?.attempts, dead?.failure.status, dead?.event], [5, 500, 'reservation.updated']);
});

test('Retry-After is honoured, in seconds or as a date, up to a limit', async () => {
  const answers = [
    { 'retry-after': '50' },
    { 'retry-after': 'Mon, 15 Jun 2026 10:03:00 GMT' },
    { 'retry-after': '999999' },
    { 'retry-after': 'soon' },
  ];
  const { url } = await receiver((_, count) =>
    count > answers.length ? { status: 200 } : { status: 429, headers: answers[count - 1] ?? {} },
  );
  const { sender: one, waits } = await sender({ url, random: () => 0 });
  assert.equal((await one.send(event)).kind, 'delivered');
  assert.deepEqual(waits, [50_000, 130_000, 3_600_000, 64_000]);
});

test('a redirect and a missing answer are failures', async () => {
  const target = await receiver();
  const away = await receiver(() => ({ status: 307, headers: { location: target.url } }));
  const { sender: one } = await sender({ url: away.url, retries: 0 });
  assert.equal((await one.send(event)).kind, 'dead');
  assert.equal(target.received.length, 0);
  await target.stop();
  const { sender: two } = await sender({ url: target.url, retries: 0 });
  const result = await two.send(event);
  assert.ok(result.kind === 'dead' && /ECONNREFUSED/.test(result.failure.message), JSON.stringify(result));
});

test('order is kept within a reservation; other reservations are not delayed', async () => {
  const { url, received } = await receiver(({ json }) => ({
    status: json.data.step === 'A1' && received.length < 6 ? 503 : 202,
  }));
  const release = Promise.withResolvers<void>();
  const { sender: one } = await sender({ url, wait: () => release.promise });
  const send = (reservation_id: string, step: string) =>
    one.send({ event: 'reservation.updated', data: { reservation_id, step } });
  const all = [
    send('A', 'A1'),
    send('A', 'A2'),
    send('B', 'B1'),
    send('A', 'A3'),
    send('B', 'B2'),
    send('C', 'C1'),
    send('D', 'D1'),
    send('E', 'E1'),
  ];
  await Promise.all([all[2], all[4], all[5], all[6], all[7]]);
  release.resolve();
  await Promise.all(all);
  const steps = received.map(({ json }) => String(json.data.step));
  assert.deepEqual(
    steps.filter((step) => step.startsWith('A')),
    ['A1', 'A1', 'A2', 'A3'],
  );
  assert.deepEqual(
    steps.filter((step) => step.startsWith('B')),
    ['B1', 'B2'],
  );
  assert.ok(steps.indexOf('E1') < steps.indexOf('A2'), 'a stuck reservation delays no other');
});

test('concurrent requests stay within the limit', async () => {
  let under = 0;
  let most = 0;
  const { sender: one } = await sender({
    url: 'http://receiver.example/',
    concurrency: 3,
    fetch: async () => {
      under += 1;
      most = Math.max(most, under);
      await new Promise((resolve) => setImmediate(resolve));
      under -= 1;
      return new Response('{}', { status: 200 });
    },
  });
  await Promise.all(
    Array.from({ length: 40 }, (_, index) => one.send({ event: 'guest.updated', data: { guest_id: `G${index}` } })),
  );
  assert.equal(most, 3);
});

test('dead letters are listed, replayed with the same id and a new signature, and dropped', async () => {
  let status = 500;
  const { url, received } = await receiver(() => ({ status }));
  const { sender: one } = await sender({ url, folder: await folder() });
  const lost = await Promise.all([one.send(event), one.send({ ...event, data: { reservation_id: 'R2' } })]);
  const letters = await one.deadLetters();
  assert.equal(letters.length, 2);
  const [first, second] = letters;
  assert.equal(await one.drop(second?.id ?? ''), true);
  assert.equal(await one.drop('no such letter'), false);
  assert.equal((await one.replay('all'))[0]?.kind, 'dead');
  assert.equal((await one.deadLetters())[0]?.attempts, 10);
  status = 202;
  assert.deepEqual(
    (await one.replay([first?.id ?? ''])).map(({ kind }) => kind),
    ['delivered'],
  );
  assert.deepEqual(await one.deadLetters(), []);
  assert.equal(received.at(-1)?.json.event_id, lost[0]?.eventId);
  assert.ok(received.at(-1)?.signed);
});

test('closing keeps unsettled events, and opening the folder sends them in order', async () => {
  const spool = await folder();
  const down = await receiver(() => ({ status: 503 }));
  const first = await WebhookSender.open({
    url: down.url,
    secret: 's3cret of 24 characters!',
    brandId: 'LIS01',
    folder: spool,
  });
  const results = [1, 2, 3].map((step) =>
    first.send({ event: 'reservation.updated', data: { reservation_id: 'R1', step } }),
  );
  await down.until(({ length }) => length > 0);
  await first.close();
  assert.deepEqual(
    (await Promise.all(results)).map(({ kind }) => kind),
    ['pending', 'pending', 'pending'],
  );
  assert.equal((await first.send(event)).kind, 'refused');
  const up = await receiver();
  const { sender: second } = await sender({ url: up.url, folder: spool });
  await second.drain();
  assert.deepEqual(
    up.received.map(({ json }) => json.data.step),
    [1, 2, 3],
  );
  assert.deepEqual(await readdir(join(spool, 'pending')), []);
});

test('a killed process loses no event', async () => {
  const spool = await folder();
  const down = await receiver(() => ({ status: 503 }));
  const script = `
    import { WebhookSender } from ${JSON.stringify(new URL('../../../packages/sender/src/index.ts', import.meta.url).href)};
    const options = { url: ${JSON.stringify(down.url)}, secret: 's3cret of 24 characters!', brandId: 'LIS01', folder: ${JSON.stringify(spool)} };
    const gaveUp = await WebhookSender.open({ ...options, retries: 0 });
    await gaveUp.send({ event: 'reservation.created', data: { reservation_id: 'dead' } });
    const sender = await WebhookSender.open(options);
    void sender.send({ event: 'guest.updated', data: { guest_id: 'waiting' } });
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  await down.until(({ length }) => length >= 2);
  child.kill('SIGKILL');
  await exited;
  const up = await receiver();
  const { sender: next } = await sender({ url: up.url, folder: spool });
  await next.drain();
  assert.deepEqual(
    up.received.map(({ json }) => json.data.guest_id),
    ['waiting'],
  );
  await next.replay('all');
  assert.equal(up.received[1]?.json.data.reservation_id, 'dead');
  assert.deepEqual(await next.deadLetters(), []);
});

test('events above the queue limit are refused, not lost', async () => {
  const { sender: one } = await sender({
    url: 'http://receiver.example/',
    maxQueued: 2,
    fetch: async () => new Response(null, { status: 204 }),
  });
  const results = await Promise.all([one.send(event), one.send(event), one.send(event)]);
  assert.deepEqual(
    results.map(({ kind }) => kind),
    ['delivered', 'delivered', 'refused'],
  );
});

test('delays grow, stay within their bounds and are never zero', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), fc.double({ min: 0, max: 1, noNaN: true }), (retry, chance) => {
      const ms = backoffMs(defaultBackoff, retry, () => chance);
      const longest = Math.min(300_000, 2_000 * 4 ** (retry - 1));
      assert.ok(ms >= longest / 2 && ms <= longest);
    }),
  );
});

test('Retry-After is parsed as in RFC 9110, and nothing else is accepted', () => {
  const nowMs = Date.parse('2026-06-15T10:00:00Z');
  assert.equal(retryAfterMs('120', nowMs), 120_000);
  assert.equal(retryAfterMs('Mon, 15 Jun 2026 10:01:00 GMT', nowMs), 60_000);
  assert.equal(retryAfterMs('Mon, 15 Jun 2026 09:00:00 GMT', nowMs), 0);
  for (const text of ['', '-5', '1.5', 'soon', '2026', '2026-06-15'])
    assert.equal(retryAfterMs(text, nowMs), text === '2026' ? 2_026_000 : undefined);
});
