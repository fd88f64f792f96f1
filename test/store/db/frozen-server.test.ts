import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { groupCommitLimits } from '../../../src/core/intake/push/group-commit.ts';
import { openIntakePool, openPool, transaction, withLongStatements } from '../../../src/core/store/db/pool.ts';
import { poolProblem } from '../../../src/core/store/db/readiness.ts';
import { openPrivatePostgres } from '../../../src/operator/embedded-postgres/open.ts';
import { atEnd, serversOf, workspace } from '../../embedded-postgres/support.ts';
import { until } from '../../support/process.ts';

/** A server that is frozen keeps its connections open and answers nothing: it never reports an error. */

const signalAll = (dataDir: string, signal: NodeJS.Signals) => {
  for (const pid of serversOf(dataDir)) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      // A child of the server may have ended since it was listed.
      if ((error as { code?: string }).code !== 'ESRCH') throw error;
    }
  }
};

test('no statement waits for ever on a frozen server, and the pool recovers with it', {
  timeout: 120_000,
}, async (t) => {
  const folder = await workspace(t);
  const server = await openPrivatePostgres(folder, { purpose: 'service', describe: 'a test' });
  atEnd(t, () => server.release());
  const dataDir = path.join(folder, '.innbound', 'pg');
  const pool = openPool({
    connection: server.connection,
    applicationName: 'test',
    maxConnections: 2,
    statementMs: 1_000,
  });
  atEnd(t, () => pool.end());
  await pool.query('select 1');

  // Batches are stored one after the other: one that waits for a lost server holds up all events of the node.
  const intake = openIntakePool(pool);
  atEnd(t, () => intake.end());
  const { rows } = await intake.query<{ ms: number }>(
    `select extract(epoch from current_setting('statement_timeout')::interval)::int * 1000 as ms`,
  );
  assert.equal(rows[0]?.ms, groupCommitLimits.deadlineMs, 'no statement takes longer than senders wait');

  assert.ok(serversOf(dataDir).length > 1, 'the server and its children are found');
  signalAll(dataDir, 'SIGSTOP');
  atEnd(t, () => signalAll(dataDir, 'SIGCONT'));
  assert.equal(await poolProblem(pool), 'store.unreachable', 'readiness is answered while the server is frozen');
  // More than the size of the pool: queued statements must not wait for ever either.
  const ended = await Promise.allSettled([
    pool.query('select 1'),
    pool.query('select 2'),
    transaction(pool, (tx) => tx.query('select 3')),
    transaction(pool, (tx) => tx.query('select 4')),
  ]);
  assert.deepEqual(
    ended.map(({ status }) => status),
    Array(4).fill('rejected'),
  );

  signalAll(dataDir, 'SIGCONT');
  const isAnswered = () =>
    pool.query('select 1').then(
      () => true,
      () => false,
    );
  await until('the server answers again', isAnswered);
  for (let i = 0; i < 4; i++) {
    const answers = await Promise.all([1, 2, 3, 4].map((n) => pool.query<{ n: number }>('select $1::int as n', [n])));
    assert.deepEqual(
      answers.map(({ rows }) => rows[0]?.n),
      [1, 2, 3, 4],
    );
  }
  assert.equal(await poolProblem(pool), undefined);
});

test('a statement that is too slow is ended by the server', async (t) => {
  const folder = await workspace(t);
  const server = await openPrivatePostgres(folder, { purpose: 'service', describe: 'a test' });
  atEnd(t, () => server.release());
  const pool = openPool({
    connection: server.connection,
    applicationName: 'test',
    maxConnections: 1,
    statementMs: 300,
  });
  atEnd(t, () => pool.end());
  await assert.rejects(pool.query('select pg_sleep(60)'), { code: '57014' });
  // Work whose time grows with the data may take longer, on this connection and for this time only.
  await withLongStatements(pool, (client) => client.query('select pg_sleep(0.6)'));
  await assert.rejects(pool.query('select pg_sleep(60)'), { code: '57014' });
});
