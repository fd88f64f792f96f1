import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { readDocuments } from '../../src/runtime/workspace-documents.ts';

test('a wrong time zone or an unknown connector does not hide mistakes in rules, filters or mappings', async (t) => {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-mistakes-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const write = async (file: string, lines: readonly string[]) => {
    await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
    await writeFile(path.join(dir, file), `${lines.join('\n')}\n`);
  };
  await write('connectors/desk.yaml', [
    'connector: desk',
    'map:',
    '  channel: "a["',
    'pull:',
    '  request: { path: /r, query: { from: "{window.from}", to: "{window.to}" } }',
    '  single: { path: "/r/{id}", map: { channel: "b[" } }',
  ]);
  await write('integrations/grand.yaml', [
    'integration: grand',
    'connector: desc',
    'brand_id: LIS01',
    'timezone: Europe/Lisbonn',
    'transforms:',
    `  - when: 'chanel == "BDC"'`,
    `    set: { sorce: '"OTA"' }`,
  ]);
  await write('destinations/lake.yaml', ['destination: lake', 'type: files', 'path: out', `filter: 'status = "x"'`]);
  await write('destinations/mail.yaml', [
    'destination: mail',
    'type: files',
    'path: mail',
    'receives: [reservation, guest]',
    `filter: 'status != "other"'`,
  ]);
  const loaded = await readDocuments(dir);
  assert.equal(loaded.kind, 'invalid');
  if (loaded.kind !== 'invalid') return;
  assert.deepEqual(
    loaded.mistakes.map(({ file, line }) => `${file}:${line}`),
    [
      'connectors/desk.yaml:3',
      'connectors/desk.yaml:6',
      'destinations/lake.yaml:4',
      'destinations/mail.yaml:5',
      'integrations/grand.yaml:2',
      'integrations/grand.yaml:4',
      'integrations/grand.yaml:6',
      'integrations/grand.yaml:7',
    ],
  );
  const ruled = loaded.mistakes.find(({ line, file }) => file.endsWith('grand.yaml') && line === 6);
  assert.equal(ruled?.message, 'There is no variable chanel; did you mean channel?');
  const filtered = loaded.mistakes.find(({ file }) => file.endsWith('mail.yaml'));
  assert.match(
    filtered?.message ?? '',
    /^receives includes guest, to which the filter applies too: There is no variable status\./,
  );
});
