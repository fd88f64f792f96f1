import assert from 'node:assert/strict';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { schedulerPorts } from '../../src/composition/pull.ts';
import { type ApiNode, apiNode } from '../api/node.ts';

let node: ApiNode;
let admin: string;
before(async () => {
  node = await apiNode();
  admin = await node.token('admin');
});
after(() => node.stop());

const lake = '/documents/destination/lake';
const sourceOf = async (at: string) => (await node.call('GET', at, admin)).body.source as string;

test('an edit that breaks another document is refused, with that document’s file and line', async () => {
  const text = (await sourceOf('/documents/connector/hotel')).replace(/^pull:[\s\S]*?^shape/m, 'shape');
  const refused = await node.call('PUT', '/documents/connector/hotel', admin, { text });
  assert.equal(refused.status, 422);
  const files = refused.body.mistakes.map(({ file }: { file: string }) => file);
  assert.deepEqual([...new Set(files)].sort(), ['integrations/grand.yaml', 'integrations/other.yaml']);
});

test('a corrected document or secret lets an open circuit be probed at once', async () => {
  const { pool } = node.runtime;
  const put = async (at: string, text: string) => {
    const answer = await node.call('PUT', `/documents/${at}`, admin, { text });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  };
  const secret = async (name: string) => {
    const answer = await node.call('PUT', `/secrets/${name}`, admin, { value: 'http://127.0.0.1:1' });
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
  };
  const waiting = async () => {
    const { rows } = await pool.query<{ name: string }>(
      `select name from remotes where state = 'open' and probe_at > now() union all
       select 'a run of ' || integration from runs where state = 'queued' and due_at > now() order by 1`,
    );
    return rows.map(({ name }) => name);
  };
  const open = async () => {
    await pool.query(
      `insert into remotes (kind, name, state, failures, away, opened_at, probes, probe_at)
       select kind, name, 'open', 9, true, now(), 9, now() + interval '5 minutes'
         from (values ('destination', 'lake'), ('destination', 'else'), ('partner', 'http://127.0.0.1:1'),
                      ('partner', 'http://127.0.0.1:2')) as t (kind, name)
           on conflict (kind, name) do update set probe_at = excluded.probe_at`,
    );
    await pool.query(
      `insert into runs (integration, run_id, sync, kind, state, waiting, requested_by, due_at)
       select name, 'waits ' || name, 'pre_stay', 'scheduled', 'queued', 'breaker', 'test', now() + interval '15 minutes'
         from unnest('{grand,other}'::text[]) name
           on conflict (integration, run_id) do update set due_at = excluded.due_at`,
    );
    assert.deepEqual(await waiting(), all);
  };
  const [grandWaits, otherWaits] = ['a run of grand', 'a run of other'];
  const [grandApi, otherApi] = ['http://127.0.0.1:1', 'http://127.0.0.1:2'];
  const all = [grandWaits, otherWaits, 'else', grandApi, otherApi, 'lake'];
  const without = (...gone: string[]) => all.filter((name) => !gone.includes(name));

  await open();
  await put('destination/lake', `${await sourceOf(lake)}# corrected\n`);
  assert.deepEqual(await waiting(), without('lake'));

  await secret('grand-address');
  const grand = await sourceOf('/documents/integration/grand');
  await open();
  await put('integration/grand', grand.replace(grandApi, `"\${secret:grand-address}"`));
  assert.deepEqual(await waiting(), without(grandApi, grandWaits), 'also with a base_url that is a secret');

  await open();
  await secret('grand-address');
  assert.deepEqual(await waiting(), without(grandApi, grandWaits));

  await open();
  await put('connector/hotel', `${await sourceOf('/documents/connector/hotel')}# corrected\n`);
  assert.deepEqual(await waiting(), without(grandApi, otherApi, grandWaits, otherWaits));
  await put('integration/grand', grand);
  await pool.query(`delete from remotes; delete from runs where waiting = 'breaker'`);
});

test('a document that was broken before does not block the edit of another', async () => {
  await node.runtime.pool.query(
    `update documents set source = replace(source, 'timezone: Europe/Lisbon', 'timezone: Europe/Atlantis')
      where kind = 'integration' and name = 'other'`,
  );
  const applied = await node.call('PUT', lake, admin, { text: `# a comment\n${await sourceOf(lake)}` });
  assert.equal(applied.status, 200, JSON.stringify(applied.body));
  const itself = await node.call('PUT', lake, admin, { text: `${await sourceOf(lake)}nonsense: true\n` });
  assert.equal(itself.status, 422, 'its own mistakes still do');
  const spare = 'destination: spare\ntype: files\npath: spare\n';
  assert.equal((await node.call('PUT', '/documents/destination/spare', admin, { text: spare })).status, 200);
  const breakLake = (from: string, to: string) =>
    node.runtime.pool.query(
      `update documents set source = replace(source, $1, $2) where kind = 'destination' and name = 'lake'`,
      [from, to],
    );
  await breakLake('path: out', 'path: [out]');
  const removed = await node.call('DELETE', '/documents/destination/spare', admin);
  assert.equal(removed.status, 200, JSON.stringify(removed.body));
  await breakLake('path: [out]', 'path: out');
});

