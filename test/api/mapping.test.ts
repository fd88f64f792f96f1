import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { openLog } from '../../src/kit/log.ts';
import { eraseGuest } from '../../src/operator/operations/erase-guest.ts';
import { openRuntime } from '../../src/operator/operations/open-runtime.ts';
import type { Json, JsonObject } from '../../src/terms.ts';
import { innbound } from '../support/process.ts';
import { type ApiNode, apiNode, hotelConnector, reservation } from './node.ts';

let node: ApiNode;
let operator: string;
let admin: string;
before(async () => {
  node = await apiNode('', { 'connectors/hotel.yaml': hotelConnector('') });
  operator = await node.token('operator');
  admin = await node.token('admin');
  await node.take('grand', reservation('R1', { agent: 'BDC' }), reservation('R2'));
});
after(() => node.stop());

const call = async (method: string, at: string, body?: Json) => {
  const answer = await node.call(method, at, operator, body);
  assert.ok(answer.status < 300, `${at}: ${JSON.stringify(answer.body)}`);
  return answer.body;
};

test('a preview has the raw record and where each value came from, also for one that fails', async () => {
  const sample = JSON.stringify({ reservations: [reservation('S1'), reservation('S2', { check_out: '2020-01-01' })] });
  const { records } = await call('POST', '/map/preview', { connector: hotelConnector(''), sample });
  assert.equal(records[0].raw.id, 'S1');
  assert.equal(records[1].kind, 'dead');
  assert.equal(records[1].origins['guests[0].email'], 'guests[0].email');
});

test('a preview names the statuses that no value map lists', async () => {
  const sample = JSON.stringify({ reservations: [1, 2, 3].map((id) => reservation(`S${id}`, { status: 'P7' })) });
  const connector = hotelConnector('unknown_status: other\n');
  const { unlisted } = await call('POST', '/map/preview', { connector, sample });
  assert.deepEqual(unlisted, [{ status: 'P7', times: 3 }]);
});

test('the effect of a changed mapping on the stored payloads is counted, and nothing changes', async () => {
  const effect = await call('POST', '/integrations/grand/mapping-effect', {
    connector: hotelConnector('map: { channel: agent }\n'),
  });
  assert.deepEqual([effect.records, effect.changed, effect.unchanged, effect.refused], [2, 1, 1, 0]);
  assert.deepEqual(effect.samples[0].diff, [{ path: 'channel', after: 'BDC' }]);
  const { rows } = await node.runtime.pool.query('select max(version) as version from records');
  assert.equal(rows[0].version, 1);
  const wrong = await node.call('POST', '/integrations/grand/mapping-effect', operator, {
    connector: 'connector: hotel\nmap: 1',
  });
  assert.equal(wrong.status, 422);
});

