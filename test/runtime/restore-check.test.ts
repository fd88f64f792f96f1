import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { draftOf } from '../../src/kit/json-file.ts';
import type { Log } from '../../src/kit/log.ts';
import { followDocuments } from '../../src/runtime/follow-documents.ts';
import { openRestoreCheck } from '../../src/runtime/restore-check.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';
import { openStore, temporaryFolder } from '../deliver/support.ts';

/** A workspace folder in which the next write of one file finds no space: its draft is /dev/full. */
async function workspace(t: TestContext) {
  const { folder, remove } = await temporaryFolder();
  t.after(remove);
  const own = path.join(folder, '.innbound');
  await mkdir(own);
  const warnings: string[] = [];
  const warn = ({ error }: { error: string }, text: string) => warnings.push(`${error} ${text}`);
  const log = { warn, error: () => {} } as unknown as Log;
  const fill = (name: string) => symlink('/dev/full', draftOf(path.join(own, name)));
  return { folder, own, warnings, log, fill };
}

test('a full disk: a position of the store that cannot be written is reported once', async (t) => {
  const { folder, warnings, log, fill } = await workspace(t);
  const store = await openStore();
  t.after(() => store.close());
  await fill('store-position.json');
  const { check } = await openRestoreCheck(store.pool, folder, log);
  assert.match(warnings.join(), /^ENOSPC .*store-position\.json/);
  await fill('store-position.json');
  await check();
  assert.equal(warnings.length, 1, 'not again at every check');
  await check();
  await fill('store-position.json');
  await check();
  assert.equal(warnings.length, 2, 'but again after it worked in between');
});

test('checks that run at the same time report no failure, and the newest position stays', async (t) => {
  const { folder, own, warnings, log } = await workspace(t);
  const store = await openStore();
  t.after(() => store.close());
  const { check } = await openRestoreCheck(store.pool, folder, log);
  await Promise.all(Array.from({ length: 20 }, check));
  assert.deepEqual(warnings, []);
  assert.equal(JSON.parse(await readFile(path.join(own, 'store-position.json'), 'utf8')).beat, 21);
});

test('a position that cannot be compared is reported, unless the database is away', async () => {
  const failures = ['ECONNREFUSED', '42501'];
  const logged: string[] = [];
  const ended = Promise.withResolvers<void>();
  const runtime = {
    restoreCheck: {
      check: () => Promise.reject(Object.assign(new Error('refused for Ana Doe'), { code: failures.shift() })),
    },
    refresh: async () => false,
    active: () => ({ settings: { limits: {} } }),
    log: { error: ({ error }: { error: string }, text: string) => logged.push(`${error} ${text}`) },
    wake: {
      wait: async (_topic: string, _ms: number, signal: AbortSignal) => {
        if (failures.length > 0) return;
        ended.resolve();
        await once(signal, 'abort');
      },
    },
  };
  const loop = followDocuments(runtime as unknown as Runtime, () => {});
  await ended.promise;
  await loop.stop();
  assert.equal(logged.length, 1);
  assert.match(logged[0] ?? '', /^Error 42501 at .*a restore may go unnoticed/);
  assert.doesNotMatch(logged[0] ?? '', /Ana Doe/, 'a message may quote data');
});
