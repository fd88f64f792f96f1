import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { buildSchema } from 'graphql';
import { useServer as serveGraphql } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import { converse } from '../../../src/core/intake/stream/conversation.ts';
import { type OpenSocket, socketsOf } from '../../../src/core/outbound/web-socket.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { strictLimits } from '../../../src/kit/json.ts';
import type { Json } from '../../../src/terms.ts';
import { until } from '../../support/process.ts';

/** Our client against graphql-ws, the protocol's reference implementation. */
async function withServer(work: (url: string) => Promise<void>, secret = 'Bearer right'): Promise<void> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((ready) => server.once('listening', ready));
  const schema = buildSchema('type Query { a: Int } type Subscription { changed(from: Int!): Int }');
  const running = serveGraphql(
    {
      schema,
      roots: {
        subscription: {
          async *changed({ from }: { from: number }) {
            for (let n = from; n < from + 3; n += 1) yield { changed: n };
          },
        },
      },
      onConnect: ({ connectionParams }) => connectionParams?.Authorization === secret,
    },
    server,
  );
  try {
    await work(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    await running.dispose();
  }
}

function open(url: string, query: string, { allowPrivate = true, pingMs = 10_000 } = {}, sockets?: OpenSocket) {
  const received: Json[] = [];
  let idle = 0;
  const openSocket = sockets ?? socketsOf({ allowPrivate, userAgent: 'test' }, systemClock);
  const conversation = converse(
    { openSocket, clock: systemClock, pingMs, jsonLimits: strictLimits },
    {
      kind: 'ok',
      url,
      init: { Authorization: 'Bearer right' },
      subscribe: { query, variables: {} },
      endsAt: undefined,
    },
    {
      next: (payload) => received.push(payload ?? null),
      idle: () => {
        idle += 1;
      },
    },
  );
  return { conversation, received, idle: () => idle };
}

test('the reference server accepts our messages, and its end of the subscription ends the connection', async () => {
  await withServer(async (url) => {
    const { conversation, received } = open(url, 'subscription { changed(from: 4) }');
    assert.deepEqual(await conversation.closed, { code: 1000, wasAlive: true });
    assert.deepEqual(
      received,
      [4, 5, 6].map((changed) => ({ data: { changed } })),
    );
  });
});

test('a refused subscription and refused credentials end with their codes', async () => {
  await withServer(async (url) => {
    const { conversation } = open(url, 'subscription { unknown }');
    const words = 'Cannot query field "unknown" on type "Subscription"';
    assert.deepEqual(await conversation.closed, { code: 4400, wasAlive: false, said: words });
  });
  await withServer(async (url) => {
    const { conversation } = open(url, 'subscription { changed(from: 4) }');
    assert.deepEqual(await conversation.closed, { code: 4403, wasAlive: false });
  }, 'Bearer other');
});

test('a private address is refused in every spelling, before a connection is made', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((ready) => server.once('listening', ready));
  const { port } = server.address() as AddressInfo;
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  for (const host of ['127.0.0.1', 'localhost', '2130706433', '[::ffff:127.0.0.1]']) {
    const { conversation } = open(`ws://${host}:${port}`, 'subscription { a }', { allowPrivate: false });
    const { said, ...closed } = await conversation.closed;
    assert.deepEqual(closed, { code: 1006, wasAlive: false });
    assert.match(said ?? '', /is or resolves to a private, loopback or link-local address/);
  }
  assert.equal(connections, 0);
  await new Promise((closed) => server.close(closed));
});

test('an answer other than the upgrade ends with its HTTP status', async () => {
  const server = createServer();
  server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n'));
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { conversation } = open(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, '');
  const closed = await conversation.closed;
  server.close();
  assert.deepEqual(closed, { code: 403, wasAlive: false });
});

test('a server that stops answering is left after two pings', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((ready) => server.once('listening', ready));
  server.on('connection', (socket) =>
    socket.on('message', (data) => {
      if (String(data).includes('connection_init')) socket.send('{"type":"connection_ack"}');
    }),
  );
  const { conversation, idle } = open(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, '', { pingMs: 50 });
  assert.deepEqual(await conversation.closed, { code: 1006, wasAlive: false });
  assert.equal(idle(), 0);
  await new Promise((closed) => server.close(closed));
});

test('while it is held, nothing is read, and the server has to wait', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((ready) => server.once('listening', ready));
  const event = JSON.stringify({ id: '1', type: 'next', payload: { data: 'x'.repeat(100_000) } });
  let unsent = () => 0;
  server.on('connection', (socket) =>
    socket.on('message', (data) => {
      if (String(data).includes('connection_init')) socket.send('{"type":"connection_ack"}');
      if (!String(data).includes('subscribe')) return;
      for (let i = 0; i < 200; i += 1) socket.send(event);
      unsent = () => socket.bufferedAmount;
    }),
  );
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { conversation, received } = open(url, '', { pingMs: 1_000 });
  await until('events arrive', async () => received.length > 0);
  conversation.hold(true);
  let before = -1;
  await until('the server waits', async () => {
    const isStill = unsent() > 0 && unsent() === before;
    before = unsent();
    return isStill;
  });
  const held = received.length;
  assert.ok(held < 100, `${held} events`);
  conversation.hold(false);
  await until('more events arrive', async () => received.length > held + 20);
  conversation.cut();
  assert.equal((await conversation.closed).wasAlive, true);
  await new Promise((closed) => server.close(closed));
});

test('a server that does not read our answers is left', async () => {
  let isClosing = false;
  const openSocket: OpenSocket = (_url, _protocol, events) => {
    setImmediate(() => {
      events.opened();
      events.text('{"type":"ping"}');
    });
    const close = () => {
      isClosing = true;
      events.closed(1000, '');
    };
    return { send: () => false, hold: () => {}, close };
  };
  const { conversation } = open('ws://partner.example', '', {}, openSocket);
  const { excess } = await conversation.closed;
  assert.equal(excess, 'the partner does not read our answers');
  assert.ok(isClosing);
});
