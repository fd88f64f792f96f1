import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { read } from '../../src/core/pipeline.ts';
import { raiseEpoch } from '../../src/core/store/db/epoch.ts';
import { dropPartitions, partitions } from '../../src/core/store/db/partitions.ts';
import { type Tx, transaction } from '../../src/core/store/db/pool.ts';
import { ingest as takeStatements } from '../../src/core/store/records/ingest.ts';
import { eraseGuest } from '../../src/operator/operations/erase-guest.ts';
import { rotateKey } from '../../src/operator/operations/rotate-key.ts';
import { createSession } from '../../src/operator/operations/tokens.ts';
import { revokeToken } from '../../src/operator/store/tokens.ts';
import type { Json } from '../../src/terms.ts';
import { until } from '../support/process.ts';
import { type ApiNode, apiNode, reservation } from './node.ts';

interface Change {
  readonly type: string;
  readonly integration: string;
  readonly version: number;
  readonly event: string;
  readonly idempotency_key: string;
  readonly data: { readonly id: string; readonly channel?: string };
}

let node: ApiNode;
let feed: string;
before(async () => {
  node = await apiNode();
  feed = await node.token('feed');
});
after(() => node.stop());

const ask = (query: string, token = feed) => node.call('GET', `/changes?${query}`, token);
const named = (changes: readonly Change[]) => changes.map(({ data, version }) => `${data.id} ${version}`);
const nowCursor = async (token = feed): Promise<string> => (await ask('after=now', token)).body.cursor;

/** Stores reservations and waits until the feed shows them: transactions of other databases on the same server delay it too. */
async function take(integration: string, ...reservations: Json[]): Promise<void> {
  await node.take(integration, ...reservations);
  const { rows } = await node.runtime.pool.query<{ last: number }>(
    'select max(entry_id) as last from history where diff is not null',
  );
  await until('the feed has caught up', async () => {
    const { body } = await ask('after=now');
    return Number(String(body.cursor).split('.')[1]) >= (rows[0]?.last ?? 0);
  });
}

/** Reads until nothing is left. */
async function readOn(cursor: string, token = feed): Promise<{ changes: Change[]; cursor: string }> {
  const changes: Change[] = [];
  let at = cursor;
  for (;;) {
    const { body } = await ask(`limit=3&after=${at}`, token);
    changes.push(...body.changes);
    at = body.cursor;
    if (!body.more) return { changes, cursor: at };
  }
}

/** Stores reservations in a transaction that the test ends. */
async function takeIn(tx: Tx, ...reservations: Json[]): Promise<void> {
  const integration = node.runtime.active().integrations.get('grand');
  assert.ok(integration);
  const found = integration.shapers.pull.records({ reservations });
  assert.equal(found.kind, 'ok');
  const arrival = { mode: 'pull', effectiveAt: Date.now(), cause: 'run', causeId: 'run_test' } as const;
  const statements = found.kind === 'ok' ? found.records.map((raw) => read(integration, raw, arrival)) : [];
  await takeStatements(tx, integration, statements);
}

/** A transaction that commits when the test says so. */
async function openTransaction(work: (tx: Tx) => Promise<void>): Promise<{ commit(): Promise<void> }> {
  const gate = Promise.withResolvers<void>();
  const ready = Promise.withResolvers<void>();
  const done = transaction(node.runtime.pool, async (tx) => {
    await work(tx);
    ready.resolve();
    await gate.promise;
  });
  await Promise.race([ready.promise, done]);
  return {
    commit: async () => {
      gate.resolve();
      await done;
    },
  };
}

