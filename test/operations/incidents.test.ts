import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Alert, settleAlerts } from '../../src/operator/store/alerts.ts';
import { type ApiNode, apiNode, reservation } from '../api/node.ts';

let node: ApiNode;
let operator: string;
before(async () => {
  node = await apiNode();
  operator = await node.token('operator');
});
after(() => node.stop());

const kinds = ['destination_away', 'deliveries_behind', 'run_failed', 'auth_failed'];
const condition = (kind: string, integration: string, subject: string): Alert => ({
  kind,
  integration,
  subject,
  severity: kind === 'deliveries_behind' ? 'warning' : 'critical',
  message: `${kind} ${subject}`,
  detail: {},
});
/** One turn of the watch with these conditions. */
const turn = (...conditions: Alert[]) => settleAlerts(node.runtime.pool, conditions, kinds);
const list = async (state = 'open', token = operator) =>
  (await node.call('GET', `/incidents?state=${state}`, token)).body.items;
const read = async (id: string) => (await node.call('GET', `/incidents/${id}`, operator)).body;

test('alerts of one cause are one incident, with its effect, what was tried and what to do', async () => {
  const behind = ['grand', 'other'].map((brand) => condition('deliveries_behind', brand, 'lake'));
  await turn(...behind, condition('auth_failed', 'grand', ''), condition('run_failed', 'grand', 'stay'));
  const open = await list();
  assert.deepEqual(open.map(({ title, alerts }: { title: string; alerts: number }) => [title, alerts]).sort(), [
    ['Deliveries to lake', 2],
    ['Pulling grand', 2],
  ]);
  const lake = open.find(({ cause }: { cause: string }) => cause === 'destination:lake');
  assert.equal(lake.severity, 'warning');
  await node.take('grand', reservation('R1'), reservation('R2'));
  await node.call('POST', '/integrations/grand/pause', operator, { reason: 'looking' });
  const admin = await node.token('admin');
  const text = 'integration: third\nconnector: hotel\nbrand_id: FAO03\ntimezone: Europe/Lisbon\ncountry: PT\n';
  const applied = await node.call('PUT', '/documents/integration/third', admin, { text });
  assert.equal(applied.status, 200, JSON.stringify(applied.body));
  await node.runtime.pool.query(
    `insert into dead_letters (integration, kind, fingerprint, destination, code, message, at)
     values ('grand', 'delivery', 'R0', 'lake', 'deliver.refused', 'no', now() - interval '1 hour')`,
  );
  await turn(condition('destination_away', '', 'lake'), ...behind);
  const seen = await read(lake.incident_id);
  assert.deepEqual([seen.severity, seen.alerts, seen.brands], ['critical', 3, ['grand', 'other']]);
  assert.equal(seen.effect.waiting, 2);
  assert.equal(seen.effect.dead_letters, 1, 'open since before the alert');
  assert.deepEqual(
    seen.tried.map(({ action, actor }: { action: string; actor: string }) => [action, actor]),
    [['integrations.pause', 'the operator']],
    'the document of another brand is not among them',
  );
  assert.match(seen.advice.join(' '), /resume by themselves/);
  assert.deepEqual(
    Object.keys(seen.effect).sort(),
    ['dead_letters', 'failed_attempts', 'waiting'],
    'a destination fails no runs and refuses no events',
  );
});

test('a limited operator acknowledges the alerts of its brands only', async () => {
  const limited = await node.token('operator', ['other']);
  const [lake] = await list('open', limited);
  const done = await node.call('POST', `/incidents/${lake.incident_id}/acknowledge`, limited, {});
  assert.deepEqual(
    [done.body.acknowledged_by, done.body.alert_list.map((one: { integration: string }) => one.integration)],
    ['the operator', ['', 'other']],
    'it also sees that its destination is away',
  );
  const whole = await read(lake.incident_id);
  assert.equal(whole.acknowledged_at, null);
  for (const { integration, acknowledged_by } of whole.alert_list) {
    assert.equal(acknowledged_by, integration === 'other' ? 'the operator' : null, integration);
  }
});

test('acknowledging an incident acknowledges its alerts', async () => {
  const [{ incident_id }] = await list();
  const done = await node.call('POST', `/incidents/${incident_id}/acknowledge`, operator, {});
  assert.equal(done.body.acknowledged_by, 'the operator');
  for (const alert of done.body.alert_list) assert.equal(alert.acknowledged_by, 'the operator');
});

test('it ends with its last alert; a cause that comes back soon continues it', async () => {
  const [lake] = (await list()).filter(({ cause }: { cause: string }) => cause === 'destination:lake');
  await turn(condition('deliveries_behind', 'grand', 'lake'));
  assert.equal((await read(lake.incident_id)).ended_at, null);
  await turn();
  const ended = await read(lake.incident_id);
  assert.ok(ended.ended_at);
  assert.deepEqual(
    [ended.brands.length, ended.alerts, ended.effect.waiting, ended.effect.dead_letters],
    [2, 3, 0, 0],
    'what waits now is another matter',
  );
  assert.deepEqual(await list(), []);
  await turn(condition('destination_away', '', 'lake'));
  const again = await read(lake.incident_id);
  assert.deepEqual(
    [again.ended_at, again.alerts, again.acknowledged_at],
    [null, 4, null],
    'nobody has seen the new alert',
  );
  await node.runtime.pool.query(`update alerts set resolved_at = now() - interval '1 hour'`);
  await turn(condition('destination_away', '', 'lake'));
  assert.notEqual((await list())[0].incident_id, lake.incident_id);
});

