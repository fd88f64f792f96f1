import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { type FeedPage, isNewer, type Message, readFeed, recordKey } from '../../../packages/receiver/src/index.ts';
import { WebhookSender } from '../../../packages/sender/src/index.ts';
import { hotelWorkspace } from '../../e2e/workspace.ts';
import { freePort } from '../../support/free-port.ts';
import { innbound, serve, until } from '../../support/process.ts';

test('readFeed follows a real service over a kill and a restore, from any cursor', async (t) => {
  const { dir, remove } = await hotelWorkspace('http://127.0.0.1:9');
  const port = ['--port', String(await freePort())];
  let service = await serve(dir, { args: port });
  // In this order: a server that still writes makes the folder hard to remove.
  t.after(async () => {
    await service.kill();
    await remove();
  });
  const command = async (...args: string[]) => {
    const { code, json, stderr } = await innbound([...args, '--json', '-w', dir]);
    assert.equal(code, 0, stderr);
    return json()[0] as Record<string, string>;
  };
  const { token = '' } = await command('token', 'create', '--role', 'feed', '--name', 'reader');
  const { url = '', secret = '' } = await command('endpoint', 'grand');
  const sender = await WebhookSender.open({
    url: url.replace(/^https?:\/\/[^/]+/, service.url),
    secret,
    brandId: 'LIS01',
  });
  t.after(() => sender.close());
  const send = async (id: string, more: object = {}) => {
    const data = { reservation_id: id, check_in: '2031-05-01', check_out: '2031-05-04', status: 'confirmed', ...more };
    assert.equal((await sender.send({ event: 'reservation.updated', data })).kind, 'delivered');
  };

  const stored = new Map<string, Message>();
  const pages: FeedPage[] = [];
  const stopped = new AbortController();
  const reading = (async () => {
    for await (const page of readFeed({ url: service.url, token, limit: 2, retryMs: 50, signal: stopped.signal })) {
      for (const change of page.changes)
        if (isNewer(change, stored.get(recordKey(change)))) stored.set(recordKey(change), change);
      pages.push(page);
    }
  })();
  const versionOf = (id: string) => [...stored.values()].find(({ data }) => data.id === id)?.version;
  const has = (id: string, version: number) =>
    until(`${id} has version ${version}`, async () => versionOf(id) === version);

  for (const id of ['R-1', 'R-2', 'R-3']) await send(id);
  await send('R-1', { channel: 'WEB' });
  await Promise.all([has('R-1', 2), has('R-2', 1), has('R-3', 1)]);
  const cursor = pages.at(-1)?.cursor ?? '';

  await service.kill();
  service = await serve(dir, { args: port });
  await send('R-2', { channel: 'WEB' });
  await has('R-2', 2);
  assert.ok(
    pages.every(({ restarted }) => !restarted),
    'a kill of the service loses no place in the feed',
  );

  const firstOf = async (after: string) => {
    for await (const page of readFeed({ url: service.url, token, after })) if (page.changes.length > 0) return page;
    return assert.fail('the feed ended');
  };
  const since = await firstOf(cursor);
  assert.deepEqual([since.restarted, since.changes.map(({ data }) => data.id)], [false, ['R-2']]);

  stopped.abort();
  await reading;
  assert.equal(getEventListeners(stopped.signal, 'abort').length, 0, 'nothing listens for a signal that is done');

  await command('restored');
  const again = await firstOf(cursor);
  assert.equal(again.restarted, true, 'after a restore the feed begins again, and says so');
  assert.ok(again.changes.some(({ data }) => data.id === 'R-3'));

  await assert.rejects(async () => {
    for await (const page of readFeed({ url: service.url, token: 'wrong' })) assert.fail(JSON.stringify(page));
  }, /401/);
});

test('an answer that breaks off is asked for again, and a long life leaves no listeners behind', async (t) => {
  let asked = 0;
  const page = JSON.stringify({ changes: [], cursor: 'c', more: false });
  const server = createServer((_, response) => {
    asked += 1;
    response.setHeader('content-length', page.length);
    if (asked > 1) return void response.end(page);
    response.write(page.slice(0, 5));
    setImmediate(() => response.destroy());
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { signal } = new AbortController();
  const { port } = server.address() as AddressInfo;
  let read = 0;
  for await (const { cursor } of readFeed({ url: `http://127.0.0.1:${port}`, token: 't', signal, retryMs: 1 })) {
    assert.equal(cursor, 'c');
    read += 1;
    if (read === 30) break;
  }
  assert.equal(asked, 31);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('no Retry-After makes the feed ask again at once', async (t) => {
  for (const asked of ['3000000', '0', '-1', '', 'soon']) {
    let requests = 0;
    const server = createServer((_, response) => {
      requests += 1;
      response.writeHead(503, { 'retry-after': asked }).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const stop = new AbortController();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const reading = readFeed({ url, token: 'token', signal: stop.signal }).next();
    await until('the first request', async () => requests > 0);
    await new Promise((later) => setTimeout(later, 50));
    assert.equal(requests, 1, asked);
    stop.abort();
    await reading;
  }
});
