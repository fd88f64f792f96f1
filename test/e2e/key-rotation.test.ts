import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { signedHeaders } from '../../packages/sender/src/sign.ts';
import { openSecret, sealSecret } from '../../src/core/documents/keyring.ts';
import { type Key, newKey, parseKeys, seal } from '../../src/kit/crypto.ts';
import { openRuntime } from '../../src/operator/operations/open-runtime.ts';
import { testDatabase } from '../support/database.ts';
import { bin, innbound, serve, until } from '../support/process.ts';
import { deliveredLines, hotelWorkspace } from './workspace.ts';

const keysIn = async (dir: string) => parseKeys(await readFile(path.join(dir, '.innbound', 'key'), 'utf8')) ?? [];
const text = (key: Key) => key.bytes.toString('base64');

/** Every table and column in which the key's id occurs, as bytes. */
async function sealedWith(url: string, keyId: string): Promise<string[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const { rows } = await client.query<{ t: string; c: string; schema: string }>(
      `select table_schema as schema, table_name as t, column_name as c from information_schema.columns
        where data_type = 'bytea' and table_schema like 'innbound%'`,
    );
    assert.ok(rows.length > 5);
    const found: string[] = [];
    for (const { schema, t, c } of rows) {
      const { rowCount } = await client.query(
        `select from "${schema}"."${t}" where position($1::bytea in "${c}") > 0 limit 1`,
        [Buffer.from(keyId, 'hex')],
      );
      if (rowCount !== 0) found.push(`${t}.${c}`);
    }
    return found;
  } finally {
    await client.end();
  }
}

test('the key is rotated while a node runs: webhooks, secrets and erased guests keep working, the old key is refused', async (t) => {
  const { url: DATABASE_URL } = await testDatabase();
  const env = { DATABASE_URL };
  const { dir, remove } = await hotelWorkspace('http://127.0.0.1:9');
  t.after(remove);
  const node = await serve(dir, { env });
  t.after(() => node.stop());
  const at = (args: string[], more = {}) => innbound([...args, '-w', dir, '--json'], { env: { ...env, ...more } });
  const [endpoint = {}] = (await at(['endpoint', 'grand'])).json();
  assert.equal((await innbound(['secret', 'set', 'crm', '-w', dir], { env, input: 'hunter2' })).code, 0);
  const push = async (id: string, email: string) => {
    const body = JSON.stringify({
      event: 'reservation.created',
      event_id: `e-${id}-${email}`,
      brand_id: 'LIS01',
      timestamp: new Date().toISOString(),
      data: {
        reservation_id: id,
        status: 'confirmed',
        check_in: '2030-01-01',
        check_out: '2030-01-03',
        guests: [{ first_name: 'Ana', last_name: 'Reis', email }],
      },
    });
    const seconds = Math.floor(Date.now() / 1000);
    const answer = await fetch(`${node.url}/webhooks/${endpoint.endpoint_id}`, {
      method: 'POST',
      headers: signedHeaders(String(endpoint.secret), seconds, body),
      body,
    });
    assert.equal(answer.status, 202, await answer.text());
  };
  await push('R-1', 'ana@guests.example');
  await until('R-1 is stored', async () => (await deliveredLines(path.join(dir, 'out'))).length > 0);
  assert.equal((await at(['erase', '--email', 'ana@guests.example'])).code, 0);
  const [old] = await keysIn(dir);
  assert.ok(old);
  assert.notDeepEqual(await sealedWith(DATABASE_URL, old.id), []);

  const rotated = await at(['key', 'rotate']);
  assert.equal(rotated.code, 0, rotated.stderr);
  const [{ from, to, damaged } = {}] = rotated.json();
  const keys = await keysIn(dir);
  assert.deepEqual([from, damaged, keys.map(({ id }) => id)], [old.id, [], [to]]);
  assert.deepEqual(await sealedWith(DATABASE_URL, old.id), [], 'no stored value needs the old key');
  await until('the node has dropped the old key', async () => {
    const [{ nodes = [] } = {}] = (await at(['key', 'status'])).json() as { nodes?: { keys: string[] }[] }[];
    return nodes.length === 1 && nodes.every((one) => one.keys.join() === to);
  });

  const refused = await at(['secret', 'list'], { INNBOUND_KEY: text(old) });
  assert.equal(refused.code, 1);
  assert.match(refused.stdout, /store\.other_key.*was replaced/);

  // The running node still verifies signatures, and a guest erased before the rotation is still recognised.
  await push('R-2', 'ana@guests.example');
  await push('R-3', 'bea@guests.example');
  const lines = await until('R-2 and R-3 are delivered', async () => {
    const all = await deliveredLines(path.join(dir, 'out'));
    return all.some(({ data }) => data.id === 'R-2') && all.some(({ data }) => data.id === 'R-3') && all;
  });
  const after = JSON.stringify(lines.filter(({ data }) => data.id !== 'R-1'));
  assert.ok(!after.includes('ana@guests.example') && after.includes('bea@guests.example'));
  const again = await at(['apply']);
  assert.ok(
    again.json().every(({ change }) => change === 'same'),
    again.stdout,
  );

  const runtime = await openRuntime({
    env,
    workspaceDir: dir,
    purpose: 'command',
    describe: 'test',
    apply: 'never',
  });
  try {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference as documents write it
    const resolved = await runtime.resolve({ stored: '${secret:crm}' });
    assert.deepEqual(resolved, { kind: 'ok', body: { stored: 'hunter2' } });
    const late = runtime.pool.query(`insert into secrets (name, sealed) values ('late', $1)`, [
      sealSecret([old], 'late', 'value'),
    ]);
    await assert.rejects(late, /which was replaced/, 'a process that missed the rotation stores nothing');
  } finally {
    await runtime.close();
  }
});

