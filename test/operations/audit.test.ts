import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deliverPorts } from '../../src/composition/deliver.ts';
import { drainOnce } from '../../src/core/deliver/deliveries.ts';
import { eraseGuest } from '../../src/operator/operations/erase-guest.ts';
import { healthOf } from '../../src/operator/operations/health.ts';
import { stepJobs } from '../../src/operator/operations/jobs.ts';
import { type ApiNode, apiNode, hotelConnector, reservation } from '../api/node.ts';
import { plainPool, testDatabase } from '../support/database.ts';
import { innbound } from '../support/process.ts';

/** What an audit says after rows of a warehouse were changed by hand: each of them by name, and nothing else. */

let node: ApiNode;
let warehouse: ReturnType<typeof plainPool>;
before(async () => {
  const db = await testDatabase({ empty: true });
  warehouse = plainPool(db.connection);
  const brand = (name: string, id: string) =>
    `integration: ${name}\nconnector: hotel\nbrand_id: ${id}\ntimezone: UTC\npush: { enabled: true }\ndeliver: [warehouse]\n`;
  node = await apiNode('', {
    'connectors/hotel.yaml': hotelConnector('map: { extra: { loyalty: loyalty, tab: tab, n: n, hide: hide } }'),
    'integrations/grand.yaml': brand('grand', 'LIS01'),
    'integrations/other.yaml': brand('other', 'OPO02'),
    'destinations/warehouse.yaml': `destination: warehouse\ntype: postgres\nurl: ${db.url}\nreceives: [reservation, guest]\nfilter: '!has(extra.hide)'\n`,
  });
  const many = Array.from({ length: 40 }, (_, i) =>
    reservation(`R${i}`, {
      ...(i % 7 === 0 && { loyalty: 'gold', tab: 'a\tb"\\ü', n: 1.5 }),
      ...(i === 39 && { hide: true }),
      rooms: [{ room_type: 'DBL', start_date: '2026-12-01', end_date: '2026-12-04', adults: 2 }],
      charges: [{ code: 'ROOM', amount: '99999999999999999999.99', quantity: 1 }],
      guests: [
        { guest_id: `g${i}`, first_name: 'Ana', last_name: `Prado${i}`, email: `ana${i}@mail.example` },
        { guest_id: `h${i}`, first_name: 'Rui', last_name: `Prado${i}` },
      ],
    }),
  );
  await node.take('grand', ...many);
  await node.take('other', reservation('X1'), reservation('X2'));
  await drain();
});
after(async () => {
  await warehouse.end();
  await node.stop();
});

const drain = async () => {
  for (let i = 0; i < 3; i++) await drainOnce(await deliverPorts(node.runtime));
};
const audit = async (...more: string[]) => {
  const args = ['audit', 'warehouse', '--workspace', node.runtime.workspaceDir, '--json', ...more];
  const ran = await innbound(args, { env: node.env });
  const lines = ran.json();
  return { code: ran.code, differences: lines.slice(0, -1), result: lines.at(-1) ?? {}, stderr: ran.stderr };
};

test('a warehouse that has everything is equal, in every figure', async () => {
  const { code, differences, result, stderr } = await audit();
  assert.deepEqual(differences, [], stderr);
  const { started_at, finished_at, ...counts } = result;
  const records = await node.runtime.pool.query('select count(*)::int as n from records where version > 0');
  const compared = records.rows[0].n - 1; // The filter leaves R39 out.
  assert.ok(compared > 80, String(compared));
  assert.deepEqual(counts, {
    destination: 'warehouse',
    integration: null,
    compared,
    equal: compared,
    waiting: 0,
    behind: 0,
    changed: 0,
    missing: 0,
    only_there: 0,
    not_readable: 0,
    complete: true,
  });
  assert.ok(String(started_at) <= String(finished_at));
  assert.equal(code, 0);
});