test('every version is in the feed, in order, and a cursor continues where the last page ended', async () => {
  const start = await nowCursor();
  await take('grand', reservation('P1'), reservation('P2'));
  await take('grand', reservation('P1', { channel: 'web' }));
  await take('other', reservation('P1'));
  const first = await ask(`limit=2&after=${start}`);
  assert.deepEqual(named(first.body.changes), ['P1 1', 'P2 1']);
  assert.equal(first.body.more, true);
  const [one] = first.body.changes;
  assert.deepEqual(Object.keys(one).sort(), [
    'brand_id',
    'changed_at',
    'data',
    'event',
    'idempotency_key',
    'integration',
    'type',
    'version',
  ]);
  assert.equal(one.data.total_amount, 310.5);
  assert.equal(one.data.guests[0].email, 'ana.p1@mail.example');
  const rest = await ask(`limit=2&after=${first.body.cursor}`);
  assert.deepEqual(named(rest.body.changes), ['P1 2', 'P1 1']);
  assert.deepEqual((await ask(`limit=2&after=${first.body.cursor}`)).body.changes, rest.body.changes);
  const end = await ask(`after=${rest.body.cursor}`);
  assert.deepEqual([end.body.changes, end.body.more], [[], false]);
  const whole = await ask('limit=500');
  assert.deepEqual(named(whole.body.changes.slice(-4)), ['P1 1', 'P2 1', 'P1 2', 'P1 1']);
});

test('filters by integration and type, and a token sees only its brands', async () => {
  const start = await nowCursor();
  await take('grand', reservation('S1'));
  await take('other', reservation('S2'));
  const limited = await node.token('feed', ['other']);
  assert.deepEqual(named((await readOn(start, limited)).changes), ['S2 1']);
  assert.equal((await ask('integration=grand', limited)).status, 404);
  assert.deepEqual(named((await ask('integration=other&limit=500', limited)).body.changes).slice(-1), ['S2 1']);
  assert.deepEqual((await ask('type=guest', limited)).body.changes, []);
});

test('the role feed reads the feed and nothing else', async () => {
  for (const at of ['/runs', '/reservations?q=P1', '/session', '/overview', '/tokens']) {
    assert.equal((await node.call('GET', at, feed)).status, 403, at);
  }
  assert.equal((await ask('', await node.token('viewer'))).status, 403);
  assert.equal((await ask('', await node.token('operator'))).status, 200);
  assert.equal(await createSession(node.runtime, feed), undefined);
  assert.equal((await node.call('POST', '/session', undefined, { token: feed })).status, 401);
});

test('a made-up cursor is refused, and so is one from other filters', async () => {
  const cursor = await nowCursor();
  const [epoch, position, second, signature] = cursor.split('.');
  const forged = [
    'x',
    '0',
    `${epoch}.${position}.${second}`,
    `${epoch}.1.${second}.${signature}`,
    `2.${position}.${second}.${signature}`,
    `${epoch}.${position}.9${second}.${signature}`,
    `${epoch}.${position}.${second}.${'A'.repeat(22)}`,
    `${epoch}.99999999999999999999.${second}.${signature}`,
  ];
  for (const after of forged) {
    const { status, body } = await ask(`after=${after}`);
    assert.deepEqual([status, body.code], [400, 'operate.bad_request'], after);
  }
  assert.equal((await ask(`after=${cursor}&type=guest`)).status, 400);
  assert.equal((await ask(`after=${'x'.repeat(300)}`)).status, 422);
});

test('a change that commits late is neither skipped nor overtaken', async () => {
  const start = await nowCursor();
  const slow = await openTransaction((tx) => takeIn(tx, reservation('L1')));
  await node.take('grand', reservation('L2'));
  const early = await ask(`after=${start}`);
  assert.deepEqual(early.body.changes, [], 'L1 has the smaller number and is not visible yet');
  await slow.commit();
  await take('grand', reservation('L3'));
  assert.deepEqual(named((await readOn(early.body.cursor)).changes), ['L1 1', 'L2 1', 'L3 1']);
});

test('versions of a record are in order although their transactions began in another order', async () => {
  const start = await nowCursor();
  await take('grand', reservation('V1'));
  const waiting = Promise.withResolvers<void>();
  const second = await openTransaction(async (tx) => {
    await tx.query('select pg_current_xact_id()');
  });
  const third = transaction(node.runtime.pool, async (tx) => {
    await tx.query('select pg_current_xact_id()');
    await waiting.promise;
    await takeIn(tx, reservation('V1', { channel: 'late' }));
  });
  await node.take('grand', reservation('V1', { channel: 'web' }));
  waiting.resolve();
  await third;
  await second.commit();
  await take('grand', reservation('V2'));
  const changes = (await readOn(start)).changes.filter(({ data }) => data.id === 'V1');
  assert.deepEqual(named(changes), ['V1 1', 'V1 2', 'V1 3']);
  assert.deepEqual(
    changes.map(({ data }) => data.channel),
    [undefined, 'web', 'late'],
  );
});

