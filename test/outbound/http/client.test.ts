import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcp, type Socket, type Server as TcpServer } from 'node:net';
import { after, test } from 'node:test';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { isPublicAddress } from '../../../src/core/outbound/http/address.ts';
import { type Exchange, openHttp } from '../../../src/core/outbound/http.ts';

const servers: (Server | TcpServer)[] = [];
const sockets: Socket[] = [];
after(async () => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  }
  await Promise.all([open.close(), guarded.close()]);
});

const open = openHttp({ allowPrivate: true, userAgent: 'test' });
const guarded = openHttp({ allowPrivate: false, userAgent: 'test' });

async function listen(server: Server | TcpServer): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function serve(answer: (response: ServerResponse, url: string) => void): Promise<number> {
  return listen(createServer((request, response) => answer(response, request.url ?? '')));
}

function ask(url: string, more: Partial<Exchange> = {}): Exchange {
  return { method: 'GET', url, headers: {}, deadlineMs: 5000, idleMs: 2000, expects: { bytes: 1 << 20 }, ...more };
}

async function reasonOf(exchange: Exchange, http = open): Promise<string> {
  const answered = await http.request(exchange);
  return answered.kind === 'failed' ? answered.reason : `answer ${answered.status}`;
}

test('an answer has its status, joined headers and decoded bytes', async () => {
  const body = JSON.stringify({ reservations: [] });
  const encodings: Record<string, Buffer> = {
    '/gzip': gzipSync(body),
    '/br': brotliCompressSync(body),
    '/zstd': zstdCompressSync(body),
    '/identity': Buffer.from(body),
  };
  const port = await serve((response, url) => {
    response.setHeader('content-encoding', url.slice(1));
    response.setHeader('link', ['<a>; rel="next"', '<b>; rel="prev"']);
    response.end(encodings[url]);
  });
  for (const url of Object.keys(encodings)) {
    const answered = await open.request(ask(`http://127.0.0.1:${port}${url}`));
    assert.equal(answered.kind, 'answer');
    if (answered.kind !== 'answer') continue;
    assert.equal(Buffer.from(answered.bytes).toString(), body);
    assert.equal(answered.headers.link, '<a>; rel="next", <b>; rel="prev"');
  }
});

test('every spelling of a private address is refused before anything is sent', async () => {
  let hits = 0;
  const port = await serve((response) => {
    hits++;
    response.end('{}');
  });
  const spellings = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.0.0.1.',
    'localhost',
    'LOCALHOST',
    '0.0.0.0',
    '0',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[::127.0.0.1]',
    '[2002:7f00:1::]',
    '①②⑦.⓪.⓪.①',
  ];
  for (const host of spellings) assert.equal(await reasonOf(ask(`http://${host}:${port}/`), guarded), 'blocked', host);
  for (const url of ['ftp://pms.example/', 'file:///etc/passwd', `http://user:pw@127.0.0.1:${port}/`, 'nonsense']) {
    assert.equal(await reasonOf(ask(url)), 'blocked', url);
  }
  assert.equal(hits, 0);
  assert.equal(await reasonOf(ask(`http://localhost:${port}/`)), 'answer 200');
});

test('public and special addresses are recognised', () => {
  for (const address of ['8.8.8.8', '1.1.1.1', '172.32.0.1', '2a00:1450::1', '::ffff:8.8.8.8', '64:ff9b::808:808']) {
    assert.ok(isPublicAddress(address), address);
  }
  for (const address of [
    '10.1.2.3',
    '100.64.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '203.0.113.9',
    '224.0.0.1',
    '255.255.255.255',
    'fe80::1%eth0',
    'fd00::1',
    'fec0::1',
    'ff02::1',
    '2001:db8::1',
    '2001::1',
    '64:ff9b:1::1',
    'not an address',
  ]) {
    assert.ok(!isPublicAddress(address), address);
  }
});

test('redirects are not followed, and the message does not name the other host', async () => {
  let hits = 0;
  const port = await serve((response) => {
    hits++;
    response.writeHead(302, { location: 'http://elsewhere.example/path?key=secret' }).end();
  });
  const answered = await open.request(ask(`http://127.0.0.1:${port}/?api_key=secret`));
  assert.equal(answered.kind, 'failed');
  if (answered.kind === 'failed') {
    assert.equal(answered.reason, 'redirect');
    assert.match(answered.message, /302 to another host$/);
  }
  assert.equal(hits, 1);
});

test('a body over the cap ends the request: plain, compressed, and endless', async () => {
  const bomb = gzipSync(Buffer.alloc(8 << 20));
  const port = await serve((response, url): void => {
    if (url === '/bomb') return void response.setHeader('content-encoding', 'gzip').end(bomb);
    if (url === '/plain') return void response.end(Buffer.alloc(2 << 20));
    const pump = () => {
      while (response.write(Buffer.alloc(65536)));
      if (!response.destroyed) response.once('drain', pump);
    };
    pump();
  });
  for (const path of ['/bomb', '/plain', '/endless']) {
    assert.equal(await reasonOf(ask(`http://127.0.0.1:${port}${path}`)), 'too_large', path);
  }
});

