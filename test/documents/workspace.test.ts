import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadDestinationTypes } from '../../src/core/deliver/destinations.ts';
import type { CheckResult } from '../../src/core/documents/check.ts';
import { loadWorkspace } from '../../src/core/documents/load.ts';
import { InnboundError } from '../../src/errors.ts';
import { connector, destination, folderWith, integration, sound } from './workspace-folder.ts';

function lines(result: CheckResult): string[] {
  if (result.kind === 'ok') return [];
  return result.mistakes.map(
    ({ file, line, column, path, message }) => `${file}:${line}:${column} ${path}: ${message}`,
  );
}

test('five mistakes in three files are named at once, each with its place', async (t) => {
  const dir = folderWith(t, {
    'connectors/acme-pms.yaml': connector.replace('path:', 'paht:').replace('{window.to}', '{window.till}'),
    'integrations/lisbon-grand.yaml': integration.replace('15m', '10m').replace('[archive]', '[archiv]'),
    'destinations/archive.yaml': destination.replace('files', 'flies'),
  });
  const types = [...(await loadDestinationTypes()).keys()].sort();
  assert.deepEqual(lines(await loadWorkspace(dir)), [
    'connectors/acme-pms.yaml:4:5 pull.request.paht: unknown key paht; did you mean path?',
    'connectors/acme-pms.yaml:5:50 pull.request.query.dateTo: {window.till} is not a placeholder here; did you mean {window.to}?',
    `destinations/archive.yaml:2:7 type: must be one of ${types.join(', ')}; did you mean files?`,
    'integrations/lisbon-grand.yaml:9:20 pull.syncs.stay.every: must be from 15m to 60m; did you mean 15m?',
    'integrations/lisbon-grand.yaml:10:11 deliver[0]: no destination is named archiv; did you mean archive?',
  ]);
});

test('a sound workspace is loaded with its defaults filled in', async (t) => {
  const result = await loadWorkspace(folderWith(t, sound));
  assert(result.kind === 'ok');
  const { connectors, integrations, destinations, workspace } = result.documents;
  assert.deepEqual(
    [...connectors.keys(), ...integrations.keys(), ...destinations.keys()],
    ['acme-pms', 'lisbon-grand', 'archive'],
  );
  assert.equal(workspace.body.retention.raw, '30d');
  assert.equal(workspace.body.network.allow_private, false);
  const loaded = integrations.get('lisbon-grand');
  assert.equal(loaded?.file, 'integrations/lisbon-grand.yaml');
  assert.equal(loaded.source, integration);
  assert.equal(loaded.shipped, false);
  assert.equal(loaded.body.pull?.timeouts.total, '2m');
  assert.equal(loaded.body.push.enabled, false);
});

test('the hash follows the content, not the layout', async (t) => {
  const hashOf = async (text: string) => {
    const result = await loadWorkspace(folderWith(t, { ...sound, 'integrations/lisbon-grand.yaml': text }));
    assert(result.kind === 'ok');
    return result.documents.integrations.get('lisbon-grand')?.hash;
  };
  const hash = await hashOf(integration);
  assert.equal(await hashOf(`# a comment\n${integration.replace('LIS01', '"LIS01"')}paused: false\n`), hash);
  assert.notEqual(await hashOf(integration.replace('LIS01', 'LIS02')), hash);
});

test('a connector may have its own folder, and documents may end in .yml', async (t) => {
  const dir = folderWith(t, {
    'connectors/acme-pms/connector.yaml': connector,
    'connectors/acme-pms/cases/one.yaml': 'not: a document',
    'connectors/README.md': 'not yaml',
    'connectors/.acme-pms.yaml.swp': 'left behind',
    'integrations/lisbon-grand.yml': integration,
    'destinations/archive.yaml': destination,
  });
  assert.equal((await loadWorkspace(dir)).kind, 'ok');
});

