import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { resolveSecrets, secretFiles } from '../../src/core/documents/secret-reference.ts';

let root: string;
before(async () => {
  root = await realpath(await mkdtemp(path.join(os.tmpdir(), 'innbound-files-')));
  const put = async (file: string) => {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), `content of ${file}`);
  };
  await put('workspace/secrets/key');
  await put('workspace/.innbound/key');
  await put('mounted/..data/token');
  await put('elsewhere/token');
  await symlink('..data/token', path.join(root, 'mounted/token'));
  await symlink(path.join(root, 'elsewhere/token'), path.join(root, 'workspace/secrets/out'));
  await symlink(path.join(root, 'workspace/.innbound'), path.join(root, 'workspace/secrets/hidden'));
});
after(() => rm(root, { recursive: true, force: true }));

test('files are read from the workspace and the named folders, wherever a link leads', async () => {
  const read = secretFiles(path.join(root, 'workspace'), {
    INNBOUND_SECRET_FOLDERS: `${root}/nothing${path.delimiter}${root}/mounted`,
  });
  assert.equal(await read('secrets/key'), 'content of workspace/secrets/key');
  assert.equal(await read(`${root}/mounted/token`), 'content of mounted/..data/token');
});

test('nothing else is read: other folders, links out, the key, the process itself', async () => {
  const read = secretFiles(path.join(root, 'workspace'), {});
  for (const file of [
    '.innbound/key',
    `${root}/workspace/.innbound/key`,
    'secrets/../.innbound/key',
    'secrets/hidden/key',
    'secrets/out',
    '../elsewhere/token',
    `${root}/elsewhere/token`,
    `${root}/mounted/token`,
    '/etc/hostname',
    '/proc/self/environ',
    `${root}/workspace`,
    '/run/secrets/../../etc/hostname',
  ]) {
    assert.equal(await read(file), undefined, file);
  }
  const sibling = secretFiles(path.join(root, 'els'), { INNBOUND_SECRET_FOLDERS: path.join(root, 'else') });
  assert.equal(await sibling(`${root}/elsewhere/token`), undefined);
});

test('the file that holds the key of the store is not read for a document', async () => {
  const env = { INNBOUND_SECRET_FOLDERS: path.join(root, 'mounted'), INNBOUND_KEY_FILE: `${root}/mounted/token` };
  const read = secretFiles(path.join(root, 'workspace'), env);
  for (const file of [`${root}/mounted/token`, `${root}/mounted/..data/token`]) {
    assert.equal(await read(file), undefined, file);
  }
});

test('the keys of the store cannot be read as variables', async () => {
  const env = { INNBOUND_KEY: 'key', OTHER: 'fine' };
  const sources = { env, readFile: async () => undefined, secret: async () => undefined };
  assert.equal((await resolveSecrets({ a: '$' + '{env:INNBOUND_KEY}' }, sources)).kind, 'missing');
  assert.equal((await resolveSecrets({ a: '$' + '{env:OTHER}' }, sources)).kind, 'ok');
});
