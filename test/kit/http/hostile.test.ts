import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { type Answered, openHttp } from '../../../src/core/outbound/http.ts';

/**
 * Whatever bytes a server answers with, the client returns a value within its deadline: nothing is thrown, nothing is left
 * for `uncaughtException`, which would end the process for every brand.
 */

/** What the server writes for the next connection, in pieces; it closes the connection after the last one unless `ending` is hold. */
let script: { pieces: readonly Buffer[]; ending: 'end' | 'reset' | 'hold' } = { pieces: [], ending: 'end' };
const open = new Set<Socket>();
const server = createServer((socket) => {
  open.add(socket);
  socket.on('close', () => open.delete(socket));
  socket.on('error', () => {});
  socket.once('data', async () => {
    const { pieces, ending } = script;
    for (const piece of pieces) {
      if (socket.destroyed) return;
      socket.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (ending === 'end') socket.end();
    if (ending === 'reset') socket.resetAndDestroy();
  });
});
const http = openHttp({ allowPrivate: true, userAgent: 'test' });
const uncaught: unknown[] = [];
const note = (error: unknown) => uncaught.push(error);
let url = '';

before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  process.on('uncaughtException', note);
  process.on('unhandledRejection', note);
});
after(async () => {
  await http.close();
  for (const socket of open) socket.destroy();
  server.close();
  process.off('uncaughtException', note);
  process.off('unhandledRejection', note);
});

async function answerTo(pieces: readonly (string | Buffer)[], ending: 'end' | 'reset' | 'hold' = 'end', more = {}) {
  script = { pieces: pieces.map((piece) => Buffer.from(piece as string, 'latin1')), ending };
  uncaught.length = 0;
  // Short only for a server that holds the connection: another test's load must not look like a timeout.
  const limits = ending === 'hold' ? { deadlineMs: 400, idleMs: 200 } : { deadlineMs: 20_000, idleMs: 10_000 };
  const request = { method: 'GET', url, headers: {}, ...limits, expects: { bytes: 1 << 16 }, ...more };
  const answered: Answered = await http.request(request);
  // A late error of a stream is emitted after the answer.
  await new Promise((resolve) => setImmediate(resolve));
  return answered;
}

const summary = (answered: Answered) => (answered.kind === 'answer' ? answered.status : answered.reason);

test('a content encoding named like a property of every object is an unknown encoding', async () => {
  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__']) {
    const answered = await answerTo([`HTTP/1.1 200 OK\r\nContent-Encoding: ${name}\r\nContent-Length: 2\r\n\r\n{}`]);
    assert.equal(summary(answered), 'protocol', name);
    assert.deepEqual(uncaught, [], name);
  }
});

test('an invalid HTTP status is a protocol failure', async () => {
  for (const status of ['000', '001', '099', '0', '99', '1000', '600', '999', '-20', '2xx', '']) {
    const answered = await answerTo([`HTTP/1.1 ${status} Odd\r\nContent-Length: 2\r\n\r\n{}`]);
    const fine = /^[6-9]\d\d$/.test(status) ? Number(status) : 'protocol';
    assert.equal(summary(answered), fine, status);
    assert.deepEqual(uncaught, [], status);
  }
});

test('header names that every object has are kept as headers, and only the ones sent are there', async () => {
  const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];
  const answered = await answerTo([
    `HTTP/1.1 200 OK\r\n${names.map((name) => `${name}: one\r\n${name}: two\r\n`).join('')}Content-Length: 2\r\n\r\n{}`,
  ]);
  assert.deepEqual(uncaught, []);
  assert.ok(answered.kind === 'answer');
  for (const name of names) assert.equal(answered.headers[name.toLowerCase()], 'one, two', name);
  const plain = await answerTo(['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}']);
  assert.ok(plain.kind === 'answer');
  assert.equal(plain.headers.constructor, undefined);
});

test('a request that cannot be written is a value, without the offending text', async () => {
  const fine = ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'];
  for (const more of [
    { headers: { authorization: 'Bearer secret\r\nx-injected: 1' } },
    { headers: { 'bad name': 'secret' } },
    { headers: { 'content-length': 'secret' }, method: 'POST', body: '{}' },
    { headers: { 'transfer-encoding': 'secret' } },
    { headers: { 'x-name': 'secret \u{1F600}' } },
    { method: 'GET secret' },
    { method: 'CONNECT' },
  ]) {
    const answered = await answerTo(fine, 'end', more);
    assert.equal(summary(answered), 'unsendable', JSON.stringify(more));
    assert.ok(!JSON.stringify(answered).includes('secret'));
  }
});