test('shipped connectors are available, parsed where a brand names them, and one of the same name in the workspace replaces it', async (t) => {
  const shipped = folderWith(t, {
    'acme-pms/connector.yaml': `${connector}title: shipped\n`,
    'other/connector.yaml': 'not: [a connector',
  });
  const load = async (files: Record<string, string>) => {
    const result = await loadWorkspace(folderWith(t, files), { shippedConnectorsDir: shipped });
    assert(result.kind === 'ok', lines(result).join('\n'));
    return result.documents.connectors;
  };
  const { 'connectors/acme-pms.yaml': own, ...without } = sound;
  const alone = await load(without);
  assert.equal(alone.get('acme-pms')?.shipped, true);
  assert.equal(alone.get('other'), undefined, 'nobody names it');
  const replaced = await load({ ...without, 'connectors/mine.yaml': own });
  assert.equal(replaced.get('acme-pms')?.shipped, false);
  assert.equal(replaced.get('acme-pms')?.body.title, undefined);
  assert.equal((await load(without)).get('acme-pms'), alone.get('acme-pms'), 'it is parsed once');
});

test('a name may be given once, whatever the file is called', async (t) => {
  const dir = folderWith(t, {
    ...sound,
    'destinations/copy.yaml': destination,
    'innbound.yaml': '',
    'innbound.yml': '',
  });
  assert.deepEqual(lines(await loadWorkspace(dir)), [
    'destinations/copy.yaml:1:14 destination: destinations/archive.yaml already has the destination archive',
    'innbound.yml:1:1 : the workspace already has innbound.yaml',
  ]);
});

test('references to unknown documents are reported, with the known names', async (t) => {
  const dir = folderWith(t, {
    'integrations/a.yaml': integration,
    'destinations/b.yaml': destination.replace('archive', 'lake'),
  });
  assert.deepEqual(lines(await loadWorkspace(dir)), [
    'integrations/a.yaml:2:12 connector: no connector is named acme-pms; there is none',
    'integrations/a.yaml:10:11 deliver[0]: no destination is named archive; there are lake',
  ]);
});

test('other documents may refer to a document with mistakes', async (t) => {
  const dir = folderWith(t, {
    'connectors/acme-pms.yaml': connector.replace('acme-pms', 'acme-pms\ncolour: red'),
    'integrations/lisbon-grand.yaml': integration,
    'destinations/archive.yaml': 'destination: [archive\ntype: files\n',
  });
  const found = lines(await loadWorkspace(dir)).map((line) => line.split(':')[0]);
  assert.deepEqual([...new Set(found)], ['connectors/acme-pms.yaml', 'destinations/archive.yaml']);
});

test('an integration cannot poll through a connector that only pushes', async (t) => {
  const dir = folderWith(t, { ...sound, 'connectors/acme-pms.yaml': 'connector: acme-pms\n' });
  assert.deepEqual(lines(await loadWorkspace(dir)), [
    'integrations/lisbon-grand.yaml:5:1 pull: the connector acme-pms has no pull section, so it cannot be polled',
  ]);
});

test('an unreadable file is reported as a mistake', async (t) => {
  const dir = folderWith(t, { ...sound, 'destinations/latin.yaml': Buffer.from('destination: caf\xe9\n', 'latin1') });
  assert.deepEqual(lines(await loadWorkspace(dir)), ['destinations/latin.yaml:1:1 : the file is not UTF-8']);
});

test('links are followed, because mounted folders consist of them', async (t) => {
  const dir = folderWith(t, { ...sound, 'elsewhere/second.yaml': destination.replace('archive', 'second') });
  symlinkSync(join(dir, 'elsewhere/second.yaml'), join(dir, 'destinations/second.yaml'));
  const result = await loadWorkspace(dir);
  assert(result.kind === 'ok');
  assert.deepEqual([...result.documents.destinations.keys()], ['archive', 'second']);
});

test('a folder that is not a workspace is refused by name', async (t) => {
  const dir = folderWith(t, { 'README.md': 'nothing' });
  for (const folder of [dir, join(dir, 'missing')]) {
    await assert.rejects(
      loadWorkspace(folder),
      (error) => error instanceof InnboundError && error.code === 'documents.no_workspace',
    );
  }
});
