import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { signedHeaders } from '../../packages/sender/src/sign.ts';
import { testDatabase } from '../support/database.ts';
import { innbound, type ServiceProcess, serve, until } from '../support/process.ts';
import { hotelWorkspace } from './workspace.ts';

/** A reverse proxy that polls /readyz, keeps connections open and never sends a request twice: a request that it cannot forward gets a 502. */
async function startProxy(
  upstreams: readonly string[],
): Promise<{ url: string; ready: () => number; close: () => void }> {
  const agent = new Agent({ keepAlive: true });
  let healthy: readonly string[] = [];
  let turn = 0;
  const look = async () => {
    const answers = await Promise.all(
      upstreams.map((url) =>
        fetch(`${url}/readyz`).then(
          ({ status }) => status === 200,
          () => false,
        ),
      ),
    );
    healthy = upstreams.filter((_, i) => answers[i]);
  };
  await look();
  let isOpen = true;
  const watching = (async () => {
    while (isOpen) {
      await delay(100);
      await look();
    }
  })();
  watching.catch(() => {});
  const server: Server = createServer((incoming, outgoing) => {
    const upstream = healthy[turn++ % Math.max(1, healthy.length)];
    if (upstream === undefined) return void outgoing.writeHead(502).end();
    const passed = request(
      `${upstream}${incoming.url}`,
      { agent, method: incoming.method ?? 'GET', headers: incoming.headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502);
        answer.pipe(outgoing);
      },
    );
    passed.on('error', () => {
      if (!outgoing.headersSent) outgoing.writeHead(502);
      outgoing.end();
    });
    incoming.pipe(passed);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ready: () => healthy.length,
    close: () => {
      isOpen = false;
      agent.destroy();
      server.close();
      server.closeAllConnections();
    },
  };
}

test('nodes are restarted one after the other behind a proxy, and no event is refused', async (t) => {
  const env = { DATABASE_URL: (await testDatabase()).url };
  const { dir, remove } = await hotelWorkspace('http://127.0.0.1:9');
  const nodes: ServiceProcess[] = [];
  t.after(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await remove();
  });
  const args = ['--role', 'web', '--grace', '2'];
  for (let i = 0; i < 2; i++) nodes.push(await serve(dir, { env, args }));
  const ports = nodes.map(({ url }) => new URL(url).port);
  const [issued = {}] = (await innbound(['endpoint', 'grand', '-w', dir, '--json'], { env })).json();
  const proxy = await startProxy(nodes.map(({ url }) => url));
  t.after(proxy.close);

  let isSending = true;
  const answers = new Map<number, number>();
  const send = async () => {
    for (let i = 0; isSending; i++) {
      const body = JSON.stringify({
        event: 'reservation.created',
        event_id: `e${i}`,
        timestamp: new Date().toISOString(),
        brand_id: 'LIS01',
        data: { reservation_id: `R${i}`, check_in: '2027-01-02', check_out: '2027-01-04', status: 'confirmed' },
      });
      const headers = signedHeaders(String(issued.secret), Math.floor(Date.now() / 1000), body);
      const { status } = await fetch(`${proxy.url}/webhooks/${issued.endpoint_id}`, { method: 'POST', headers, body });
      answers.set(status, (answers.get(status) ?? 0) + 1);
      await delay(20);
    }
  };
  const sending = send();
  for (const [i, port = ''] of ports.entries()) {
    await nodes[i]?.stop();
    nodes[i] = await serve(dir, { env, args: [...args, '--port', port] });
    await until('the proxy uses both nodes again', async () => proxy.ready() === 2);
  }
  isSending = false;
  await sending;
  assert.deepEqual([...answers.keys()], [202], JSON.stringify([...answers]));
  assert.ok((answers.get(202) ?? 0) > 20);
});