test('a dripping answer is ended by the deadline, a silent one by the idle time', async () => {
  const port = await serve((response, url) => {
    if (url === '/silent') return;
    response.write('[');
    const drip = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(drip));
  });
  assert.equal(await reasonOf(ask(`http://127.0.0.1:${port}/drip`, { deadlineMs: 300 })), 'timeout');
  assert.equal(await reasonOf(ask(`http://127.0.0.1:${port}/silent`, { idleMs: 200 })), 'timeout');
});

test('the deadline holds while connecting', async () => {
  const mute = await listen(createTcp((socket) => sockets.push(socket)));
  assert.equal(await reasonOf(ask(`https://127.0.0.1:${mute}/`, { deadlineMs: 200 })), 'timeout');
});

test('a server that is not reached in the time to connect was not reached; the answer may take longer than that', async () => {
  const mute = await listen(createTcp((socket) => sockets.push(socket)));
  assert.equal(await reasonOf(ask(`https://127.0.0.1:${mute}/`, { connectMs: 1_500, deadlineMs: 60_000 })), 'refused');
  const port = await serve((response) => void setTimeout(() => response.end('[]'), 2_000));
  const slow = await open.request(
    ask(`http://127.0.0.1:${port}/`, { connectMs: 1_500, idleMs: 60_000, deadlineMs: 60_000 }),
  );
  assert.equal(slow.kind, 'answer');
});

test('broken exchanges are values with a reason', async () => {
  const raw = await listen(
    createTcp((socket) => {
      sockets.push(socket);
      socket.on('error', () => {});
      socket.once('data', (bytes) => {
        const path = bytes.toString().split(' ')[1];
        if (bytes[0] === 0x16) socket.end('this is no handshake');
        if (path === '/nothing') socket.destroy();
        if (path === '/garbage') socket.end('SSH-2.0-OpenSSH_9.0\r\n');
        if (path === '/short') socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"a":1}');
        if (path === '/chunked') socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n');
        if (path === '/gzip') socket.end('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd');
        if (path === '/weird')
          socket.end('HTTP/1.1 200 OK\r\nContent-Encoding: pack200\r\nContent-Length: 4\r\n\r\nabcd');
      });
    }),
  );
  const base = `http://127.0.0.1:${raw}`;
  assert.equal(await reasonOf(ask(`${base}/nothing`)), 'reset');
  assert.equal(await reasonOf(ask(`${base}/garbage`)), 'protocol');
  assert.equal(await reasonOf(ask(`${base}/short`)), 'reset');
  assert.equal(await reasonOf(ask(`${base}/chunked`)), 'reset');
  assert.equal(await reasonOf(ask(`${base}/gzip`)), 'protocol');
  assert.equal(await reasonOf(ask(`${base}/weird`)), 'protocol');
  assert.equal(await reasonOf(ask(`https://127.0.0.1:${raw}/`)), 'tls');
  assert.equal(await reasonOf(ask('http://127.0.0.1:1/')), 'refused');
  assert.equal(await reasonOf(ask('http://no-such-host.invalid/')), 'dns');
});

test('connections are kept and used again', async () => {
  let connections = 0;
  const server = createServer((_request, response) => response.end('{}'));
  server.on('connection', () => connections++);
  const port = await listen(server);
  for (let i = 0; i < 5; i++) assert.equal(await reasonOf(ask(`http://127.0.0.1:${port}/`)), 'answer 200');
  assert.ok(connections <= 2, `${connections} connections for five requests`);
});

test('a server gets as many requests at once as there are', async () => {
  const held: (() => void)[] = [];
  const port = await serve((response) => {
    held.push(() => response.end('{}'));
    // A destination may have 256 concurrent calls.
    if (held.length === 256) for (const answer of held) answer();
  });
  const asked = Array.from({ length: 256 }, () => reasonOf(ask(`http://127.0.0.1:${port}/`)));
  assert.deepEqual([...new Set(await Promise.all(asked))], ['answer 200']);
});

test('a caller can give up', async () => {
  const port = await serve(() => {});
  const stop = new AbortController();
  const pending = reasonOf(ask(`http://127.0.0.1:${port}/`, { signal: stop.signal }));
  setImmediate(() => stop.abort());
  assert.equal(await pending, 'aborted');
});

test('through a proxy, a private name and a name without an address here are refused before the proxy sees them', async () => {
  const asked: string[] = [];
  const proxy = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end('{}');
  });
  proxy.on('connect', (request, socket) => {
    asked.push(request.url ?? '');
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  const port = await listen(proxy);
  const settings = { allowPrivate: false, userAgent: 'test', proxy: `http://127.0.0.1:${port}` };
  const strict = openHttp(settings);
  const trusting = openHttp({ ...settings, proxyResolves: true });
  try {
    assert.equal(await reasonOf(ask('http://127.0.0.1/'), strict), 'blocked');
    assert.equal(await reasonOf(ask('http://localhost/'), strict), 'blocked');
    assert.equal(await reasonOf(ask('http://intranet.invalid/'), strict), 'dns');
    assert.deepEqual(asked, []);
    assert.equal(await reasonOf(ask('http://localhost/'), trusting), 'blocked');
    assert.deepEqual(asked, []);
    await trusting.request(ask('http://intranet.invalid/'));
    assert.equal(asked.length, 1);
  } finally {
    await Promise.all([strict.close(), trusting.close()]);
  }
});