test('documents that name other integrations can be edited, and keep what they name', async () => {
  const put = (at: string, text: string) => node.call('PUT', `/documents/${at}`, admin, { text });
  const applied = async (at: string, text: string) => {
    const answer = await put(at, text);
    assert.equal(answer.status, 200, `${at}: ${JSON.stringify(answer.body)}`);
  };
  const filesIn = ({ body }: Awaited<ReturnType<typeof put>>) => body.mistakes.map((one: { file: string }) => one.file);
  const connector = (await sourceOf('/documents/connector/hotel')).replace('connector: hotel', 'connector: chain');
  await applied('connector/chain', connector.replace('pull:\n', 'pull:\n  property: hotel.code\n'));
  const grand = (await sourceOf('/documents/integration/grand')).replace('connector: hotel', 'connector: chain');
  const first = grand.replace('integration: grand', 'integration: first').replace('LIS01', 'ONE');
  const second = first
    .replace(/pull:[\s\S]*?push/, 'pulled_by: first\npush')
    .replace('integration: first', 'integration: second');
  await applied('integration/first', first);
  await applied('integration/second', second.replace('ONE', 'TWO'));
  assert.deepEqual(filesIn(await put('integration/second', second)), ['integrations/second.yaml'], 'the same brand_id');
  const unpolled = await put('integration/first', first.replace(/pull:[\s\S]*?push/, 'push'));
  assert.deepEqual(filesIn(unpolled), ['integrations/second.yaml'], 'it polls for the second');
  assert.equal((await node.call('DELETE', '/documents/integration/first', admin)).status, 422);

  const routes =
    'alerts: { routes: { desk: { type: slack, url: "https://hooks.example/x", integrations: [second] } } }\n';
  await applied('workspace/innbound', routes);
  assert.deepEqual(filesIn(await put('workspace/innbound', routes.replace('second', 'third'))), ['innbound.yaml']);
  assert.equal((await node.call('DELETE', '/documents/integration/second', admin)).status, 422, 'a route names it');
  await applied('workspace/innbound', '');
  assert.equal((await node.call('DELETE', '/documents/integration/second', admin)).status, 200);
  assert.equal((await node.call('DELETE', '/documents/integration/first', admin)).status, 200);
});

test('a brand that would get the reservations of another one is refused', async () => {
  const grand = (await sourceOf('/documents/integration/grand')).replace('integration: grand', 'integration: twin');
  const messageOf = async (text: string) => {
    const { status, body } = await node.call('PUT', '/documents/integration/twin', admin, { text });
    assert.equal(status, 422, JSON.stringify(body));
    return body.mistakes[0].message as string;
  };
  assert.match(await messageOf(grand), /grand already reads brand_id LIS01/);
  assert.match(await messageOf(grand.replace('LIS01', 'TWIN')), /gets the same reservations as grand/);
});

test('an edit writes no file of another document', async () => {
  const { workspaceDir } = node.runtime;
  const other = await readFile(path.join(workspaceDir, 'integrations/other.yaml'), 'utf8');
  const lisbon = other.replace('integration: other', 'integration: lisbon').replace('OPO02', 'LIS09');
  await rm(path.join(workspaceDir, 'integrations/other.yaml'));
  await writeFile(path.join(workspaceDir, 'integrations/lisbon.yaml'), other);
  const applied = await node.call('PUT', '/documents/integration/lisbon', admin, { text: lisbon });
  assert.equal(applied.status, 200, JSON.stringify(applied.body));
  assert.equal(await readFile(path.join(workspaceDir, 'integrations/lisbon.yaml'), 'utf8'), other);
  assert.match(await readFile(path.join(workspaceDir, applied.body.file), 'utf8'), /^integration: lisbon$/m);
  assert.equal((await node.call('DELETE', '/documents/integration/lisbon', admin)).status, 200);
  assert.equal(await readFile(path.join(workspaceDir, 'integrations/lisbon.yaml'), 'utf8'), other);
  await rename(path.join(workspaceDir, 'integrations/lisbon.yaml'), path.join(workspaceDir, 'integrations/other.yaml'));
});

test('validating finds every reason for which an apply is refused', async () => {
  const validate = async (name: string, text: string) =>
    (await node.call('POST', '/documents/validate', admin, { kind: 'connector', name, text })).body;
  const source = await sourceOf('/documents/connector/hotel');
  const unpolled = await validate('hotel', source.replace(/^pull:[\s\S]*?^shape/m, 'shape'));
  assert.equal(unpolled.valid, false);
  assert.ok(unpolled.mistakes.every(({ file }: { file: string }) => file.startsWith('integrations/')));
  const misnamed = await validate('motel', source);
  assert.equal(misnamed.valid, false);
  assert.match(misnamed.mistakes[0].message, /named hotel, not motel/);
});