test('under writers of uneven speed, readers get every committed version once and in order', async () => {
  const start = await nowCursor();
  let writing = true;
  const seen: Change[] = [];
  const reader = (async () => {
    let cursor = start;
    for (;;) {
      const stop = !writing;
      const { body } = await ask(`limit=20&after=${cursor}`);
      seen.push(...body.changes);
      cursor = body.cursor;
      if (stop && !body.more && body.changes.length === 0) return;
    }
  })();
  const writer = async (which: number): Promise<void> => {
    for (let i = 0; i < 15; i++) {
      const shared = reservation(`C${(which + i) % 3}`, { channel: `w${which}-${i}` });
      await transaction(node.runtime.pool, async (tx) => {
        await takeIn(tx, shared, reservation(`C-${which}-${i}`));
        await tx.query('select pg_sleep($1)', [((which * 7 + i * 3) % 5) / 200]);
        if ((which + i) % 7 === 0) throw new Error('rolled back');
      }).catch((error: Error) => assert.equal(error.message, 'rolled back'));
    }
  };
  await Promise.all([0, 1, 2, 3].map(writer));
  await take('grand', reservation('C-last'));
  writing = false;
  await reader;
  const { rows } = await node.runtime.pool.query<{ id: string; version: number }>(
    `select id, version from history where diff is not null and id like 'C%' and integration = 'grand'`,
  );
  assert.ok(rows.length > 60);
  const keys = named(seen);
  assert.deepEqual([...keys].sort(), rows.map(({ id, version }) => `${id} ${version}`).sort());
  for (const id of ['C0', 'C1', 'C2']) {
    const versions = seen.filter(({ data }) => data.id === id).map(({ version }) => version);
    assert.deepEqual(
      versions,
      versions.map((_, i) => i + 1),
      id,
    );
  }
});

test('a waiting reader gets a change of its brand, and is not woken by other brands', async () => {
  const limited = await node.token('feed', ['grand']);
  const start = await nowCursor(limited);
  const waiting = ask(`wait=30&after=${start}`, limited);
  await node.take('other', reservation('W0'));
  await node.take('grand', reservation('W1'));
  assert.deepEqual(named((await waiting).body.changes), ['W1 1']);
});

test('without a change the answer is sent when the time is over, with an advanced cursor', async () => {
  const limited = await node.token('feed', ['grand']);
  const start = await nowCursor(limited);
  const waiting = ask(`wait=1&after=${start}`, limited);
  await node.take('other', reservation('W2'));
  const { status, body } = await waiting;
  assert.deepEqual([status, body.changes, body.more], [200, [], false]);
});

test('pages with changes are audited, empty ones are not', async () => {
  const count = async () =>
    (await node.runtime.pool.query(`select 1 from audit where action = 'changes.read'`)).rows.length;
  const start = await nowCursor();
  const before = await count();
  await ask(`after=${start}`);
  assert.equal(await count(), before);
  await take('grand', reservation('A1'));
  await ask(`after=${start}`);
  assert.equal(await count(), before + 1);
});

test('a token that is revoked while its reader waits gets no data', async () => {
  const start = await nowCursor();
  const token = await node.token('feed');
  const waiting = ask(`wait=30&after=${start}`, token);
  const used = await until('the request has been let in', async () => {
    const { rows } = await node.runtime.pool.query<{ token_id: string; used: boolean }>(
      `select token_id, last_used_at is not null as used from tokens order by created_at desc limit 1`,
    );
    return rows[0]?.used ? rows[0] : undefined;
  });
  await revokeToken(node.runtime.pool, used.token_id);
  await node.take('grand', reservation('A2'));
  assert.equal((await waiting).status, 401);
});

