import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openRuntime } from '../../src/operator/operations/open-runtime.ts';
import { testDatabase } from '../support/database.ts';
import { innbound } from '../support/process.ts';
import { hotelWorkspace } from './workspace.ts';

test('a credential typed into a document is sealed; no table holds it in plain text', async () => {
  const { dir, remove } = await hotelWorkspace('http://127.0.0.1:9');
  const env = { DATABASE_URL: (await testDatabase()).url };
  try {
    assert.equal((await innbound(['apply', '-w', dir], { env })).code, 0);
    for (const own of ['innbound.key', 'innbound.hash_keys', 'typed_x']) {
      const set = await innbound(['secret', 'set', own, '-w', dir], { env, input: 'mine' });
      assert.match(set.stderr, /reserved for the service/, own);
    }
    const again = await innbound(['apply', '-w', dir, '--json'], { env });
    assert.ok(
      again.json().every(({ change }) => change === 'same'),
      'applying again changes nothing',
    );
    const runtime = await openRuntime({ workspaceDir: dir, purpose: 'command', describe: 'test', env });
    try {
      const { rows } = await runtime.pool.query<{ dump: string }>(
        `select string_agg(d::text, ' ') as dump from documents d`,
      );
      assert.ok(rows[0]?.dump.includes('secret:typed_'));
      assert.ok(!rows[0]?.dump.includes('letmein'), 'the token is not in the documents');
      const auth = runtime.active().integrations.get('grand')?.body.pull?.auth;
      const resolved = await runtime.resolve(auth);
      assert.deepEqual(resolved, { kind: 'ok', body: { type: 'bearer', token: 'letmein' } });
    } finally {
      await runtime.close();
    }
  } finally {
    await remove();
  }
});

test('refuses a node whose key differs from the one that the database was created with', async () => {
  const { dir, remove } = await hotelWorkspace('http://127.0.0.1:9');
  const { url } = await testDatabase();
  const apply = (key: string) =>
    innbound(['apply', '-w', dir], { env: { DATABASE_URL: url, INNBOUND_KEY: key.repeat(64) } });
  try {
    assert.equal((await apply('a')).code, 0);
    const other = await apply('b');
    assert.equal(other.code, 1);
    assert.match(other.stderr, /store\.other_key/);
  } finally {
    await remove();
  }
});
