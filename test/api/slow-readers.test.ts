import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { openLog } from '../../src/kit/log.ts';
import { openStreams } from '../../src/operator/api/held-answers.ts';
import { buildServer } from '../../src/operator/api/server.ts';
import { until } from '../support/process.ts';

/** Readers that ask and then do not read: they cost a bounded amount for a bounded time, and never the process. */

const block = 'x'.repeat(64 * 1024);

async function serving(t: TestContext, sendTimeoutMs?: number) {
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);
  process.on('uncaughtException', note);
  const streams = openStreams();
  const state = { may: true, closed: 0, send: (_event: string, _data: unknown): void => {}, unsent: () => 0 };
  const app = buildServer({
    log: openLog('silent'),
    notReady: async () => [],
    ...(sendTimeoutMs !== undefined && { sendTimeoutMs }),
  });
  app.get('/live', (request, reply) => {
    state.unsent = () => reply.raw.writableLength;
    return streams.send(
      request,
      reply,
      {
        kind: 'stream',
        open: (send) => {
          state.send = send;
          return true;
        },
        close: () => void state.closed++,
      },
      { holder: 'one', stillMay: async () => state.may },
    );
  });
  app.get('/large', async (_request, reply) => reply.send(Buffer.alloc(16 << 20, 'x')));
  await app.listen({ host: '127.0.0.1', port: 0 });
  const sockets: Socket[] = [];
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    await app.close();
    process.off('uncaughtException', note);
  });
  const stalled = async (path: string): Promise<Socket> => {
    const socket = connect({ host: '127.0.0.1', port: (app.server.address() as AddressInfo).port });
    sockets.push(socket);
    socket.on('error', () => {});
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await once(socket, 'readable');
    return socket;
  };
  const open = () => new Promise<number>((done) => app.server.getConnections((_, count) => done(count)));
  return { state, stalled, uncaught, streams, open, app };
}

/** Sends more than the kernel takes, and less than what counts as too far behind. */
async function fill(state: { send(event: string, data: unknown): void; unsent(): number }): Promise<void> {
  for (let full = 0; full < 3; ) {
    state.send('row', block);
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
    full = state.unsent() > 2 * block.length ? full + 1 : 0;
  }
}

test('a stream that does not read is ended with its token, and the process goes on', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { state, stalled, uncaught } = await serving(t);
  await stalled('/live');
  await fill(state);
  state.may = false;
  for (let beat = 0; beat < 3; beat++) {
    t.mock.timers.tick(15_000);
    await new Promise((resolve) => setImmediate(resolve));
    state.send('row', 'late');
    await new Promise((resolve) => setImmediate(resolve));
  }
  await until('the stream is closed', async () => state.closed === 1);
  assert.deepEqual(uncaught, []);
});

test('a server that closes does not wait for a stream that does not read', async (t) => {
  const { state, stalled, streams, uncaught } = await serving(t);
  await stalled('/live');
  await fill(state);
  streams.end();
  state.send('row', 'late');
  await until('the stream is closed', async () => state.closed === 1);
  assert.deepEqual(uncaught, []);
});

test('an answer that nobody reads is cut off', async (t) => {
  const { stalled, open } = await serving(t, 200);
  for (let i = 0; i < 3; i++) await stalled('/large');
  await until('the connections are closed', async () => (await open()) === 0);
});
