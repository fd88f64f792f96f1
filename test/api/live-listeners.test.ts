import assert from 'node:assert/strict';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { until } from '../support/process.ts';
import { type ApiNode, apiNode } from './node.ts';

let node: ApiNode;
before(async () => {
  node = await apiNode();
});
after(() => node.stop());

test('a disconnected listener no longer counts against its token', async () => {
  const token = await node.token('viewer');
  const listen = () =>
    new Promise<string>((resolve, reject) => {
      const socket = net.connect(Number(new URL(node.url).port), '127.0.0.1');
      socket.once('error', reject);
      socket.write(`GET /api/v1/live HTTP/1.1\r\nhost: console\r\nauthorization: Bearer ${token}\r\n\r\n`);
      socket.once('data', (data) => {
        resolve(String(data).slice(9, 12));
        socket.destroy();
      });
    });
  for (let opened = 0; opened < 10; opened++) assert.equal(await listen(), '200');
  // Heartbeats are sent every 15 seconds; until then only the end of the connection shows it.
  await until('there is room again', async () => (await listen()) === '200');
});
