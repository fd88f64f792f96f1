import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { openPool, transaction } from '../../../src/core/store/db/pool.ts';
import { rotateSecret } from '../../../src/core/store/events/endpoints.ts';
import { testDatabase } from '../../support/database.ts';
import { type Node, startNode } from './node.ts';
import {
  eventBody,
  exchange,
  integration,
  minter,
  nowS,
  post,
  rawRequest,
  readAnswers,
  sign,
  startIntake,
} from './support.ts';

/** What a strange or hostile sender may do to HTTP and to its event, byte by byte. */

let service: Node;
before(async () => {
  service = await startNode();
});
after(async () => {
  await service.stop();
});

let count = 0;
const fresh = (more: Record<string, unknown> = {}) => eventBody({ event_id: `attack-${++count}`, ...more });

/** A good request as text, changed by hand; the body follows in chunks where `chunked` says so. */
function bent(
  change: (head: string) => string,
  options: { chunked?: boolean; tail?: string; body?: string } = {},
): Buffer {
  const body = options.body ?? fresh();
  const headers = options.chunked ? { 'content-length': undefined, 'transfer-encoding': 'chunked' } : {};
  const bytes = rawRequest(service, body, headers);
  const head = bytes.subarray(0, bytes.length - Buffer.byteLength(body)).toString('latin1');
  const sent = options.chunked
    ? `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n${options.tail ?? ''}\r\n`
    : body;
  return Buffer.concat([Buffer.from(change(head), 'latin1'), Buffer.from(sent)]);
}

const target = () => `/webhooks/${service.endpointId}`;
const twice = (name: string) => (head: string) => head.replace(new RegExp(`${name}: .*\r\n`), '$&$&');
const timed = (timestamp: string) => () => {
  const body = fresh();
  return rawRequest(service, body, {
    'x-webhook-timestamp': timestamp,
    'x-webhook-signature': sign(service.secret, timestamp, body),
  });
};

