import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { keySource, openSecret, sealSecret } from '../../src/core/documents/keyring.ts';
import { InnboundError } from '../../src/errors.ts';
import { newKey } from '../../src/kit/crypto.ts';
import { folderWith } from './workspace-folder.ts';

const refusedAs = (code: string) => (error: unknown) => error instanceof InnboundError && error.code === code;

test('the first use writes a key that only its owner may read, and later uses find it', async (t) => {
  const dir = folderWith(t, {});
  const [first] = await keySource(dir, {}).read();
  const [second] = await keySource(dir, {}).read();
  assert.deepEqual(second, first);
  assert.equal(statSync(join(dir, '.innbound/key')).mode & 0o777, 0o600);
});

test('of many that start at once, all get the same key and nothing is left behind', async (t) => {
  const dir = folderWith(t, {});
  const rings = await Promise.all(Array.from({ length: 20 }, () => keySource(dir, {}).read()));
  assert.equal(new Set(rings.map(([key]) => key.id)).size, 1);
  assert.deepEqual(readdirSync(join(dir, '.innbound')), ['key']);
});

test('a key that others may read is refused, with what to do', async (t) => {
  const dir = folderWith(t, {});
  await keySource(dir, {}).read();
  for (const mode of [0o640, 0o604, 0o660]) {
    chmodSync(join(dir, '.innbound/key'), mode);
    await assert.rejects(keySource(dir, {}).read(), refusedAs('documents.key_exposed'));
  }
});

test('an invalid key is refused, and not overwritten', async (t) => {
  const dir = folderWith(t, { '.innbound/key': 'hunter2' });
  chmodSync(join(dir, '.innbound/key'), 0o600);
  await assert.rejects(keySource(dir, {}).read(), refusedAs('documents.key_malformed'));
  assert.equal(readFileSync(join(dir, '.innbound/key'), 'utf8'), 'hunter2');
  await assert.rejects(keySource(dir, { INNBOUND_KEY: 'hunter2' }).read(), refusedAs('documents.key_malformed'));
});

test('the environment wins over the file, and needs none', async (t) => {
  const dir = folderWith(t, {});
  const [key, old] = [newKey(), newKey()];
  const text = `${key.bytes.toString('base64')}, ${old.bytes.toString('hex')}`;
  assert.deepEqual(await keySource(dir, { INNBOUND_KEY: text }).read(), [key, old]);
  assert.deepEqual(readdirSync(dir), []);
});

test('a stored secret opens only under its own name', async (t) => {
  const ring = await keySource(folderWith(t, {}), {}).read();
  const sealed = sealSecret(ring, 'lisbon', 'töken');
  assert.equal(openSecret(ring, 'lisbon', sealed), 'töken');
  assert.throws(() => openSecret(ring, 'porto', sealed), refusedAs('documents.secret_sealed'));
  assert.throws(() => openSecret([newKey()], 'lisbon', sealed), refusedAs('documents.secret_sealed'));
});

test('a file that cannot be read does not count as missing', async (t) => {
  const dir = folderWith(t, {});
  writeFileSync(join(dir, '.innbound'), 'a file where the folder should be');
  await assert.rejects(keySource(dir, {}).read());
});