test('rows that were changed, deleted, doubled, added or put back by hand are named, nothing else, and repaired on demand', async () => {
  await eraseGuest(node.runtime, { email: 'ana30@mail.example' }, 'test');
  await drain();
  const { counts: _, ...clean } = (await audit()).result as Record<string, unknown>;
  assert.equal(clean.equal, clean.compared);
  const by = (sql: string) => warehouse.query(sql);
  await by(`update innbound.reservations set status = 'no_show', total_amount = total_amount + 1 where id = 'R1'`);
  await by(`update innbound.guests set email = 'other@mail.example' where reservation_id = 'R2' and position = 0`);
  await by(`update innbound.reservations set extra = extra || '{"loyalty": "none"}' where id = 'R7'`);
  await by(`delete from innbound.charges where reservation_id = 'R3'`);
  await by(
    `insert into innbound.rooms select integration, reservation_id, 1, room_type from innbound.rooms where reservation_id = 'R4'`,
  );
  await by(`delete from innbound.reservations where id = 'R5'`);
  await by(`update innbound.reservations set removed_at = now() where id = 'R6'`);
  await by(`update innbound.reservations set version = 0, status = 'confirmed' where id = 'R8'`);
  const copy = (id: string, from: string) =>
    by(`insert into innbound.reservations (integration, id, brand_id, version, event, idempotency_key, changed_at, status)
        select integration, '${id}', brand_id, version, event, idempotency_key, changed_at, status from innbound.reservations where id = '${from}'`);
  await copy('R10-copy', 'R10');
  await copy('R39', 'R10');
  await by(
    `update innbound.guests set first_name = 'Ana', last_name = 'Prado30', email = 'ana30@mail.example', guest_id = 'g30' where reservation_id = 'R30' and position = 0`,
  );
  await by(`update innbound.reservations set total_amount = 310.5000 where id = 'R11'`);
  await by(`insert into innbound.reservations (integration, id, brand_id, version, event, idempotency_key, changed_at)
            select 'gone', 'Z1', brand_id, 1, event, idempotency_key, changed_at from innbound.reservations where id = 'R10'`);

  const broken = await audit();
  const said = broken.differences.map(({ id, kind, paths, reason, version_here, version_there }) =>
    [id, kind, paths ?? reason ?? '', version_here, version_there ?? null].map(String).join(' '),
  );
  const expectedLines = [
    'R1 changed status,total_amount 1 1',
    'R2 changed guests[0].email 1 1',
    'R7 changed extra.loyalty 1 1',
    'R3 changed charges 1 1',
    'R4 changed rooms[1] 1 1',
    'R5 missing  1 null',
    'R6 missing  1 null',
    'R8 behind  1 0',
    'R10-copy only_there not_ours null 1',
    'R39 only_there filtered 1 1',
    'Z1 only_there not_ours null 1',
  ];
  const erased = broken.differences.find(({ id }) => id === 'R30');
  assert.deepEqual([erased?.kind, erased?.reason], ['changed', 'erased_guest']);
  assert.deepEqual(said.filter((line) => !line.startsWith('R30 ')).sort(), expectedLines.sort(), broken.stderr);
  assert.ok(!JSON.stringify(broken.differences).includes('mail.example'), 'no values');
  assert.equal(broken.code, 1);
  const { changed, missing, behind, only_there, compared, equal } = broken.result as Record<string, number>;
  assert.deepEqual([changed, missing, behind, only_there], [6, 2, 1, 3]);
  assert.equal(equal, Number(compared) - 9);

  const repaired = await audit('--repair');
  assert.match(repaired.stderr, /9 records queued/);
  await drain();
  const after = await audit();
  assert.deepEqual(after.differences.map(({ id, kind }) => `${id} ${kind}`).sort(), [
    'R10-copy only_there',
    'R39 only_there',
    'Z1 only_there',
  ]);
  assert.equal(after.code, 1);
  await by(`delete from innbound.reservations where id in ('R10-copy', 'R39', 'Z1')`);
  const last = await audit();
  assert.deepEqual([last.differences, last.code], [[], 0]);
});

