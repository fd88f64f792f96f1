import assert from 'node:assert/strict';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { loadWorkspace } from '../../src/core/documents/load.ts';
import { templateFiles } from '../../src/core/documents/template.ts';
import { folderWith } from './workspace-folder.ts';

test('init writes a workspace without mistakes', async (t) => {
  const files = await templateFiles();
  const dir = folderWith(t, Object.fromEntries(files.map(({ path, text }) => [path, text])));
  const result = await loadWorkspace(dir);
  assert(result.kind === 'ok', JSON.stringify(result));
  assert.deepEqual([...result.documents.integrations.keys()], ['lisbon-grand']);
  assert.deepEqual([...result.documents.destinations.keys()], ['archive', 'crm', 'warehouse']);
});

test('every document of the template names an existing schema for editors', async () => {
  const files = await templateFiles();
  const paths = new Set(files.map(({ path }) => path));
  const documents = files.filter(({ path }) => path.endsWith('.yaml'));
  assert(documents.length >= 6);
  for (const { path, text } of documents) {
    const schema = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text)?.[1] ?? '';
    assert(paths.has(normalize(join(dirname(path), schema))), `${path} points to ${schema}`);
  }
});

test('the template keeps the key and the database out of version control', async () => {
  const ignored = (await templateFiles()).find(({ path }) => path === '.gitignore');
  assert.match(ignored?.text ?? '', /^\.innbound\/$/m);
});