const requests: [string, number, () => Buffer][] = [
  ['HTTP/1.0', 202, () => bent((head) => head.replace('HTTP/1.1', 'HTTP/1.0'))],
  [
    'HTTP/1.0 without a host',
    202,
    () => bent((head) => head.replace('HTTP/1.1', 'HTTP/1.0').replace(/host: .*\r\n/, '')),
  ],
  ['the whole address in the request line', 202, () => bent((head) => head.replace(target(), `http://h${target()}`))],
  ['a query that nobody asked for', 202, () => bent((head) => head.replace(target(), `${target()}?x=1`))],
  ['header names in any case', 202, () => bent((head) => head.replace(/^[a-z-]+:/gm, (name) => name.toUpperCase()))],
  ['blanks around a header’s value', 202, () => bent((head) => head.replace(/timestamp: (\d+)/, 'timestamp: \t$1 \t'))],
  [
    'an offer to upgrade',
    202,
    () => bent((head) => head.replace('\r\n\r\n', '\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n')),
  ],
  ['chunks with trailers', 202, () => bent((head) => head, { chunked: true, tail: 'x-checksum: 1\r\n' })],
  [
    'a trailer with another signature than the head’s',
    202,
    () => bent((head) => head, { chunked: true, tail: 'x-webhook-signature: sha512=00\r\n' }),
  ],
  [
    'the signature in a trailer only',
    401,
    () => {
      const body = fresh();
      const tail = `x-webhook-signature: ${sign(service.secret, nowS(), body)}\r\n`;
      return bent((head) => head.replace(/x-webhook-signature: .*\r\n/, ''), { chunked: true, tail, body });
    },
  ],
  ['trailers without end', 431, () => bent((head) => head, { chunked: true, tail: 'x-a: b\r\n'.repeat(4_000) })],
  [
    'a second coding under the chunks',
    415,
    () => bent((head) => head.replace('chunked', 'gzip, chunked'), { chunked: true }),
  ],
  [
    'chunks that are not the last coding',
    400,
    () => bent((head) => head.replace('chunked', 'chunked, gzip'), { chunked: true }),
  ],
  ['the timestamp twice', 401, () => bent(twice('x-webhook-timestamp'))],
  ['the same signature twice', 401, () => bent(twice('x-webhook-signature'))],
  ['the same length twice', 400, () => bent(twice('content-length'))],
  ['a folded header', 400, () => bent((head) => head.replace('sha512=', '\r\n sha512='))],
  ['a blank before the colon', 400, () => bent((head) => head.replace('signature:', 'signature :'))],
  ['a NUL in a header', 400, () => bent((head) => head.replace('hooks.example', 'hooks\0example'))],
  ['more headers than fit', 431, () => bent((head) => head.replace('\r\n\r\n', `\r\n${'a: \r\n'.repeat(4_000)}\r\n`))],
  ['lines that end with a line feed alone', 400, () => bent((head) => head.replaceAll('\r\n', '\n'))],
  ['the beginning of TLS', 400, () => Buffer.from('16030100c8010000c40303', 'hex')],
  ['the beginning of HTTP/2', 400, () => Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')],
  ['a prefix in capitals', 401, () => bent((head) => head.replace('sha512=', 'SHA512='))],
  ['a blank after the prefix', 401, () => bent((head) => head.replace('sha512=', 'sha512= '))],
  // Signed as they are written, so that the form alone is what is refused.
  ...['+1', '-1', ' 1', '1.0', '1e9', '0x1', '0', '4102444800', '99999999999', '9'.repeat(40)].map(
    (text): [string, number, () => Buffer] => [`the timestamp ${text}`, 401, timed(text)],
  ),
  ['a timestamp with a blank in it', 401, () => timed(nowS().replace(/^(.)/, '$1 '))()],
  ['a timestamp with a fraction of a second', 401, () => timed(`${nowS()}.5`)()],
];
for (const [what, status, bytes] of requests) {
  test(`${status}: ${what}`, async () => {
    const [answer] = await exchange(service.port, bytes());
    assert.equal(answer?.status, status, answer?.text ?? 'no answer');
  });
}

for (const [what, more, status, id] of [
  ['of 10,000 characters', { event_id: 'x'.repeat(10_000) }, 422, undefined],
  ['of 256 characters', { event_id: 'x'.repeat(256) }, 202, 'x'.repeat(256)],
  ['of 128 characters beyond the basic plane', { event_id: '\u{10ffff}'.repeat(128) }, 202, '\u{10ffff}'.repeat(128)],
  ['with a NUL', { event_id: 'a\0b' }, 400, undefined],
  ['with other control characters', { event_id: 'a\u0001\u2028b' }, 202, 'a\u0001\u2028b'],
  ['that is a fraction', { event_id: 1.5 }, 202, '1.5'],
  ['that is empty, with another in its second place', { event_id: '', id: 'second' }, 202, 'second'],
  ['that is an object', { event_id: { a: 1 } }, 202, undefined],
  ['that is null', { event_id: null }, 202, undefined],
] as const) {
  test(`an event id ${what}: ${status}`, async () => {
    const answer = await post(service, fresh(more));
    assert.equal(answer.status, status, answer.text);
    if (status !== 202) return;
    if (id === undefined) assert.match(String(answer.json.event_id), /^sha256:/);
    else assert.equal(answer.json.event_id, id);
  });
}

for (const timestamp of ['2000-01-01T00:00:00Z', '2099-01-01T00:00:00Z', '9999-12-31T23:59:60Z']) {
  test(`an event of ${timestamp} is stored and read back`, async () => {
    const answer = await post(service, fresh({ timestamp }));
    assert.equal(answer.status, 202);
    const { rows } = await service.pool.query<{ at: number }>(
      'select (extract(epoch from occurred_at) * 1000)::bigint as at from events where event_id = $1',
      [answer.json.event_id],
    );
    assert.equal(new Date(Number(rows[0]?.at)).toISOString().slice(0, 16), timestamp.slice(0, 16));
  });
}

test('a sender that ends its side after the last byte still gets its answer', async () => {
  const socket = connect(service.port, '127.0.0.1');
  await once(socket, 'connect');
  const answers = readAnswers(socket, 1);
  socket.end(rawRequest(service, fresh()));
  assert.equal((await answers)[0]?.status, 202);
  socket.destroy();
});

test('a sender that ends its side in the middle of the body stores nothing', async () => {
  const body = fresh();
  const bytes = rawRequest(service, body);
  const socket = connect(service.port, '127.0.0.1');
  await once(socket, 'connect');
  const answers = readAnswers(socket, 1);
  socket.end(bytes.subarray(0, -3));
  assert.equal((await answers)[0]?.status, 400);
  socket.destroy();
  const { rows } = await service.pool.query('select 1 from events where event_id = $1', [`attack-${count}`]);
  assert.deepEqual(rows, []);
});

test('a secret that expires during requests: every answer is 202 or 401, and none is 202 afterwards', async () => {
  const own = await startNode('{ enabled: true, rate: { requests: 1000000, burst: 1000000 } }');
  try {
    let ended = false;
    const late: number[] = [];
    const statuses = new Set<number>();
    const { promise: underWay, resolve: warm } = Promise.withResolvers<void>();
    const senders = Array.from({ length: 8 }, async () => {
      for (let i = 0; late.length < 40; i++) {
        const sentAfterEnd = ended;
        const { status } = await post(own, fresh());
        statuses.add(status);
        if (sentAfterEnd) late.push(status);
        if (i === 10) warm();
      }
    });
    await underWay;
    await transaction(own.pool, (tx) => rotateSecret(tx, integration, 0, own.sealer, minter.secret()));
    ended = true;
    await Promise.all(senders);
    assert.deepEqual([...statuses].sort(), [202, 401]);
    assert.deepEqual(new Set(late), new Set([401]));
  } finally {
    await own.stop();
  }
});

test('503: the database is gone, with Retry-After, for known and unknown endpoints', async () => {
  const database = await testDatabase();
  const pool = openPool({ connection: database.connection, applicationName: 'test' });
  pool.on('error', () => {});
  const own = await startIntake({ pool });
  try {
    assert.equal((await post(own, fresh())).status, 202);
    await database.drop();
    for (let i = 0; i < 3; i++) {
      const answer = await post(own, fresh());
      assert.equal(answer.status, 503, answer.text);
      assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/);
      assert.equal(answer.json.code, 'push.unavailable');
    }
    const [unknown] = await exchange(own.port, rawRequest({ ...own, endpointId: 'whk_00000000000000000000' }, fresh()));
    assert.equal(unknown?.status, 503, 'without the store, it is unknown whether it exists');
  } finally {
    await own.stop();
    await pool.end();
  }
});
