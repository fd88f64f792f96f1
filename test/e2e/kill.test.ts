import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { startSimulator } from '../../packages/partner-kit/src/simulate/index.ts';
import { innbound, type ServiceProcess, serve, until } from '../support/process.ts';
import { deliveredLines, hotelWorkspace } from './workspace.ts';

/**
 * The service is killed at random moments, while a simulated hotel pushes and is pulled. Afterwards everything that was
 * accepted is stored, each version was sent under one key, and the destination has the state of the hotel.
 */
test('a service that is killed at any moment and restarted loses nothing and duplicates nothing', async () => {
  const sender = { retries: 5_000, backoff: { firstMs: 100, factor: 1.2, maxMs: 400 }, timeoutMs: 3_000 };
  const partner = await startSimulator({
    seed: 77,
    reservations: 120,
    auth: { type: 'bearer', token: 'letmein' },
    sender,
  });
  const { dir, remove } = await hotelWorkspace(partner.baseUrl);
  const at = (...args: string[]) => innbound([...args, '--workspace', dir, '--json']);
  let service: ServiceProcess | undefined;
  try {
    service = await serve(dir);
    const [issued = {}] = (await at('endpoint', 'grand')).json();
    const port = new URL(service.url).port;
    await partner.pushTo({ url: String(issued.url), secret: String(issued.secret), brand_id: 'LIS01' });
    for (let round = 0; round < 4; round++) {
      const living = setInterval(() => partner.hotel.advance(2), 15);
      await new Promise((resolve) => setTimeout(resolve, 200 + 350 * round + Math.random() * 200));
      await service.kill();
      clearInterval(living);
      service = await serve(dir, { args: ['--port', port] });
    }
    await partner.pushed();
    assert.equal(partner.stats.pushes.dead, 0, 'every event of the partner was accepted in the end');
    for (const type of ['pre_stay', 'stay', 'post_stay']) {
      const [result = {}] = (await at('sync', 'grand', '--type', type)).json();
      assert.equal(result.status, 'complete', JSON.stringify(result));
    }

    const folder = path.join(dir, 'out');
    const newest = await until('the files hold what the hotel holds', async () => {
      const byId = new Map((await deliveredLines(folder)).map((line) => [line.data.id, line]));
      const settled = partner.hotel.list().every(({ id, status, checkIn, checkOut }) => {
        const data = byId.get(id)?.data;
        return data?.status === status && data.check_in === checkIn && data.check_out === checkOut;
      });
      return settled && byId;
    });
    assert.ok(newest.size >= 120);

    const keys = new Map<string, string>();
    const versions = new Map<string, number>();
    for (const { data, version, idempotency_key: key } of await deliveredLines(folder)) {
      const before = versions.get(data.id) ?? 0;
      const name = `${data.id} ${version}`;
      assert.equal(keys.get(name) ?? key, key, `${name} went out under one key`);
      assert.ok(version === before + 1 || keys.has(name), `${data.id}: version ${version} came after ${before}`);
      keys.set(name, key);
      versions.set(data.id, Math.max(before, version));
    }
    assert.equal(new Set(keys.values()).size, keys.size, 'no two versions share a key');
    assert.equal(await service.stop(), 0);
    service = undefined;
  } finally {
    await service?.kill();
    await partner.stop();
    await remove();
  }
});
