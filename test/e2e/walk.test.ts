import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { type Simulator, startSimulator } from '../../packages/partner-kit/src/simulate/index.ts';
import { innbound, type ServiceProcess, serve, until } from '../support/process.ts';
import { deliveredLines, hotelWorkspace } from './workspace.ts';

/** One reservation through every room, as a person would see it: commands, a service, a partner, a folder of files. */

let partner: Simulator;
let workspace: Awaited<ReturnType<typeof hotelWorkspace>>;
let service: ServiceProcess;

before(async () => {
  partner = await startSimulator({ seed: 5, reservations: 60, auth: { type: 'bearer', token: 'letmein' } });
  workspace = await hotelWorkspace(partner.baseUrl);
  service = await serve(workspace.dir);
});
after(async () => {
  await service.stop();
  await partner.stop();
  await workspace.remove();
});

const at = (...args: string[]) => innbound([...args, '--workspace', workspace.dir, '--json']);

test('a sync pulls and reports what it found', async () => {
  const { code, json } = await at('sync', 'grand', '--type', 'pre_stay');
  const [result] = json();
  assert.equal(result?.status, 'complete', JSON.stringify(result));
  assert.equal(code, 0);
  assert.ok(Number(result?.fetched) > 0);
  assert.match(String(result?.run_id), /^run_/);
});

test("the endpoint's secret is shown once, and the endpoint accepts a signed event", async () => {
  const [issued] = (await at('endpoint', 'grand')).json();
  assert.equal(issued?.url, `${service.url}/webhooks/${issued?.endpoint_id}`);
  assert.match(String(issued?.secret), /^whsec_/);
  const [again] = (await at('endpoint', 'grand')).json();
  assert.equal(again?.endpoint_id, issued?.endpoint_id);
  assert.equal(again?.secret, undefined);
  await partner.pushTo({ url: String(issued?.url), secret: String(issued?.secret), brand_id: 'LIS01' });
  partner.hotel.advance(5);
  await partner.pushed();
  assert.equal(partner.stats.pushes.dead, 0);
  assert.equal(partner.stats.pushes.queued, 0);
});

test('each changed reservation reaches the files, in order, once', async () => {
  const [changed] = partner.hotel.advance(1).filter(({ event }) => event !== 'guest.updated');
  const { reservation } = changed ?? partner.hotel.advance(10).find((one) => one.reservation) ?? {};
  assert.ok(reservation);
  await partner.pushed();
  const folder = path.join(workspace.dir, 'out');
  const lines = await until('the change is delivered', async () => {
    const all = await deliveredLines(folder);
    return all.some((line) => line.data.id === reservation.id) && all;
  });
  const versions = new Map<string, number>();
  for (const { data, version, type, integration, brand_id } of lines) {
    assert.deepEqual([type, integration, brand_id], ['reservation', 'grand', 'LIS01']);
    assert.equal(version, (versions.get(data.id) ?? 0) + 1, `versions of ${data.id} rise by one`);
    versions.set(data.id, version);
  }
  assert.equal(new Set(lines.map((line) => line.idempotency_key)).size, lines.length);
});

test('the timeline shows receipt, change and delivery', async () => {
  const [line] = await deliveredLines(path.join(workspace.dir, 'out'));
  assert.ok(line);
  const [timeline = {}] = (await at('reservation', line.data.id, '--integration', 'grand')).json();
  assert.equal(timeline.reservation_id, line.data.id);
  const kinds = (timeline.timeline as { what: string }[]).map(({ what }) => what);
  assert.ok(kinds.includes('received') && kinds.includes('delivery'), kinds.join());
});

test('refuses a second service on the workspace and names the first', async () => {
  const refused = await innbound(['serve', '--workspace', workspace.dir, '--port', '0']);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /store\.workspace_held/);
  assert.match(refused.stderr, new RegExp(`\\b${service.child.pid}\\b`), 'names the process');
});

test('an unknown reservation, integration or command gets a clear error', async () => {
  const unknown = await at('reservation', 'nobody', '--integration', 'grand');
  assert.equal(unknown.code, 1);
  const [answer = {}] = unknown.json();
  assert.equal((answer.error as { code: string }).code, 'operate.not_found');
  const elsewhere = await at('sync', 'grant', '--type', 'stay');
  assert.equal(elsewhere.code, 1);
  assert.match(elsewhere.stdout + elsewhere.stderr, /grand/, 'names the integrations in force');
});
