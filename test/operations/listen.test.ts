import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { sign, signedHeaders } from '../../packages/sender/src/sign.ts';
import { type Forwarded, type ListedEvent, listen } from '../../src/operator/operations/listen.ts';
import { hotelWorkspace } from '../e2e/workspace.ts';
import { testDatabase } from '../support/database.ts';
import { innbound, serve } from '../support/process.ts';

const event = (seq: number): ListedEvent => ({ seq, event_id: `e${seq}`, event: 'x', received_at: '' });

test('recorded events are forwarded first, oldest first; new ones follow once each, even if they were committed late', async () => {
  let stored = [5, 4, 2, 1];
  const size = 2;
  const stopping = new AbortController();
  const seen: Forwarded[] = [];
  let looks = 0;
  const failed = await listen(
    {
      page: async (cursor) => {
        const from = Number(cursor ?? 0);
        const items = stored.slice(from, from + size).map(event);
        return { items, next_cursor: from + size < stored.length ? String(from + size) : null };
      },
      payload: async (seq) => (seq === 2 ? undefined : `{"seq":${seq}}`),
      forward: async (_payload, { seq }) => (seq === 7 ? 500 : 202),
      wait: async () => {
        looks += 1;
        // Number 6 is committed after 7, but still among the newest.
        if (looks === 1) stored = [7, ...stored];
        if (looks === 2) stored = [8, 7, 6, ...stored.slice(1)];
        if (looks === 4) stopping.abort();
      },
    },
    { last: 3, once: false },
    (one) => seen.push(one),
    stopping.signal,
  );
  assert.deepEqual(
    seen.map(({ seq, status }) => [seq, status]),
    [
      [2, 'payload deleted'],
      [4, 202],
      [5, 202],
      [7, 500],
      [8, 202],
    ].toSpliced(4, 0, [6, 202]),
  );
  assert.equal(failed, 2);
});

test('listen forwards what a real service accepted, with a new signature, and replays one event', async (t) => {
  const env = { DATABASE_URL: (await testDatabase()).url };
  const { dir, remove } = await hotelWorkspace('http://127.0.0.1:9');
  const node = await serve(dir, { env });
  const received: { id: string; isSigned: boolean }[] = [];
  const program = createServer(async (request, response) => {
    const body = (await request.toArray()).join('');
    const at = Number(request.headers['x-webhook-timestamp']);
    const isSigned = request.headers['x-webhook-signature'] === sign('of-the-developer', at, body);
    received.push({ id: (JSON.parse(body) as { event_id: string }).event_id, isSigned });
    response.writeHead(received.length === 3 ? 500 : 200).end();
  }).listen(0, '127.0.0.1');
  await once(program, 'listening');
  t.after(async () => {
    program.close();
    await node.stop();
    await remove();
  });
  const at = async (...args: string[]) => (await innbound([...args, '-w', dir, '--json'], { env })).json()[0] ?? {};
  const issued = await at('endpoint', 'grand');
  const [{ token }, viewer] = [
    await at('token', 'create', '--role', 'operator'),
    await at('token', 'create', '--role', 'viewer'),
  ];
  for (const id of ['a', 'b', 'c']) {
    const data = { reservation_id: id, check_in: '2027-01-02', check_out: '2027-01-04', status: 'confirmed' };
    const timestamp = new Date().toISOString();
    const body = JSON.stringify({ event: 'reservation.created', event_id: id, timestamp, brand_id: 'LIS01', data });
    const headers = signedHeaders(String(issued.secret), Math.floor(Date.now() / 1000), body);
    const { status } = await fetch(`${node.url}/webhooks/${issued.endpoint_id}`, { method: 'POST', headers, body });
    assert.equal(status, 202);
  }
  const { port } = program.address() as AddressInfo;
  const to = ['--to', `http://127.0.0.1:${port}/`, '--server', node.url, '--once', '--json'];
  const secrets = { INNBOUND_TOKEN: String(token), INNBOUND_WEBHOOK_SECRET: 'of-the-developer' };
  const all = await innbound(['listen', 'grand', ...to, '--last', '10'], { env: secrets });
  assert.deepEqual(
    all.json().map(({ event_id, status }) => [event_id, status]),
    [
      ['a', 200],
      ['b', 200],
      ['c', 500],
    ],
    all.stderr,
  );
  assert.equal(all.code, 1, 'one was refused');
  const one = await innbound(['listen', 'grand', ...to, '--last', '1', '--event', 'b'], { env: secrets });
  assert.equal(one.code, 0, one.stderr);
  const masked = await innbound(['listen', 'grand', ...to, '--last', '1'], {
    env: { ...secrets, INNBOUND_TOKEN: String(viewer.token) },
  });
  assert.equal(masked.code, 1);
  assert.match(masked.stdout + masked.stderr, /role operator/);
  assert.deepEqual(
    received,
    ['a', 'b', 'c', 'b'].map((id) => ({ id, isSigned: true })),
  );
});
