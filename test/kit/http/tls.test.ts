import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createPlain, type Server as PlainServer } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import type { HttpSettings } from '../../../src/core/outbound/http/connect.ts';
import { type Answered, openHttp } from '../../../src/core/outbound/http.ts';

const fixture = (name: string) => readFileSync(new URL(`../fixtures/${name}`, import.meta.url), 'utf8');
const ca = fixture('authority.pem');

let secure: Server;
let plain: PlainServer;
let proxy: PlainServer;
const through: string[] = [];
const sockets = new Set<Socket>();
const port = (server: Server | PlainServer) => (server.address() as AddressInfo).port;

before(async () => {
  secure = createServer({ key: fixture('partner-key.pem'), cert: fixture('partner.pem') }, (_request, response) =>
    response.end('"secure"'),
  );
  plain = createPlain((_request, response) => response.end('"plain"'));
  // A forward proxy: absolute addresses for http, CONNECT for https.
  proxy = createPlain((request, response) => {
    through.push(`${request.method} ${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim());
    response.end('"from the proxy"');
  });
  proxy.on('connect', (request, client: Socket) => {
    through.push(`CONNECT ${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim());
    const target = connect(port(secure), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      target.pipe(client);
      client.pipe(target);
    });
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
  });
  for (const server of [secure, plain, proxy]) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
});
after(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of [secure, plain, proxy]) {
    server.closeAllConnections();
    server.close();
  }
});

async function get(url: string, settings: Partial<HttpSettings>): Promise<Answered> {
  const http = openHttp({ allowPrivate: true, userAgent: 'test', ...settings });
  try {
    return await http.request({
      method: 'GET',
      url,
      headers: {},
      deadlineMs: 5_000,
      idleMs: 5_000,
      expects: { bytes: 1_000 },
    });
  } finally {
    await http.close();
  }
}
const told = (answered: Answered) =>
  answered.kind === 'answer' ? Buffer.from(answered.bytes).toString() : answered.reason;

test('certificates are checked: unknown authorities and other names are refused, a named authority is trusted', async () => {
  assert.equal(told(await get(`https://localhost:${port(secure)}/`, {})), 'tls');
  assert.equal(told(await get(`https://localhost:${port(secure)}/`, { ca })), '"secure"');
  assert.equal(told(await get(`https://127.0.0.1:${port(secure)}/`, { ca })), 'tls');
});

test('a proxy is used for http and, by a tunnel, for https; its credentials go to it alone', async () => {
  const address = `http://us:pw@127.0.0.1:${port(proxy)}`;
  through.length = 0;
  assert.equal(told(await get(`http://localhost:${port(plain)}/list?a=1`, { proxy: address })), '"from the proxy"');
  assert.equal(told(await get(`https://localhost:${port(secure)}/`, { proxy: address, ca })), '"secure"');
  const credentials = `Basic ${Buffer.from('us:pw').toString('base64')}`;
  assert.deepEqual(through, [
    `GET http://localhost:${port(plain)}/list?a=1 ${credentials}`,
    `CONNECT localhost:${port(secure)} ${credentials}`,
  ]);
});

test('a proxy does not open the way to private addresses', async () => {
  const address = `http://127.0.0.1:${port(proxy)}`;
  through.length = 0;
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '2130706433', '169.254.169.254']) {
    assert.equal(
      told(await get(`http://${host}:${port(plain)}/`, { proxy: address, allowPrivate: false })),
      'blocked',
      host,
    );
  }
  assert.deepEqual(through, []);
});
