import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { startSimulator } from '../../packages/partner-kit/src/simulate/index.ts';
import { testDatabase } from '../support/database.ts';
import { innbound, type ServiceProcess, serve, until } from '../support/process.ts';
import { deliveredLines, hotelWorkspace } from './workspace.ts';

test('several nodes share one database: any of them accepts events, each change is delivered once', async (t) => {
  const { url: DATABASE_URL } = await testDatabase();
  const env = { DATABASE_URL };
  const partner = await startSimulator({ seed: 9, reservations: 80, auth: { type: 'bearer', token: 'letmein' } });
  const { dir, remove } = await hotelWorkspace(partner.baseUrl);
  const nodes: ServiceProcess[] = [];
  t.after(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await partner.stop();
    await remove();
  });
  const at = (...args: string[]) => innbound([...args, '--workspace', dir, '--json'], { env });

  nodes.push(...(await Promise.all([serve(dir, { env }), serve(dir, { env, args: ['--role', 'web'] })])));
  const [issued = {}] = (await at('endpoint', 'grand')).json();
  const targets = nodes.map(({ url }) => ({
    url: `${url}/webhooks/${issued.endpoint_id}`,
    secret: String(issued.secret),
    brand_id: 'LIS01',
  }));
  // Every event is sent to both nodes, under two ids: the second to be processed finds nothing new.
  await partner.pushTo(targets);
  const [result = {}] = (await at('sync', 'grand', '--type', 'pre_stay')).json();
  assert.equal(result.status, 'complete', JSON.stringify(result));
  partner.hotel.advance(40);
  await partner.pushed();
  assert.equal(partner.stats.pushes.dead, 0);

  const lines = await until('all that was pushed is delivered', async () => {
    const byId = new Map((await deliveredLines(path.join(dir, 'out'))).map((line) => [line.data.id, line]));
    const pushed = partner.hotel.list().filter(({ id }) => byId.has(id));
    const settled = pushed.every(({ id, status }) => byId.get(id)?.data.status === status);
    return settled && pushed.length >= 20 && deliveredLines(path.join(dir, 'out'));
  });
  const versions = new Map<string, number>();
  for (const { data, version } of lines) {
    assert.equal(version, (versions.get(data.id) ?? 0) + 1, `${data.id} in order, once`);
    versions.set(data.id, version);
  }
});
