import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { until } from '../support/process.ts';
import { listen } from './http-server.ts';
import { openStore, reservation, takeIn } from './support.ts';

// On a busy machine a call takes longer than half a second, and the other node would rightly try again.
const limits = { timeoutMs: 2_000, leaseMarginMs: 500 };

test('a process stopped by SIGSTOP past its lease sends nothing when it continues', async (t) => {
  const { pool, db, close } = await openStore();
  const versions: number[] = [];
  const crm = await listen(({ body }) => {
    versions.push((body as { version: number }).version);
    return { status: 200 };
  });
  const workers: ChildProcess[] = [];
  const start = (stops: boolean): ChildProcess => {
    const settings = { connection: db.connection, url: crm.url, stops, ...limits };
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const worker = spawn(process.execPath, [fileURLToPath(new URL('./stopped-worker.ts', import.meta.url))], {
      env: { ...env, WORKER: JSON.stringify(settings) },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    workers.push(worker);
    return worker;
  };
  t.after(async () => {
    for (const worker of workers) worker.kill('SIGKILL');
    await crm.close();
    await close();
  });

  await takeIn(pool, [reservation('a', { total_amount: '1' })], ['crm']);
  const stopped = start(true);
  await until('the first node is stopped with a claim', async () => isStopped(stopped.pid as number));
  assert.deepEqual(versions, [], 'it stopped before the call');

  start(false);
  await until('another node delivers after the lease', async () => versions.length === 1);
  await takeIn(pool, [reservation('a', { total_amount: '2' })], ['crm']);
  await until('the next version is delivered', async () => versions.length === 2);

  stopped.kill('SIGCONT');
  await until('it goes on', async () => !isStopped(stopped.pid as number));
  // It would finish any pending call before new work; stopping waits for its calls.
  await takeIn(pool, [reservation('a', { total_amount: '3' })], ['crm']);
  await until('the third version is delivered', async () => versions.some((version) => version === 3));
  stopped.kill('SIGTERM');
  await once(stopped, 'exit');
  assert.deepEqual(versions, [1, 2, 3]);
  // The other node records its delivery after the call has been answered.
  await until('every delivery is recorded', async () => {
    const { rows } = await pool.query('select delivered_version, next_version from outbox');
    return rows[0]?.delivered_version === 3 && rows[0].next_version === 4;
  });
  assert.deepEqual(
    (await pool.query('select version, outcome from attempts')).rows,
    [],
    'the late node records nothing',
  );
});

/** `T`: stopped by a signal. */
function isStopped(pid: number): boolean {
  return execFileSync('ps', ['-o', 'state=', '-p', String(pid)])
    .toString()
    .trim()
    .startsWith('T');
}
