import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { serverLimits } from '../../../src/operator/api/server.ts';
import { until } from '../../support/process.ts';
import { type Node, startNode } from './node.ts';
import { eventBody, exchange, post, rawRequest, readAnswers, type Service, startIntake } from './support.ts';

/** Guarantees at the level of HTTP, whatever a client does. */

let service: Node;
/** Ends slow connections within half a second; on a busy machine it would end good ones too. */
let impatient: Service;
before(async () => {
  service = await startNode();
  impatient = await startIntake({
    server: {
      requestTimeout: 400,
      http: { ...serverLimits.http, headersTimeout: 300, connectionsCheckingInterval: 50 },
    },
  });
});
after(async () => {
  assert.deepEqual(impatient.errors, []);
  for (const one of [service, impatient]) await one.stop();
});

let count = 0;
const fresh = (more: Record<string, unknown> = {}) => eventBody({ event_id: `http-${++count}`, ...more });
const stored = async (eventId: string, { pool }: Pick<Node, 'pool'> = service) => {
  const { rows } = await pool.query<{ n: number }>('select count(*)::int as n from events where event_id = $1', [
    eventId,
  ]);
  return rows[0]?.n;
};

async function opened({ port }: Pick<Node, 'port'> = service): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

test('pipelined requests are answered in their order, each for itself', async () => {
  const ids = Array.from({ length: 50 }, (_, i) => `pipe-${i}`);
  const requests = ids.map((event_id, i) =>
    i % 10 === 3 ? rawRequest(service, 'nonsense') : rawRequest(service, eventBody({ event_id })),
  );
  const answers = await exchange(service.port, Buffer.concat(requests), 50);
  assert.deepEqual(
    answers.map(({ status, json }) => (status === 202 ? json.event_id : status)),
    ids.map((id, i) => (i % 10 === 3 ? 400 : id)),
  );
});

test('pipelined events keep their order in the sequence', async () => {
  const ids = Array.from({ length: 40 }, (_, i) => `seq-${String(i).padStart(2, '0')}`);
  await exchange(service.port, Buffer.concat(ids.map((event_id) => rawRequest(service, eventBody({ event_id })))), 40);
  const { rows } = await service.pool.query<{ event_id: string }>(
    `select event_id from events where event_id like 'seq-%' order by seq`,
  );
  assert.deepEqual(
    rows.map((row) => row.event_id),
    ids,
  );
});

test('garbage after a good request does not prevent its answer', async () => {
  const good = rawRequest(service, eventBody({ event_id: 'before-garbage' }));
  const answers = await exchange(
    service.port,
    Buffer.concat([good, Buffer.from('\x16\x03\x01 no http at all\r\n\r\n')]),
    2,
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [202, 400],
  );
  assert.equal(answers[0]?.json.event_id, 'before-garbage');
  assert.equal(answers[1]?.json.code, 'push.bad_request');
});

test('headers that arrive too slowly end with 408', async () => {
  const socket = await opened(impatient);
  const answers = readAnswers(socket, 1);
  socket.write('POST /webhooks/x HTTP/1.1\r\nhost: hooks.example\r\n');
  const drip = setInterval(() => socket.writable && socket.write('x-slow: 1\r\n'), 40);
  const [answer] = await answers;
  clearInterval(drip);
  assert.equal(answer?.status, 408);
  assert.equal(answer?.headers['content-type'], 'application/problem+json; charset=utf-8');
  socket.destroy();
});

test('a body that arrives too slowly ends with 408 and stores nothing', async () => {
  const body = eventBody({ event_id: 'slow-body' });
  const bytes = rawRequest(impatient, body);
  const socket = await opened(impatient);
  const answers = readAnswers(socket, 1);
  socket.write(bytes.subarray(0, bytes.length - 20));
  const drip = setInterval(() => socket.writable && socket.write(' '), 60);
  const [answer] = await answers;
  clearInterval(drip);
  assert.equal(answer?.status, 408);
  assert.equal(await stored('slow-body', impatient), 0);
  socket.destroy();
});

test('a client that disconnects in the middle of its body leaves nothing', async () => {
  const bytes = rawRequest(service, eventBody({ event_id: 'gone' }));
  const socket = await opened();
  socket.write(bytes.subarray(0, bytes.length - 5));
  socket.destroy();
  assert.equal((await post(service, fresh())).status, 202);
  assert.equal(await stored('gone'), 0);
});

test('a client that disconnects after its body still has its event stored', async () => {
  const socket = await opened();
  socket.end(rawRequest(service, eventBody({ event_id: 'left-early' })));
  socket.resume();
  await once(socket, 'close');
  await until('the event is stored', async () => (await stored('left-early')) === 1);
});

