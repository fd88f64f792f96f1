import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { plainPool, testDatabase } from '../support/database.ts';
import { innbound } from '../support/process.ts';
import { deliveredLines, hotelWorkspace } from './workspace.ts';

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** A partner with two reservations, each of one guest; the test changes their channel, and removes a guest there too. */
async function partner() {
  let channel = 'one';
  const guests = new Map([
    ['R1', { first_name: 'Ana', last_name: 'Reis', email: 'ana@guests.example' }],
    ['R2', { first_name: 'Bo', last_name: 'Lund', email: 'bo@guests.example' }],
  ]);
  const server = createServer((request, response) => {
    const isFirst = new URL(request.url ?? '/', 'http://partner').searchParams.get('offset') === '0';
    const reservations = [...guests].map(([id, guest]) => ({
      id,
      check_in: inDays(3),
      check_out: inDays(5),
      status: 'confirmed',
      channel,
      guests: [{ ...guest, is_primary: true }],
    }));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ reservations: isFirst ? reservations : [], total: 2 }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, say: (next: string) => (channel = next), close: () => server.close() };
}

test('a backup comes back whole in an outside database and in a new workspace, without guests erased since', async () => {
  const hotel = await partner();
  const { dir, remove } = await hotelWorkspace(hotel.url);
  const elsewhere = await mkdtemp(path.join(os.tmpdir(), 'innbound-restored-'));
  const db = await testDatabase({ empty: true });
  const pool = plainPool({ ...db.connection, options: '-c search_path=innbound_service' });
  const env = { DATABASE_URL: db.url };
  const [file, passphrase] = [path.join(dir, 'one.innbound'), path.join(dir, 'passphrase')];
  await writeFile(passphrase, 'correct horse battery staple\n');
  const run = (args: readonly string[], at = dir, more: Record<string, string> = env) =>
    innbound([...args, '-w', at, '--json'], { env: more });
  const ok = async (args: readonly string[], at = dir, more: Record<string, string> = env) => {
    const ran = await run(args, at, more);
    assert.equal(ran.code, 0, ran.stdout + ran.stderr);
    return ran.json()[0] ?? {};
  };
  const codeOf = async (args: readonly string[], at = dir, more: Record<string, string> = env) => {
    const ran = await run(args, at, more);
    assert.equal(ran.code, 1, ran.stdout);
    return (ran.json() as { error?: { code: string } }[])[0]?.error?.code;
  };
  const sealed = ['--passphrase-file', passphrase];
  const tables = async () => {
    const { rows } = await pool.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'innbound_service'::regnamespace and relkind in ('r', 'p')
          and not relispartition order by 1`,
    );
    const counts: Record<string, string> = {};
    for (const { name } of rows) {
      counts[name] = (
        await pool.query(`select md5(string_agg(t::text, '|' order by t::text)) as m from ${name} t`)
      ).rows[0].m;
    }
    return counts;
  };
  const holding = async (text: string) => {
    const { rows } = await pool.query(
      `select 'records' as place from records where data::text || coalesce(claims::text, '') like $1
       union select 'history' from history where concat(raw::text, diff::text) like $1`,
      [`%${text}%`],
    );
    return rows;
  };
  try {
    await ok(['sync', 'grand', '--type', 'pre_stay']);
    await ok(['endpoint', 'grand']);
    assert.equal(await codeOf(['backup', file]), 'store.passphrase');
    const before = await tables();
    await ok(['backup', file, ...sealed]);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const bare = path.join(dir, 'bare.innbound');
    const warned = await run(['backup', bare, '--without-key']);
    assert.match(warned.stderr, /not in the backup.*webhook secrets.*erased guests/s);

    hotel.say('two');
    await ok(['sync', 'grand', '--type', 'pre_stay']);
    await ok(['erase', '--email', 'bo@guests.example']);
    assert.deepEqual(await holding('bo@guests.example'), []);

    // Wrong files and targets are refused, and change nothing.
    const damaged = path.join(dir, 'damaged.innbound');
    await writeFile(damaged, (await readFile(file)).subarray(0, -40));
    const now = await tables();
    assert.equal(await codeOf(['restore', file, ...sealed]), 'store.not_empty');
    assert.equal(
      await codeOf(['restore', path.join(dir, 'innbound.yaml'), '--replace', ...sealed]),
      'store.backup_unreadable',
    );
    assert.equal(await codeOf(['restore', damaged, '--replace', ...sealed]), 'store.backup_altered');
    const { records, history, outbox } = await tables();
    assert.deepEqual({ records, history, outbox }, { records: now.records, history: now.history, outbox: now.outbox });

    const restored = await ok(['restore', file, '--replace', ...sealed]);
    assert.equal(restored.erased, 1);
    assert.ok(Number(restored.epoch) > 1);
    assert.deepEqual(await holding('bo@guests.example'), [], 'the erasure was repeated');
    assert.equal((await holding('ana@guests.example')).length, 2);
    const after = await tables();
    for (const table of ['endpoints', 'endpoint_secrets', 'documents', 'secrets', 'syncs']) {
      assert.equal(after[table], before[table], table);
    }
    const { rows } = await pool.query(
      `select id, version, data ->> 'channel' as channel from records where type = 'reservation' order by id`,
    );
    assert.deepEqual(rows, [
      { id: 'R1', version: 1, channel: 'one' },
      { id: 'R2', version: 2, channel: 'one' },
    ]);

    // The same file brings up an embedded server in a folder with nothing but the list of erasures.
    const list = path.join(dir, '.innbound', 'erasures.ndjson');
    assert.doesNotMatch(await readFile(list, 'utf8'), /bo@|Lund/);
    assert.equal(await codeOf(['restore', bare], elsewhere, {}), 'store.other_key');
    await writeFile(path.join(dir, 'wrong'), 'wrong');
    const wrong = ['restore', file, '--passphrase-file', path.join(dir, 'wrong')];
    assert.equal(await codeOf(wrong, elsewhere, {}), 'store.passphrase');
    const second = await ok(['restore', file, ...sealed, '--erasures', list], elsewhere, {});
    assert.equal(second.erased, 1);
    assert.deepEqual((second.files as string[]).toSorted(), [
      'connectors/hotel.yaml',
      'destinations/lake.yaml',
      'innbound.yaml',
      'integrations/grand.yaml',
    ]);
    hotel.say('three');
    await ok(['sync', 'grand', '--type', 'pre_stay'], elsewhere, {});
    await ok(['resend', 'lake'], elsewhere, {});
    const lines = await deliveredLines(path.join(elsewhere, 'out'));
    const sent = lines.filter(({ type, data }) => type === 'reservation' && data.id === 'R1');
    assert.deepEqual(
      [...new Set(sent.map(({ version }) => version))],
      [2],
      'the next change, with the epoch of the restore',
    );
    assert.ok(!JSON.stringify(lines).includes('bo@guests.example'), 'a poll does not bring the erased guest back');
    const keys = new Map(lines.map((line) => [`${line.type} ${line.data.id} ${line.version}`, line.idempotency_key]));
    assert.equal(new Set(lines.map((line) => line.idempotency_key)).size, keys.size);
  } finally {
    hotel.close();
    await pool.end();
    await remove();
    await rm(elsewhere, { recursive: true, force: true });
  }
});
