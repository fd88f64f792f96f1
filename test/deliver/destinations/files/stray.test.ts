import assert from 'node:assert/strict';
import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { readyDestination } from '../../../../src/composition/deliver.ts';
import { loadDestinationTypes } from '../../../../src/core/deliver/destinations.ts';
import { sealSecret } from '../../../../src/core/documents/keyring.ts';
import { putSecret } from '../../../../src/core/store/documents/secrets.ts';
import { applyDocument } from '../../../../src/operator/operations/edit-documents.ts';
import { openRuntime } from '../../../../src/operator/operations/open-runtime.ts';
import type { Runtime } from '../../../../src/runtime/runtime.ts';
import type { DestinationName } from '../../../../src/terms.ts';
import { testDatabase } from '../../../support/database.ts';

/** A folder that a stored secret names: its value is checked where it is used. */
let dir: string;
let runtime: Runtime;
before(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-stray-'));
  await mkdir(path.join(dir, 'integrations'));
  await writeFile(path.join(dir, 'innbound.yaml'), '{}\n');
  const env = { DATABASE_URL: (await testDatabase()).url };
  runtime = await openRuntime({ workspaceDir: dir, purpose: 'command', describe: 'test', env });
});
after(async () => {
  await runtime.close();
  await rm(dir, { recursive: true, force: true });
});

test('a secret cannot name a folder outside the workspace, nor that of the key', async () => {
  const { pool, keyring } = runtime;
  const text = `destination: lake\ntype: files\npath: "\${secret:folder}/lake"\n`;
  await applyDocument(runtime, { kind: 'destination', name: 'lake', text }, 'test');
  const types = await loadDestinationTypes();
  const about = {
    name: 'lake' as DestinationName,
    type: 'files',
    settings: { path: `\${secret:folder}/lake` },
  };
  for (const value of ['/', os.tmpdir(), '..', 'a/../..', '.innbound', '.INNBOUND', './.Innbound', '.inn\u200dbound']) {
    await putSecret(pool, 'folder', sealSecret(keyring, 'folder', value));
    await assert.rejects(readyDestination(runtime, types, about), /outside the workspace/, value);
  }
  await assert.rejects(access(path.join(dir, '.innbound', 'lake')));
  const warehouse = { name: about.name, type: 'postgres', settings: { url: `\${secret:warehouse}` } };
  const settings = { servers: ['nats.example'], subject: 's', credentials: { file: `a/\${secret:warehouse}` } };
  const bus = { name: about.name, type: 'nats', settings };
  const address = 'postgres://u@db.example/x?sslmode=verify-full&ssl';
  for (const [destination, value, says] of [
    [warehouse, `${address}rootcert=/dev/zero`, /url: it names a path outside the workspace/],
    [warehouse, `${address}\t%72ootcert=/dev/zero&x=\${secret:x}`, /url: it names a path outside the workspace/],
    [warehouse, 'not an address', /url: its value does not fit/],
    [bus, '../../etc/key', /credentials\.file: it names a path outside the workspace/],
  ] as const) {
    await putSecret(pool, 'warehouse', sealSecret(keyring, 'warehouse', value));
    await assert.rejects(readyDestination(runtime, types, destination), says, value);
  }
  await putSecret(pool, 'folder', sealSecret(keyring, 'folder', 'out'));
  const ready = await readyDestination(runtime, types, about);
  assert.equal((ready.settings as { path: string }).path, 'out/lake');
});