test('one brand, a sample, and what changed since a time', async () => {
  const one = await audit('--integration', 'other');
  assert.deepEqual([one.result.integration, one.result.equal, one.code], ['other', one.result.compared, 0]);
  const sample = await audit('--sample', '3');
  assert.ok(Number(sample.result.compared) <= 12 && Number(sample.result.compared) >= 6, JSON.stringify(sample.result));
  const larger = await audit('--integration', 'grand', '--sample', '20');
  // Twenty of each type; what the filter leaves out is looked at and not counted.
  assert.ok(
    Number(larger.result.compared) <= 40 && Number(larger.result.compared) >= 36,
    JSON.stringify(larger.result),
  );
  const since = new Date().toISOString();
  await node.take('grand', reservation('R12', { status: 'cancelled' }));
  const waiting = await audit('--since', since);
  assert.deepEqual(
    waiting.differences
      .filter(({ type }) => type === 'reservation')
      .map(({ id, kind, version_here, version_there }) => [id, kind, version_here, version_there]),
    [['R12', 'waiting', 2, 1]],
  );
  assert.equal(waiting.code, 0, 'a delivery that waits is no fault of the destination');
  await drain();
  assert.equal((await audit()).code, 0);
});

test('an audit that is killed in the middle continues, and shows in the API, in health and as alerts', async () => {
  const { runtime } = node;
  const operator = await node.token('operator');
  await warehouse.query(`update innbound.reservations set status = 'no_show' where id in ('R1', 'X1')`);
  const body = { operation: 'audit', destination: 'warehouse' };
  const preview = await node.call('POST', '/jobs/preview', operator, body);
  assert.equal(preview.status, 200);
  const started = await node.call('POST', '/jobs', operator, body);
  assert.equal(started.status, 202, JSON.stringify(started.body));
  const { signal } = new AbortController();
  await stepJobs(runtime, signal);
  // The node that did the next step died before it stored the result: another one does it again.
  const { rows } = await runtime.pool.query('select position from jobs');
  await stepJobs(runtime, signal);
  await runtime.pool.query('update jobs set position = $1', [JSON.stringify(rows[0]?.position)]);
  while (await stepJobs(runtime, signal));
  const job = (await node.call('GET', `/jobs/${started.body.job_id}`, operator)).body;
  assert.deepEqual([job.state, job.counts.changed, job.counts.missing], ['done', 2, 0]);
  // It names records of every brand that the destination has, also of those that have left it.
  const limited = await node.token('operator', ['grand', 'other']);
  assert.equal((await node.call('GET', `/jobs/${started.body.job_id}`, limited)).status, 404);
  assert.equal((await node.call('POST', '/jobs', limited, body)).status, 403);
  for (const repair of [false, true])
    assert.equal((await node.call('POST', '/jobs', await node.token('viewer'), { ...body, repair })).status, 403);
  assert.deepEqual(
    job.refusals
      .map(({ id, reason }: { id: string; reason: string }) => `${id} ${reason}`)
      .toSorted()
      .slice(0, 1),
    ['R1 changed status'],
  );
  const { items } = (await node.call('GET', '/comparisons?destination=warehouse', operator)).body;
  assert.deepEqual(
    items.map((one: { integration: string; counts: { changed: number } }) => [one.integration, one.counts.changed]),
    [
      ['grand', 1],
      ['other', 1],
    ],
  );
  const [grand] = await healthOf(runtime, ['grand']);
  assert.match(grand?.restsOn ?? '', /warehouse compared \d\d:\d\d, 1\d\d of 1\d\d equal/);
  assert.ok(
    grand?.findings.some(({ kind, message }) => kind === 'destination_differs' && message.includes('1 changed')),
  );
  assert.equal((await audit('--repair')).result.changed, 2);
  await audit();
  assert.ok((await healthOf(runtime, ['grand']))[0]?.findings.every(({ kind }) => kind !== 'destination_differs'));
});