/** Small and repeatable; the seed is in the message of a failure. */
function generator(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function hostile(seed: number): { pieces: Buffer[]; ending: 'end' | 'reset' | 'hold' } {
  const below = generator(seed);
  const of = <T>(...choices: T[]): T => choices[below(choices.length)] as T;
  const noise = (length: number) => Buffer.from(Array.from({ length }, () => below(256))).toString('latin1');
  const word = () =>
    of('constructor', '__proto__', 'toString', 'a', '', ' ', noise(6), 'x'.repeat(of(10, 9000, 70_000)));
  const body = Buffer.from('{"reservations":[]}'.repeat(of(1, 1, 50, 5000)));
  const coded = of(body, body, gzipSync(body), deflateSync(body), brotliCompressSync(body), zstdCompressSync(body));
  const status = of('200', '200', '204', '304', '100', '101', '103', '000', '302', '429', '999', '20', noise(3), '');
  const version = of('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'ICY', noise(5));
  const header = () =>
    of(
      () => `Content-Encoding: ${of('gzip', 'deflate', 'br', 'zstd', 'gzip, gzip', word())}`,
      () =>
        `Content-Length: ${of<string | number>(coded.length, coded.length + 1, 1, 0, -1, '1e3', '99999999999999999999', word())}`,
      () => `Transfer-Encoding: ${of('chunked', 'gzip, chunked', 'chunked, chunked', word())}`,
      () => `Location: ${of('/next', 'http://[', '//', 'http://127.0.0.1:1/', word())}`,
      () => `Connection: ${of('close', 'keep-alive', 'upgrade', word())}`,
      () => `Keep-Alive: timeout=${of('0', '-1', '99999999999', word())}`,
      () => `Upgrade: ${of('websocket', 'h2c', word())}`,
      () => `Trailer: ${word()}`,
      () => `${word()}: ${word()}`,
      () => noise(12),
      () => ' folded',
    )();
  const headers = Array.from({ length: below(7) }, header);
  const chunk = (bytes: Buffer) =>
    `${of(bytes.length.toString(16), bytes.length.toString(16), 'fffffffffffffffff', '-1', 'zz', '0')}${of('', ';a=b', `;${'c'.repeat(200)}`)}\r\n${bytes.toString('latin1')}${of('\r\n', '\r\n', '', '\n')}`;
  const payload = of(
    () => coded.toString('latin1'),
    () => coded.subarray(0, below(coded.length)).toString('latin1'),
    () => chunk(coded) + of('0\r\n\r\n', '0\r\n__proto__: x\r\n\r\n', '', '0'),
    () => noise(40),
    () => '',
  )();
  const line = of('\r\n', '\r\n', '\r\n', '\n', '\r');
  const interim = of(
    '',
    '',
    '',
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n'.repeat(3),
  );
  const text = `${interim}${version} ${status} ${word()}${line}${headers.map((each) => each + line).join('')}${line}${payload}`;
  const bytes = Buffer.from(text + of('', '', text), 'latin1');
  const cut = below(bytes.length + 1);
  return {
    pieces: of([bytes], [bytes.subarray(0, cut), bytes.subarray(cut)], [bytes.subarray(0, cut)]),
    ending: of('end', 'end', 'reset', 'hold'),
  };
}

const rounds = Number(process.env.INNBOUND_FUZZ_ROUNDS ?? 600);
const firstSeed = Number(process.env.INNBOUND_FUZZ_SEED ?? 1);

test(`each of ${rounds} hostile answers ends in a value and leaves no uncaught error`, async () => {
  const seen = new Map<unknown, number>();
  for (let seed = firstSeed; seed < firstSeed + rounds; seed++) {
    const { pieces, ending } = hostile(seed);
    let answered: Answered;
    try {
      answered = await answerTo(pieces, ending, { idleMs: 30, deadlineMs: 60 });
    } catch (error) {
      throw new Error(`seed ${seed} made the client throw`, { cause: error });
    }
    assert.deepEqual(uncaught, [], `seed ${seed}`);
    const end = summary(answered);
    seen.set(typeof end === 'number' ? 'answer' : end, (seen.get(end) ?? 0) + 1);
  }
  for (const end of ['answer', 'protocol', 'reset', 'timeout']) assert.ok(seen.has(end), `no round ended in ${end}`);
});