test('500 idle sockets delay nobody', async () => {
  const idle = await Promise.all(Array.from({ length: 500 }, () => opened()));
  const answers = await Promise.all(Array.from({ length: 20 }, () => post(service, fresh())));
  assert.ok(answers.every(({ status }) => status === 202));
  for (const socket of idle) socket.destroy();
});

test('idle sockets are closed in time', async () => {
  const idle = await Promise.all(Array.from({ length: 100 }, () => opened(impatient)));
  await Promise.all(idle.map((socket) => socket.closed || once(socket.resume(), 'close')));
});

for (const [what, bytes, status] of [
  ['no HTTP', 'hello\r\n\r\n', 400],
  ['a head without end', `POST /webhooks/x HTTP/1.1\r\nhost: h\r\nx-big: ${'a'.repeat(40_000)}\r\n\r\n`, 431],
  ['no host', 'POST /webhooks/x HTTP/1.1\r\ncontent-length: 0\r\n\r\n', 400],
  [
    'a length and chunks at once',
    'POST /webhooks/x HTTP/1.1\r\nhost: h\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  ['a length in words', 'POST /webhooks/x HTTP/1.1\r\nhost: h\r\ncontent-length: four\r\n\r\n', 400],
  ['a negative length', 'POST /webhooks/x HTTP/1.1\r\nhost: h\r\ncontent-length: -1\r\n\r\n', 400],
  ['two lengths', 'POST /webhooks/x HTTP/1.1\r\nhost: h\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\n', 400],
  [
    'a broken chunk',
    'POST /webhooks/x HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
    400,
  ],
  ['a header split by a bare line feed', 'POST /webhooks/x HTTP/1.1\r\nhost: h\nx: y\r\n\r\n', 400],
] as const) {
  test(`${status}: ${what}`, async () => {
    const [answer] = await exchange(service.port, Buffer.from(bytes));
    assert.equal(answer?.status, status);
  });
}

test('Expect: 100-continue is honoured', async () => {
  const body = fresh();
  const bytes = rawRequest(service, body, { expect: '100-continue' });
  const head = bytes.subarray(0, bytes.length - Buffer.byteLength(body));
  const socket = await opened();
  socket.write(head);
  const [first] = (await once(socket, 'data')) as [Buffer];
  assert.match(first.toString(), /^HTTP\/1\.1 100 /);
  const answers = readAnswers(socket, 1);
  socket.write(body);
  assert.equal((await answers)[0]?.status, 202);
  socket.destroy();
});

test('a connection is kept for the next request, also after a refusal', async () => {
  const requests = [
    rawRequest(service, fresh()),
    rawRequest(service, 'x', { 'content-type': 'text/plain' }),
    rawRequest(service, fresh()),
  ];
  const socket = await opened();
  const statuses: (number | undefined)[] = [];
  for (const request of requests) {
    const answers = readAnswers(socket, 1);
    socket.write(request);
    statuses.push((await answers)[0]?.status);
    socket.removeAllListeners('data');
  }
  assert.deepEqual(statuses, [202, 415, 202]);
  socket.destroy();
});

test('no body stalls the event loop: what is large in its structure is refused where a limit is exceeded', async () => {
  const mebibyte = 1024 * 1024;
  const many = (count: number, element: string) => `[${`${element},`.repeat(count - 1)}${element}]`;
  const members = Array.from({ length: 60_000 }, (_, i) => `"k${i}":${i}`).join(',');
  const list = Array.from({ length: 9_000 }, (_, i) => ({ i, name: `n${i}`, more: [i, i] }));
  const bodies: [body: string, status: number, detail: RegExp][] = [
    [many(300_000, '[]'), 400, /array too long at byte 300000\./],
    [`{${members}}`, 400, /too many members at byte 23780\./],
    [`{"a":"${'\\u0041'.repeat(170_000)}"}`, 422, /event is missing/],
    [`{"a":${'1'.repeat(mebibyte - 10)}}`, 400, /number out of range at byte 5\./],
    [`{"a":${many(9_001, '1e5')}}`, 422, /event is missing/],
    [`"${'é'.repeat(500_000)}"`, 422, /must be an object/],
    ['{"a":'.repeat(200_000), 400, /too deep at byte 320\./],
    [many(25, many(9_999, '1e5')), 422, /must be an object/],
    [many(5, many(9_901, '12345678901234567890')), 422, /must be an object/],
    [`[${'"x",'.repeat(9_000)}${'{"a":1},'.repeat(900)}1]`, 422, /must be an object/],
    [eventBody({ event_id: 'large', data: { list } }), 422, /9000 elements; at most 5000/],
  ];
  for (const [body, status, detail] of bodies) {
    assert.ok(Buffer.byteLength(body) <= mebibyte + 1024, 'the bodies are about as large as is allowed');
    const [answer] = await exchange(service.port, rawRequest(service, body));
    assert.equal(answer?.status, status, body.slice(0, 20));
    assert.match(String(answer?.json.detail), detail);
  }
});
