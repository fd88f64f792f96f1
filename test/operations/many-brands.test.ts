import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { InnboundError } from '../../src/errors.ts';
import { addBrands } from '../../src/operator/operations/add-brands.ts';
import { previewMove } from '../../src/operator/operations/move-brand.ts';
import { previewExport } from '../../src/operator/operations/transfer-brand.ts';
import { applyWorkspace } from '../../src/runtime/in-force.ts';
import { readSoundDocuments } from '../../src/runtime/workspace-documents.ts';
import { type ApiNode, apiNode } from '../api/node.ts';
import { innbound } from '../support/process.ts';

const defaults = `defaults:
  connector: hotel
  timezone: Europe/Lisbon
  pull: { base_url: "http://127.0.0.1:3", auth: { type: bearer }, syncs: { stay: { every: 15m, range: [-1d, 0d] } } }
`;
const table = `integration,brand_id,pull.auth.token,rooms_available
north,N1,\${secret:north},40
south,S1,\${secret:south},
`;

let node: ApiNode;
let admin: string;
before(async () => {
  node = await apiNode('', {
    'integrations/chain.yaml': `group: chain\n${defaults}brands: chain.csv\n`,
    'integrations/chain.csv': table,
    'integrations/few.yaml': `group: few\n${defaults}brands:\n  - { integration: east, brand_id: E1, pull.auth.token: "\${secret:east}" } # the first\n`,
  });
  admin = await node.token('admin');
});
after(() => node.stop());

const file = (name: string) => path.join(node.runtime.workspaceDir, 'integrations', name);
const text = (name: string) => readFile(file(name), 'utf8');
const applied = () => applyWorkspace(node.runtime, () => readSoundDocuments(node.runtime.workspaceDir), 'test');

test('the brands of a list are ordinary integrations, with their group', async () => {
  const { body } = await node.call('GET', '/integrations', admin);
  const groups = body.items.map(({ name, group }: { name: string; group: string | null }) => [name, group]);
  assert.deepEqual(groups, [
    ['east', 'few'],
    ['grand', null],
    ['north', 'chain'],
    ['other', null],
    ['south', 'chain'],
  ]);
  assert.deepEqual(
    (await applied()).filter(({ change }) => change !== 'same'),
    [],
    'a second apply changes nothing',
  );
});

test('the groups, with the states of their brands', async () => {
  const { body } = await node.call('GET', '/groups', admin);
  assert.deepEqual(body.items, [
    { group: 'chain', brands: 2, states: { new: 2 }, waiting: 0, open_dead_letters: 0 },
    { group: 'few', brands: 1, states: { new: 1 }, waiting: 0, open_dead_letters: 0 },
  ]);
  const names = async (query: string) =>
    (await node.call('GET', `/integrations?${query}`, admin)).body.items.map(({ name }: { name: string }) => name);
  assert.deepEqual(await names('group=chain'), ['north', 'south']);
  assert.deepEqual(await names('group='), ['grand', 'other']);
  const limited = await node.token('viewer', ['east']);
  assert.deepEqual(
    (await node.call('GET', '/groups', limited)).body.items.map(({ group }: { group: string }) => group),
    ['few'],
  );
});

test('saving a listed brand gives it its own file, which counts from then on', async () => {
  const at = '/documents/integration/south';
  const { source, version } = (await node.call('GET', at, admin)).body;
  const edited = source.replace('Europe/Lisbon', 'Europe/Madrid');
  const answer = await node.call('PUT', at, admin, { text: edited, replaces: version });
  assert.deepEqual([answer.status, answer.body.file], [200, 'integrations/south.yaml'], JSON.stringify(answer.body));
  assert.equal(await text('chain.csv'), table, 'the list is as it was');
  const again = await applied();
  assert.deepEqual(
    again.filter(({ change }) => change !== 'same'),
    [],
  );
  assert.equal(node.runtime.active().integrations.get('south')?.body.timezone, 'Europe/Madrid');
  const { stdout } = await innbound(['validate', '-w', node.runtime.workspaceDir], { env: node.env });
  assert.match(
    stdout,
    /chain\.csv:3:1 integration: warning: has no effect: south has its own file integrations\/south\.yaml/,
  );
  await rm(file('south.yaml'));
  await applied();
});