test('a limited caller sees the incidents of its brands only', async () => {
  const other = await node.token('viewer', ['other']);
  const seen = await list('all', other);
  assert.deepEqual(
    seen.map(({ cause, alerts }: { cause: string; alerts: number }) => [cause, alerts]),
    [
      ['destination:lake', 1],
      ['destination:lake', 3],
    ],
  );
  const [lake] = (await list('all')).filter((one: { incident_id: string }) => one.incident_id === seen[1].incident_id);
  assert.equal((await read(lake.incident_id)).brands.length, 2);
  const limited = (await node.call('GET', `/incidents/${lake.incident_id}`, other)).body;
  assert.deepEqual(limited.brands, ['other']);
  const pull = (await list('all')).find(({ cause }: { cause: string }) => cause === 'pull:grand');
  assert.equal((await node.call('GET', `/incidents/${pull.incident_id}`, other)).status, 404);
});

test('a limited caller sees an incident that its brands share with others, and nothing of the others', async () => {
  const names = ['grand', ...Array.from({ length: 24 }, (_, i) => `hidden-${i}`)];
  const shared = {
    ...condition('auth_failed', '', ''),
    message: '25 brands at once, such as hidden-0: The partner refuses the credentials.',
    detail: { brands: 25, integrations: names.slice(5) },
    brands: names,
  };
  const failing = {
    ...condition('destination_failing', '', 'lake'),
    message: 'lake is failing: 503. 7654321 changes of 2 brands are waiting.',
    detail: { waiting: 7654321 },
  };
  kinds.push('destination_failing');
  await turn(shared, failing);
  const whole = (await list()).find(({ cause }: { cause: string }) => cause === 'brands:auth_failed');
  assert.deepEqual(
    (await read(whole.incident_id)).brands.toSorted(),
    names.toSorted(),
    'all of them, not the first 20',
  );
  await node.take('grand', reservation('R-shared'));
  const { causes } = (await node.call('GET', '/overview', operator)).body;
  const effect = causes.find(({ cause }: { cause: string }) => cause === 'brands:auth_failed');
  assert.ok(effect.waiting > 0, 'the overview counts what waits of its brands');
  const own = await node.token('operator', ['grand']);
  const listed = await list('open', own);
  const find = (cause: string) => listed.find((one: { cause: string }) => one.cause === cause);
  const { incident_id, message, integrations } = find('brands:auth_failed');
  assert.deepEqual([message, integrations], ['An alert is open for 25 brands at once: auth failed.', ['grand']]);
  assert.equal(find('destination:lake').message, 'lake is failing.');
  const { body } = await node.call('GET', `/incidents/${incident_id}`, own);
  assert.deepEqual([body.brands, body.alert_list.length], [['grand'], 1]);
  const { body: lake } = await node.call('GET', `/incidents/${find('destination:lake').incident_id}`, own);
  assert.ok(!/hidden|7654321/.test(JSON.stringify([listed, body, lake])));
  const refused = await node.call('POST', `/incidents/${incident_id}/acknowledge`, own, {});
  assert.deepEqual([refused.status, refused.body.code], [403, 'operate.forbidden']);
  assert.equal((await read(incident_id)).acknowledged_at, null);
  const counted = async (token: string) => (await node.call('GET', '/overview', token)).body.totals.open_alerts;
  assert.deepEqual([await counted(operator), await counted(own)], [2, 2]);
  const other = await node.token('viewer', ['other']);
  assert.deepEqual(
    (await list('open', other)).map(({ cause }: { cause: string }) => cause),
    ['destination:lake'],
  );
  assert.equal((await node.call('GET', `/incidents/${incident_id}`, other)).status, 404);
  assert.equal(await counted(other), 1);
});

test('an incident is as severe as what is open of it', async () => {
  const behind = condition('deliveries_behind', 'grand', 'pond');
  await turn(condition('destination_away', '', 'pond'), behind);
  const pond = async () => (await list()).find(({ cause }: { cause: string }) => cause === 'destination:pond');
  assert.equal((await pond()).severity, 'critical');
  await turn(behind);
  assert.equal((await pond()).severity, 'warning', 'the critical alert is over');
});

test('the incidents, the changes by people and the flow of a time, of the caller’s brands', async () => {
  const minutes = (count: number) => new Date(Date.now() + count * 60_000).toISOString();
  const titles = async (from: string, to: string, token = operator) =>
    (await node.call('GET', `/incidents?state=all&from=${from}&to=${to}`, token)).body.items.map(
      ({ title }: { title: string }) => title,
    );
  const now = [minutes(-60), minutes(1)] as const;
  assert.ok((await titles(...now)).includes('Deliveries to pond'));
  assert.deepEqual(await titles(minutes(-600), minutes(-540)), []);
  const limited = await node.token('operator', ['other']);
  assert.ok(!(await titles(...now, limited)).includes('Several brands: auth failed'));
  const marks = async (from: string, to: string) =>
    (await node.call('GET', `/overview/marks?from=${from}&to=${to}`, operator)).body.items.length;
  assert.ok((await marks(...now)) > 0);
  assert.equal(await marks(minutes(-600), minutes(-540)), 0);
  const flow = (await node.call('GET', `/overview/flow?from=${now[0]}&to=${now[1]}`, operator)).body;
  assert.deepEqual([flow.failed_runs, flow.refused_events, flow.complete_runs], [0, 0, 0]);
});