test('a mapping that changes a kept sample is refused unless accepted; the sample is deleted with an erased guest', async () => {
  const sample = JSON.stringify({ reservations: [reservation('S1', { agent: 'BDC' })] });
  await call('PUT', '/connectors/hotel/cases/first', { text: hotelConnector(''), sample, timezone: 'Europe/Lisbon' });
  const check = async (map: string) =>
    (await call('POST', '/connectors/hotel/cases/check', { text: hotelConnector(map) })).items;
  const [same] = await check('');
  assert.deepEqual([same.name, same.passes, same.diff, same.timezone], ['first', true, [], 'Europe/Lisbon']);
  const [changed] = await check('map: { channel: agent }\n');
  assert.deepEqual([changed.passes, changed.diff], [false, [{ path: '[0].record.channel', after: 'BDC' }]]);
  const [broken] = await check('map: { nothing: agent }\n');
  assert.equal(broken.passes, false);
  assert.match(broken.message, /nothing/);
  const apply = (more: object) => {
    const text = hotelConnector('map: { channel: agent }\n');
    return node.call('PUT', '/documents/connector/hotel', admin, { text, ...more } as Json);
  };
  const refused = await apply({});
  assert.equal(refused.status, 409);
  assert.equal(refused.body.code, 'documents.case_changed');
  assert.deepEqual(refused.body.cases, [{ name: 'first', message: null, differences: 1 }]);
  assert.ok(!JSON.stringify(refused.body).includes('BDC'), 'a problem carries no guest data');
  assert.equal((await apply({ accept_cases: true })).status, 200);
  assert.equal((await check('map: { channel: agent }\n'))[0].passes, true);
  assert.equal((await apply({})).status, 200);
  await writeFile(path.join(node.runtime.workspaceDir, 'connectors/hotel.yaml'), hotelConnector(''));
  const { env } = node;
  const command = (...more: string[]) => innbound(['apply', '-w', node.runtime.workspaceDir, ...more], { env });
  const { code, stderr } = await command();
  assert.notEqual(code, 0);
  assert.match(stderr, /1 kept case changes: first/);
  assert.equal((await check('map: { channel: agent }\n'))[0].passes, true);
  assert.equal((await command('--accept-cases')).code, 0);
  assert.equal((await check(''))[0].passes, true);
  await call('PUT', '/connectors/hotel/cases/other', {
    text: hotelConnector(''),
    sample: JSON.stringify({ reservations: [reservation('S2')] }),
  });
  await eraseGuest(node.runtime, { email: 'ana.s1@mail.example' }, 'test');
  assert.deepEqual(
    (await check('')).map(({ name }: { name: string }) => name),
    ['other'],
  );
  await call('DELETE', '/connectors/hotel/cases/other');
  assert.deepEqual(await check(''), []);
});

test('a starting service takes up no file while one changes a kept sample; a command is refused', async () => {
  const sample = JSON.stringify({ reservations: [reservation('S3', { agent: 'BDC' })] });
  await call('PUT', '/connectors/hotel/cases/kept', { text: hotelConnector(''), sample });
  const { workspaceDir } = node.runtime;
  const files = { connector: 'connectors/hotel.yaml', destination: 'destinations/lake.yaml' };
  const lake = await readFile(path.join(workspaceDir, files.destination), 'utf8');
  // A text that was never in force: an older one would wait for apply.
  await writeFile(path.join(workspaceDir, files.connector), hotelConnector('map: { channel: agent, source: agent }\n'));
  await writeFile(path.join(workspaceDir, files.destination), lake.replace('path: out', 'path: elsewhere'));
  const lines: { readonly level: number; readonly code?: string; readonly cases?: string }[] = [];
  const log = openLog('info', { write: (line) => void lines.push(JSON.parse(line)) });
  const start = async (purpose: 'service' | 'command') => {
    const runtime = await openRuntime({
      env: node.env,
      workspaceDir,
      purpose,
      describe: 'a second node',
      apply: 'always',
      log,
    });
    await runtime.close();
  };
  const inForce = async () => {
    const connector = await call('GET', '/documents/connector/hotel');
    const destination = await call('GET', '/documents/destination/lake');
    return [connector.source.includes('agent'), destination.source.includes('elsewhere')];
  };
  for (const _ of ['at the first start', 'and at the next one']) {
    await start('service');
    assert.deepEqual(await inForce(), [false, false]);
    const errors = lines.splice(0).filter(({ level }) => level >= 50);
    assert.deepEqual(
      errors.map(({ code, cases }) => [code, cases]),
      [['documents.case_changed', '1 kept case changes: kept']],
    );
  }
  await assert.rejects(start('command'), { code: 'documents.case_changed', message: /1 kept case changes: kept/ });
  await call('DELETE', '/connectors/hotel/cases/kept');
  await start('service');
  assert.deepEqual(await inForce(), [true, true]);
  assert.deepEqual(
    lines.filter(({ level }) => level >= 50),
    [],
  );
});