test('a listed brand is removed, moved and exported by its list only', async () => {
  const removed = await node.call('DELETE', '/documents/integration/north', admin);
  assert.equal(removed.status, 409);
  assert.match(removed.body.detail, /north is a row of integrations\/chain\.yaml: remove it there/);
  const { obstacles } = await previewMove(node.runtime, 'grand', 'north');
  assert.ok(obstacles.includes('north is a row of integrations/chain.yaml: give it its own file'), `${obstacles}`);
  await assert.rejects(previewExport(node.runtime, 'north'), /north is a row of integrations\/chain\.yaml/);
});

test('an edit of a brand that is named as the list does not overwrite the list', async () => {
  const list = await text('few.yaml');
  await writeFile(file('few.yaml'), list.replace('integration: east', 'integration: few'));
  await applied();
  const at = '/documents/integration/few';
  const { source } = (await node.call('GET', at, admin)).body;
  const answer = await node.call('PUT', at, admin, { text: `${source}paused: true\n` });
  assert.deepEqual([answer.status, answer.body.file], [200, 'integrations/few-2.yaml'], JSON.stringify(answer.body));
  assert.match(await text('few.yaml'), /^group: few/);
  await rm(file('few-2.yaml'));
  await writeFile(file('few.yaml'), list);
  await applied();
});

test('a text that lists brands is not a document of the API', async () => {
  const listing = `group: more\n${defaults}brands:\n  - { integration: west, brand_id: W1 }\n`;
  const answer = await node.call('PUT', '/documents/integration/west', admin, { text: listing });
  assert.equal(answer.status, 422);
});

test('brand add appends to the table or to the list, in the form of each', async () => {
  const from = path.join(node.runtime.workspaceDir, 'new.csv');
  await writeFile(from, `integration;brand_id;pull.auth.token;rooms_available\nwest;W1;\${secret:west};7\n`);
  const { stdout, code } = await innbound(
    ['brand', 'add', 'chain', '--from', from, '-w', node.runtime.workspaceDir, '--json'],
    { env: node.env },
  );
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(stdout), { file: 'integrations/chain.csv', brands: ['west'] });
  assert.equal(await text('chain.csv'), `${table}west,W1,\${secret:west},7\n`);
  const inner = `integration,brand_id,pull.auth.token,rooms_available\ninner,I1,\${secret:inner},7\n`;
  await addBrands(node.runtime.workspaceDir, 'few', { file: 'inner.csv', text: inner });
  const list = await text('few.yaml');
  assert.match(
    list,
    /# the first\n {2}- \{ integration: inner, brand_id: I1, pull\.auth\.token: .*, rooms_available: 7 \}\n/,
  );
  const changes = (await applied())
    .filter(({ change }) => change !== 'same')
    .map(({ name, change }) => `${name} ${change}`);
  assert.deepEqual(changes.sort(), ['inner new', 'west new']);
});

test('brand add writes nothing if a brand has a mistake, and says where in its file', async () => {
  const before = await text('chain.csv');
  const add = (csv: string) => addBrands(node.runtime.workspaceDir, 'chain', { file: 'new.csv', text: csv });
  const wrong = 'integration,brand_id,timezone\nfresh,F1,Europe/Lisbn\nnorth,N2,Europe/Lisbon\n';
  await assert.rejects(add(wrong), (error: InnboundError) => {
    assert.match(error.message, /new\.csv:2:10 timezone: .*did you mean Europe\/Lisbon/);
    assert.match(error.message, /new\.csv:3:1 integration: .*already has the integration north/);
    return true;
  });
  const column = `integration,brand_id,pull.auth.token,country\nfresh,F1,\${secret:fresh},PT\n`;
  await assert.rejects(add(column), /chain\.csv has no column country/);
  await assert.rejects(
    addBrands(node.runtime.workspaceDir, 'none', { file: 'x', text: '' }),
    /known groups: chain, few/,
  );
  assert.equal(await text('chain.csv'), before);
});