test('a rotation that is killed leaves every value readable, and the next one continues it', async (t) => {
  const { url: DATABASE_URL } = await testDatabase();
  const env = { DATABASE_URL };
  const { dir, remove } = await hotelWorkspace('http://127.0.0.1:9');
  t.after(remove);
  assert.equal((await innbound(['apply', '-w', dir], { env })).code, 0);
  const [old] = await keysIn(dir);
  assert.ok(old);
  const client = new pg.Client(`${DATABASE_URL}&options=-csearch_path%3Dinnbound_service`);
  await client.connect();
  t.after(() => client.end());
  const names = Array.from({ length: 2000 }, (_, i) => `secret-${i}`);
  await client.query('insert into secrets (name, sealed) select * from unnest($1::text[], $2::bytea[])', [
    names,
    names.map((name) => sealSecret([old], name, `value of ${name}`)),
  ]);
  const readable = async () => {
    const ring = await keysIn(dir);
    const { rows } = await client.query<{ name: string; sealed: Buffer }>(
      `select name, sealed from secrets where name like 'secret-%'`,
    );
    assert.equal(rows.length, 2000);
    for (const { name, sealed } of rows) {
      assert.equal(openSecret(ring as [Key], name, sealed), `value of ${name}`);
    }
    return new Set(rows.map(({ sealed }) => sealed.toString('hex', 1, 9)));
  };
  const killedAt = async (mark: RegExp) => {
    const child = spawn(bin, ['key', 'rotate', '-w', dir], { env: { ...process.env, ...env }, detached: true });
    let said = '';
    const ended = once(child, 'close');
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (mark.test(said) && child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    });
    const [code, signal] = await ended;
    assert.equal(signal ?? code, 'SIGKILL', said);
  };
  await killedAt(/Changing from/);
  assert.equal((await readable()).size, 1);
  await killedAt(/\b[3-9]00 values/);
  assert.equal((await readable()).size, 2, 'it was killed in the middle');
  const pending = await keysIn(dir);
  assert.equal(pending.length, 2, 'the interrupted rotation made no third key');
  assert.equal((await innbound(['secret', 'list', '-w', dir], { env })).code, 0);

  const finished = await innbound(['key', 'rotate', '-w', dir, '--json'], { env });
  assert.equal(finished.code, 0, finished.stderr);
  assert.deepEqual([...(await readable())], [pending[0]?.id]);
  assert.deepEqual(await keysIn(dir), [pending[0]]);
  const kept = await readFile(path.join(dir, '.innbound', `key.retired-${old.id}`), 'utf8');
  assert.equal(kept.trim(), text(old), 'backups from before still need it');
});

test('keys from the environment, a file or a command: nothing changes before every node has the new one', async (t) => {
  const { url: DATABASE_URL } = await testDatabase();
  const { dir, remove } = await hotelWorkspace('http://127.0.0.1:9');
  t.after(remove);
  const [old, next] = [newKey(), newKey()];
  const file = path.join(dir, 'node.key');
  await writeFile(file, text(old), { mode: 0o600 });
  const rotate = (env: Record<string, string>) =>
    innbound(['key', 'rotate', '-w', dir, '--json', '--wait', '1'], { env: { DATABASE_URL, ...env } });
  const node = await serve(dir, { env: { DATABASE_URL, INNBOUND_KEY_COMMAND: `cat ${file}` } });
  t.after(() => node.stop());

  const alone = await rotate({ INNBOUND_KEY: text(old) });
  assert.match(alone.stdout, /store\.no_new_key/);
  const early = await rotate({ INNBOUND_KEY: `${text(next)},${text(old)}` });
  assert.equal(early.code, 1);
  assert.match(early.stdout, /store\.key_not_distributed/);
  assert.deepEqual(await sealedWith(DATABASE_URL, next.id), []);

  await writeFile(file, `${text(next)}\n${text(old)}\n`);
  const done = await innbound(['key', 'rotate', '-w', dir, '--json'], {
    env: { DATABASE_URL, INNBOUND_KEY_FILE: file },
  });
  assert.equal(done.code, 0, done.stdout + done.stderr);
  assert.deepEqual(await sealedWith(DATABASE_URL, old.id), []);
  const back = await rotate({ INNBOUND_KEY: `${text(old)},${text(next)}` });
  assert.match(back.stdout, /cannot be used again/);

  const failing = await innbound(['key', 'status', '-w', dir], {
    env: { DATABASE_URL, INNBOUND_KEY_COMMAND: `cat ${file}; echo "${text(next)}" >&2; exit 3` },
  });
  assert.match(failing.stderr, /documents\.key_unreadable.*exit code 3/);
  assert.ok(!failing.stderr.includes(text(next)), 'no key is printed');
});

test('a node that does not get the new key stops and says why', async (t) => {
  const { url: DATABASE_URL } = await testDatabase();
  const { dir, remove } = await hotelWorkspace('http://127.0.0.1:9');
  t.after(remove);
  const [old, next] = [newKey(), newKey()];
  const node = await serve(dir, { env: { DATABASE_URL, INNBOUND_KEY: text(old) } });
  const client = new pg.Client(`${DATABASE_URL}&options=-csearch_path%3Dinnbound_service`);
  await client.connect();
  t.after(() => client.end());
  const exit = once(node.child, 'exit');
  await client.query(`update secrets set sealed = $1 where name = 'innbound.key'`, [
    seal([next], 'mark', 'innbound.key'),
  ]);
  await client.query(`select pg_notify('innbound', 'keys')`);
  const [code] = await exit;
  assert.notEqual(code, 0);
  assert.match(node.stderr(), /store\.other_key/);
});