test('a preview takes the time zone and country of a property without a brand, and names what the mapping misses', async () => {
  const late = reservation('S1', { arrives: '2026-05-01T23:30:00Z' });
  const text = hotelConnector('map: { check_in: arrives, channel: agncy }\n');
  const sample = JSON.stringify({ reservations: [late, late] });
  const preview = (more: { timezone?: string; country?: string }) =>
    call('POST', '/map/preview', { connector: text, sample, ...more });
  const there = await preview({ timezone: 'Europe/Lisbon', country: 'PT' });
  assert.equal(there.records[0].record.check_in, '2026-05-02');
  assert.deepEqual(there.unmatched, [{ at: 'map.channel', path: 'agncy' }]);
  assert.deepEqual(there.repeated, [{ id: 'S1', times: 2 }]);
  assert.equal((await preview({})).records[0].record.check_in, '2026-05-01');
  assert.match((await preview({ timezone: 'Lisbon' })).problem.message, /timezone "Lisbon" is not an IANA time zone/);
});

test('a preview of a cancellation has the status that the event then gives', async () => {
  const { status: _, ...rest } = reservation('S8') as JsonObject;
  const data = { ...rest, reservation_id: 'S8' };
  for (const more of [{}, { status: 'no_show' }, { status: 'confirmed' }]) {
    const sent = { ...data, ...more };
    const sample = JSON.stringify({ event: 'reservation.cancelled', data: sent });
    const seen = await call('POST', '/map/preview', { connector: hotelConnector(''), sample, push: true });
    await node.send('grand', 'reservation.cancelled', sent);
    const { rows } = await node.runtime.pool.query(`select data ->> 'status' as status from records where id = 'S8'`);
    assert.equal(seen.records[0].record?.status, rows[0]?.status, JSON.stringify([more, seen.records]));
  }
});

test('a preview of an event reads the envelope of the connector', async () => {
  const { status: _, ...rest } = reservation('S9') as JsonObject;
  const envelope = 'event: kind, names: { reservation.cancelled: gone }, timestamp: false, brand: false, data: Value';
  const connector = hotelConnector(`push: { envelope: { each: Events, ${envelope} } }\n`);
  const sample = JSON.stringify({ Events: [{ kind: 'gone', Value: { ...rest, reservation_id: 'S9' } }] });
  const { records } = await call('POST', '/map/preview', { connector, sample, push: true });
  assert.deepEqual([records[0].id, records[0].record?.status], ['S9', 'cancelled']);
  const data = JSON.stringify(reservation('S9'));
  const alone = await call('POST', '/map/preview', { connector, sample: data, push: true });
  assert.equal(alone.records[0].record?.status, 'confirmed', 'the data alone is a sample too');
});

test('an API description becomes a proposed connector, with a reason per line', async () => {
  const description = readFileSync(
    new URL('../operations/descriptions/postman-duinhotel.json', import.meta.url),
    'utf8',
  );
  const made = await call('POST', '/import', { description, name: 'duinhotel' });
  assert.equal(made.format, 'Postman collection');
  assert.match(made.connector, /^connector: duinhotel$/m);
  assert.equal(made.integration.pull.auth.type, 'login');
  assert.equal(made.operations[0].operation, 'POST /api/reservations/search');
  const line = made.fields.find(({ field }: { field: string }) => field === 'check_in');
  assert.ok(line.confidence > 0.9 && line.reason !== '');
  const empty = await node.call('POST', '/import', operator, { description: '{}' });
  assert.equal(empty.status, 422);
  const sample = await node.call('POST', '/import', operator, { description, sample: 'no' });
  assert.match(sample.body.detail ?? '', /The sample is not JSON/);
});

test('validating a document reports warnings beside mistakes', async () => {
  const { source } = await call('GET', '/documents/integration/grand');
  const syncs = 'syncs: { stay: { every: 15m, range: [-200d, 0d] } }';
  const long = source.replace(/syncs:[^\n]*(?:\n {4,}[^\n]*)*/, syncs);
  const answer = await call('POST', '/documents/validate', { kind: 'integration', name: 'grand', text: long });
  assert.deepEqual([answer.valid, answer.mistakes], [true, []]);
  assert.match(answer.warnings[0].message, /means at least 29 requests at every poll/);
});
