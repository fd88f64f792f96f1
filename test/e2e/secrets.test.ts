import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { openRuntime } from '../../src/runtime/runtime.ts';
import { testDatabase } from '../support/database.ts';
import { innbound, serve } from '../support/process.ts';
import { hotelWorkspace } from './workspace.ts';

test('a credential typed into a document is sealed; no table holds it in plain text', async () => {
  const { dir, remove } = await hotelWorkspace('http://127.0.0.1:9');
  try {
    assert.equal((await innbound(['apply', '-w', dir])).code, 0);
    for (const own of ['innbound.key', 'innbound.hash_keys', 'typed_x']) {
      const set = await innbound(['secret', 'set', own, '-w', dir], { input: 'mine' });
      assert.match(set.stderr, /reserved for the service/, own);
    }
    const again = await innbound(['apply', '-w', dir, '--json']);
    assert.ok(
      again.json().every(({ change }) => change === 'same'),
      'applying again changes nothing',
    );
    const runtime = await openRuntime({ workspaceDir: dir, purpose: 'command', describe: 'test' });
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
  try {
    assert.equal((await innbound(['apply', '-w', dir], { env: { INNBOUND_KEY: 'a'.repeat(64) } })).code, 0);
    const other = await innbound(['apply', '-w', dir], { env: { INNBOUND_KEY: 'b'.repeat(64) } });
    assert.equal(other.code, 1);
    assert.match(other.stderr, /store\.other_key/);
  } finally {
    await remove();
  }
});

test('credentials in versions that an earlier Innbound stored are sealed at the next start', async () => {
  const { url: DATABASE_URL } = await testDatabase();
  const { dir, remove } = await hotelWorkspace('http://127.0.0.1:9');
  const env = { DATABASE_URL };
  const client = new pg.Client(`${DATABASE_URL}&options=-csearch_path%3Dinnbound_service`);
  await client.connect();
  try {
    assert.equal((await innbound(['apply', '-w', dir], { env })).code, 0);
    // As 0.1 stored them: plain text, in force and replaced; and one that today's schema refuses.
    const old = (extra: string) =>
      `integration: grand\nconnector: hotel\n${extra}pull: { auth: { type: bearer, token: "ol\\x64-secret" } }\n`;
    const body = { integration: 'grand', connector: 'hotel', pull: { auth: { type: 'bearer', token: 'old-secret' } } };
    for (const [version, extra] of [
      [7, ''],
      [8, 'no_such_key: 1\n'],
    ] as const) {
      await client.query(
        `insert into documents (kind, name, version, source, body, hash, applied_by) values ('integration', 'grand', $1, $2, $3, $4, 'test')`,
        [version, old(extra), JSON.stringify(body), `h${version}`],
      );
    }
    const node = await serve(dir, { env });
    await node.stop();
    const { rows } = await client.query<{ source: string; body: typeof body }>(
      `select source, body from documents where kind = 'integration' and name = 'grand' and version > 6 order by version`,
    );
    for (const row of rows) {
      assert.ok(
        !JSON.stringify(row).includes('secret"') && !/x64|old-secret/.test(JSON.stringify(row)),
        JSON.stringify(row),
      );
      assert.match(row.body.pull.auth.token, /^\$\{secret:typed_/);
      assert.match(row.source, /token: "\$\{secret:typed_/);
    }
    const { rows: left } = await client.query('select from documents where not sealed');
    assert.equal(left.length, 0);
  } finally {
    await client.end();
    await remove();
  }
});