test('an erased guest is in no version of the feed, and readers get an event', async () => {
  const start = await nowCursor();
  const vera = { guest_id: 'g9', first_name: 'Vera', last_name: 'Lind', email: 'vera.feed@mail.example' };
  await take('grand', reservation('E1', { guests: [vera] }));
  await take('grand', reservation('E1', { guests: [vera], channel: 'web' }));
  assert.match(JSON.stringify((await readOn(start)).changes), /vera\.feed/);
  await eraseGuest(node.runtime, { email: 'vera.feed@mail.example' }, 'test');
  await take('other', reservation('E2'));
  const { changes } = await readOn(start);
  assert.deepEqual(
    changes.filter(({ data }) => data.id === 'E1').map(({ event }) => event),
    ['created', 'updated', 'erased'],
  );
  assert.doesNotMatch(JSON.stringify(changes), /vera|lind/i);
});

test('the client of the guide follows the feed and survives a kill', async (t) => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-feed-'));
  let second: ChildProcess | undefined;
  // In this order: a client that still writes makes the folder hard to remove.
  t.after(async () => {
    if (second?.kill('SIGKILL')) await once(second, 'exit');
    await rm(folder, { recursive: true, force: true });
  });
  const target = path.join(folder, 'changes.ndjson');
  const limited = await node.token('feed', ['grand']);
  const lines = async (): Promise<Change[]> =>
    (await readFile(target, 'utf8').catch(() => ''))
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line));
  const script = new URL('../../docs/guides/feed/follow.mjs', import.meta.url);
  const start = () =>
    spawn(process.execPath, [script.pathname, target], {
      env: { ...process.env, INNBOUND_URL: node.url, INNBOUND_TOKEN: limited },
      stdio: 'inherit',
    });
  const has = (id: string, version: number) => async () =>
    (await lines()).some(({ data, version: v }) => data.id === id && v === version);
  const first = start();
  await node.take('grand', reservation('F1'));
  await until('the first change is there', has('F1', 1));
  first.kill('SIGKILL');
  await once(first, 'exit');
  await node.take('grand', reservation('F1', { channel: 'web' }));
  second = start();
  await until('the second change is there', has('F1', 2));
  const { rows } = await node.runtime.pool.query(
    `select 1 from history where diff is not null and integration = 'grand'`,
  );
  assert.equal(new Set((await lines()).map(({ idempotency_key }) => idempotency_key)).size, rows.length);
});

test('a cursor stays valid when the key is rotated', async () => {
  const cursor = await nowCursor();
  const { from, to } = await rotateKey(node.runtime, { waitMs: 10_000, progress: () => {} });
  assert.notEqual(from, to);
  assert.deepEqual(
    node.runtime.keyring.map(({ id }) => id),
    [to],
  );
  await take('grand', reservation('K1'));
  assert.deepEqual(named((await readOn(cursor)).changes), ['K1 1']);
});

test('after a restore an older cursor is outdated', async () => {
  const cursor = await nowCursor();
  await raiseEpoch(node.runtime.pool, 1);
  await node.runtime.restoreCheck.check();
  const { status, body } = await ask(`after=${cursor}`);
  assert.deepEqual([status, body.code], [410, 'operate.cursor_outdated']);
  const { body: again } = await ask('limit=1');
  assert.equal(again.changes[0].epoch, 2);
  assert.match(again.changes[0].idempotency_key, /-e2$/);
});

test('a cursor before the history that is kept is outdated', async () => {
  const cursor = await nowCursor();
  const { pool } = node.runtime;
  const end = (await partitions(pool))[0]?.to.getTime() ?? assert.fail('no partition');
  assert.equal(await dropPartitions(pool, Date.now() - end - 60_000), 1);
  const { status, body } = await ask(`after=${cursor}`);
  assert.deepEqual([status, body.code], [410, 'operate.cursor_outdated']);
  assert.match(body.detail, /retention/);
  const again = await ask('limit=1');
  assert.equal(again.status, 200);
});

test('a server that closes answers its waiting readers', async (t) => {
  const own = await apiNode();
  const token = await own.token('feed');
  const { cursor } = (await own.call('GET', '/changes?after=now', token)).body;
  const { mock } = t.mock.method(own.api.changes, 'read');
  const waiting = own.call('GET', `/changes?wait=30&after=${cursor}`, token);
  await until('the request has arrived', async () => mock.callCount() === 1);
  const waitedOut = new Promise((_, reject) =>
    setTimeout(() => reject(new Error('the reader was not answered before its time')), 25_000).unref(),
  );
  await Promise.race([Promise.all([waiting, own.stop()]), waitedOut]);
});