test('an edit does not overwrite or delete a file with changes that are not in force', async () => {
  const spare = '/documents/destination/spare';
  const file = path.join(node.runtime.workspaceDir, 'destinations/spare.yaml');
  const source = (await sourceOf(lake)).replace('destination: lake', 'destination: spare');
  const put = (text: string) => node.call('PUT', spare, admin, { text });
  assert.equal((await put(source)).status, 200);
  const commented = `# who to ask\n${source}`;
  for (const unapplied of [source.replace('path: out', 'path: elsewhere'), `${source}type: [`, commented]) {
    await writeFile(file, unapplied);
    const refused = await put(`# from the console\n${source}`);
    assert.deepEqual([refused.status, refused.body.code], [409, 'operate.conflict'], unapplied);
    assert.match(refused.body.detail, /destinations\/spare\.yaml/);
    assert.equal((await node.call('DELETE', spare, admin)).status, 409);
    assert.equal(await readFile(file, 'utf8'), unapplied);
  }
  assert.equal((await put(commented)).status, 200, 'the same text loses nothing');
  assert.equal((await put(source)).status, 200);
  await writeFile(file, commented);
  assert.equal((await put(`${source}# end`)).status, 200, 'a text that was in force before is kept as a version');
  assert.equal((await node.call('DELETE', spare, admin)).status, 200);
});

test('comments and layout of a text that changes nothing else are kept', async () => {
  const source = await sourceOf(lake);
  const commented = `# who to ask: the data team\n${source}`;
  assert.equal((await node.call('PUT', lake, admin, { text: commented })).status, 200);
  assert.equal(await sourceOf(lake), commented);
  const same = await node.call('PUT', lake, admin, { text: commented });
  assert.equal(same.body.version, (await node.call('GET', lake, admin)).body.version, 'the same text makes no version');
  assert.equal((await node.call('PUT', lake, admin, { text: source })).status, 200);
});

test('an edit of a version that is no longer in force is refused', async () => {
  const { source, version } = (await node.call('GET', lake, admin)).body;
  const put = (text: string, replaces: number) => node.call('PUT', lake, admin, { text, replaces });
  const first = await put(`# first\n${source}`, version);
  assert.equal(first.status, 200, JSON.stringify(first.body));
  const second = await put(`# second\n${source}`, version);
  assert.deepEqual([second.status, second.body.code], [409, 'documents.outdated']);
  assert.equal(second.body.version, first.body.version, 'the version to compare with');
  assert.equal(await sourceOf(lake), `# first\n${source}`);
  assert.equal((await put(source, first.body.version)).status, 200);
  const isNew = await node.call('PUT', '/documents/destination/lake', admin, { text: source, replaces: 0 });
  assert.equal(isNew.status, 409, '0 means a new document');
});

test('an edit changes the schedules of its brand and of no other', async () => {
  const { pool } = node.runtime;
  const { align, documents } = schedulerPorts(node.runtime);
  const aligned = async () => {
    await align();
    const { rows } = await pool.query(
      'select integration, sync, every_ms from syncs where next_at is not null order by 1, 2',
    );
    return rows.map(({ integration, sync, every_ms }) => `${integration} ${sync} ${every_ms}`);
  };
  assert.deepEqual(await aligned(), ['grand pre_stay 900000', 'other pre_stay 900000']);
  await pool.query(`update syncs set every_ms = 1 where integration = 'other'`);
  const known = documents();
  const grand = await sourceOf('/documents/integration/grand');
  const edits = [
    [grand.replace('every: 15m', 'every: 30m'), ['grand pre_stay 1800000', 'other pre_stay 1']],
    [`${grand}paused: true\n`, ['other pre_stay 1']],
    [grand, ['grand pre_stay 900000', 'other pre_stay 1']],
  ] as const;
  for (const [text, schedules] of edits) {
    assert.equal((await node.call('PUT', '/documents/integration/grand', admin, { text })).status, 200);
    assert.deepEqual(await aligned(), schedules);
  }
  assert.notEqual(documents(), known);
  assert.equal((await node.call('DELETE', '/documents/integration/grand', admin)).status, 200);
  assert.deepEqual(await aligned(), ['other pre_stay 1']);
});

test('many edits at once leave connections for the one that is being checked', async () => {
  const connector = await sourceOf('/documents/connector/hotel');
  const edits = Array.from({ length: 26 }, (_, i) =>
    node.call('PUT', '/documents/connector/hotel', admin, { text: `# edit ${i}\n${connector}` }),
  );
  const statuses = (await Promise.all(edits)).map(({ status }) => status);
  assert.deepEqual(new Set(statuses), new Set([200]));
});
