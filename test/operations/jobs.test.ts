import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { applyDocument } from '../../src/operator/operations/edit-documents.ts';
import { stepJobs } from '../../src/operator/operations/jobs.ts';
import { claimJob, insertJob } from '../../src/operator/store/jobs.ts';
import type { Json } from '../../src/terms.ts';
import { type ApiNode, apiNode, hotelConnector, reservation } from '../api/node.ts';
import { until } from '../support/process.ts';

let node: ApiNode;
let operator: string;
let ofOther: string;
before(async () => {
  node = await apiNode('', { 'connectors/hotel.yaml': hotelConnector('') });
  operator = await node.token('operator');
  ofOther = await node.token('operator', ['other']);
  const many = Array.from({ length: 250 }, (_, i) => reservation(`R${String(i).padStart(3, '0')}`, { agent: 'BDC' }));
  await node.take('grand', ...many);
  await node.take('other', reservation('X1'));
});
after(() => node.stop());

const signal = new AbortController().signal;
const start = async (body: Json, token = operator) => {
  const answer = await node.call('POST', '/jobs', token, body);
  assert.equal(answer.status, 202, JSON.stringify(answer.body));
  return answer.body as { job_id: string; total: number };
};
const job = async (id: string) => (await node.call('GET', `/jobs/${id}`, operator)).body;
const preview = async (body: Json) => (await node.call('POST', '/jobs/preview', operator, body)).body;
const finish = async () => {
  while (await stepJobs(node.runtime, signal));
};
/** As if everything had been delivered. */
const settle = () =>
  node.runtime.pool.query(
    'update outbox set next_version = last_version + 1, delivered_version = last_version, due_at = null',
  );
const queued = async () => {
  const { rows } = await node.runtime.pool.query<{ count: number }>(
    `select count(*)::int as count from outbox where destination = 'lake' and due_at is not null`,
  );
  return rows[0]?.count;
};

test('a reprocessing previews its changes, processes everything in steps, and stays listed', async () => {
  const changed = hotelConnector('map: { channel: agent }\n');
  await applyDocument(node.runtime, { kind: 'connector', name: 'hotel', text: changed }, 'test');
  const request = { operation: 'reprocess', integration: 'grand' };
  const seen = await preview(request);
  assert.deepEqual([seen.total, seen.looked_at], [250, null]);
  assert.deepEqual(seen.counts[0], { label: 'would change', count: 250 });
  assert.equal(seen.samples[0].diff[0].after, 'BDC');
  const { job_id, total } = await start(request);
  assert.equal(total, 250);
  const { rows: audited } = await node.runtime.pool.query(`select integration from audit where action = 'jobs.start'`);
  assert.deepEqual(audited, [{ integration: 'grand' }], 'so that it is among the changes of this brand only');
  assert.equal(await stepJobs(node.runtime, signal), true);
  const half = await job(job_id);
  assert.deepEqual(
    [half.state, half.done, half.counts],
    ['running', 200, { changed: 200, unchanged: 0, refused: 0, without_payload: 0 }],
  );
  await finish();
  const end = await job(job_id);
  assert.deepEqual([end.state, end.done, end.counts.changed], ['done', 250, 250]);
  assert.ok(end.finished_at);
  const again = await preview(request);
  assert.deepEqual(again.counts.slice(0, 2), [
    { label: 'would change', count: 0 },
    { label: 'unchanged', count: 250 },
  ]);
});

test('a stopped job does no further step and undoes nothing', async () => {
  const { job_id } = await start({ operation: 'reprocess', integration: 'grand' });
  await stepJobs(node.runtime, signal);
  const stopped = await node.call('POST', `/jobs/${job_id}/stop`, operator, {});
  assert.deepEqual([stopped.status, stopped.body.state, stopped.body.stopped_by], [200, 'stopped', 'the operator']);
  assert.equal(await stepJobs(node.runtime, signal), false);
  assert.equal((await job(job_id)).done, 200);
  assert.equal((await node.call('POST', `/jobs/${job_id}/stop`, operator, {})).status, 409);
});

test('a resend queues the records of every brand of the destination', async () => {
  await settle();
  const request = { operation: 'resend', destination: 'lake' };
  const seen = await preview(request);
  const { rows } = await node.runtime.pool.query<{ count: number }>('select count(*)::int as count from records');
  assert.equal(seen.total, rows[0]?.count);
  assert.deepEqual(seen.counts, [
    { label: 'reservations to send', count: seen.total },
    { label: 'reservations of these that it has already', count: seen.total },
    { label: 'calls, at least', count: 2 },
    { label: 'already waiting or held, and not queued again', count: 0 },
  ]);
  const { job_id } = await start(request);
  await finish();
  const end = await job(job_id);
  assert.deepEqual([end.state, end.done, end.counts], ['done', seen.total, { queued: seen.total }]);
  assert.equal(await queued(), seen.total);
  assert.deepEqual(end.delivery, { waiting: seen.total, held: 0 });
  await settle();
  assert.deepEqual((await job(job_id)).delivery, { waiting: 0, held: 0 }, 'delivered');
});

test('a resend whose brands change while it runs leaves out no brand', async () => {
  const put = async (name: string, text: string) =>
    await applyDocument(node.runtime, { kind: 'integration', name, text }, 'test');
  const admin = await node.token('admin');
  const { source } = (await node.call('GET', '/documents/integration/other', admin)).body;
  await put(
    'airport',
    source
      .replace('integration: other', 'integration: airport')
      .replace('OPO02', 'AIR03')
      .replace(/base_url: .*/, 'base_url: http://127.0.0.1:9/air'),
  );
  await settle();
  const { job_id } = await start({ operation: 'resend', destination: 'lake' });
  await stepJobs(node.runtime, signal);
  assert.equal((await node.call('DELETE', '/documents/integration/airport', admin)).status, 200);
  await finish();
  assert.equal((await job(job_id)).state, 'done');
  assert.equal((await job(job_id)).counts.queued, 251);
  assert.equal(await queued(), 251);
  await settle();
});

test('a replay counts by code and does not retry what failed during it', async () => {
  const { pool } = node.runtime;
  const raw = { key: 'B', value: { id: 'B', check_in: 'never' } };
  await pool.query(
    `insert into dead_letters (kind, integration, code, message, detail, raw, fingerprint)
     select 'record', 'grand', 'shape.missing_field', 'no arrival', '{}', $1, n::text from generate_series(1, 30) as n`,
    [JSON.stringify(raw)],
  );
  const request = { operation: 'replay', integration: 'grand' };
  const seen = await preview(request);
  assert.deepEqual([seen.total, seen.counts], [30, [{ label: 'shape.missing_field', count: 30 }]]);
  assert.match(seen.samples[0].text, /^It would fail again/);
  const { job_id } = await start(request);
  await finish();
  const end = await job(job_id);
  assert.deepEqual([end.state, end.done, end.counts.still_failing], ['done', 30, 30]);
  await pool.query(`update dead_letters set message = 'no departure' where fingerprint::int <= 21`);
  const ofReason = await start({ ...request, code: 'shape.missing_field', message: 'no departure' });
  assert.equal(ofReason.total, 21, 'the dead letters of one reason');
  await finish();
  assert.equal((await job(ofReason.job_id)).done, 21);
});

test('a step that failed is tried again after its lease, and three failures end the job with the reason', async () => {
  const { job_id } = await start({ operation: 'reprocess', integration: 'grand' });
  const { pool } = node.runtime;
  await pool.query(`update jobs set request = request || '{"from": "not a day"}' where job_id = $1`, [job_id]);
  for (let times = 0; times < 3; times++) {
    assert.equal(await stepJobs(node.runtime, signal), true);
    assert.equal(await stepJobs(node.runtime, signal), false, 'the lease is still held');
    await pool.query(`update jobs set due_at = now() - interval '1 s' where job_id = $1 and due_at is not null`, [
      job_id,
    ]);
  }
  const failed = await job(job_id);
  assert.deepEqual([failed.state, failed.code], ['failed', 'operate.unexpected']);
});

/** Does steps of the job while the table of records is locked; the database ends every statement that waits for it. */
async function failSteps(jobId: string, times: number, end: 'pg_cancel_backend' | 'pg_terminate_backend') {
  const { pool } = node.runtime;
  const blocker = await pool.connect();
  await blocker.query('begin');
  await blocker.query('lock table records in access exclusive mode');
  for (let time = 0; time < times; time++) {
    let isOver = false;
    const stepping = stepJobs(node.runtime, signal).finally(() => {
      isOver = true;
    });
    const ended = `select ${end}(pid) from pg_locks where relation = 'records'::regclass and not granted`;
    while (!isOver) await pool.query(ended);
    assert.equal(await stepping, true);
    await pool.query(`update jobs set due_at = now() - interval '1 s' where job_id = $1 and due_at is not null`, [
      jobId,
    ]);
  }
  await blocker.query('commit');
  blocker.release();
}

test('a database that ends connections does not end a job, and the next good step clears the message', async () => {
  const { job_id } = await start({ operation: 'reprocess', integration: 'grand' });
  await failSteps(job_id, 13, 'pg_terminate_backend');
  const waiting = await job(job_id);
  assert.deepEqual([waiting.state, waiting.code], ['running', 'operate.unexpected']);
  await stepJobs(node.runtime, signal);
  const running = await job(job_id);
  assert.deepEqual([running.state, running.done, running.code, running.message], ['running', 200, null, null]);
  await finish();
  assert.equal((await job(job_id)).state, 'done');
});

test('a step that takes too long is repeated with fewer records, and quick steps grow again', async () => {
  const { job_id } = await start({ operation: 'reprocess', integration: 'grand' });
  await failSteps(job_id, 4, 'pg_cancel_backend');
  const waiting = await job(job_id);
  assert.deepEqual([waiting.state, waiting.code], ['running', 'operate.step_too_slow']);
  const sizes: number[] = [];
  for (let done = 0; (await job(job_id)).state === 'running'; ) {
    await stepJobs(node.runtime, signal);
    const now = (await job(job_id)).done;
    sizes.push(now - done);
    done = now;
  }
  assert.deepEqual(sizes, [12, 25, 50, 100, 63]);
  const { state, done, counts, code } = await job(job_id);
  assert.deepEqual([state, done, counts.unchanged, code], ['done', 250, 250, null]);
});

test('a job whose smallest steps take too long ends with the reason', async () => {
  for (const request of [
    { operation: 'reprocess', integration: 'grand' },
    { operation: 'resend', destination: 'lake', integration: 'grand' },
  ]) {
    const { job_id } = await start(request);
    await failSteps(job_id, 12, 'pg_cancel_backend');
    const { state, code, message, finished_at } = await job(job_id);
    assert.deepEqual([state, code], ['failed', 'operate.step_too_slow']);
    assert.match(message, /12 times/);
    assert.ok(finished_at);
    assert.equal(await stepJobs(node.runtime, signal), false);
  }
});

test('a worker keeps its job while a step takes longer than the lease', async () => {
  const { pool, clock } = node.runtime;
  const { job_id } = await start({ operation: 'reprocess', integration: 'grand' });
  const blocker = await pool.connect();
  await blocker.query('begin');
  await blocker.query('lock table records in access exclusive mode');
  const quick = { ...clock, schedule: (_: number, run: () => void) => clock.schedule(5, run) };
  const stepping = stepJobs({ ...node.runtime, clock: quick }, signal);
  const isHeld = async () => {
    const { rows } = await pool.query('select due_at > now() as held from jobs where job_id = $1', [job_id]);
    return rows[0]?.held === true;
  };
  while (!(await isHeld()));
  await pool.query(`update jobs set due_at = now() - interval '1 s' where job_id = $1 and due_at is not null`, [
    job_id,
  ]);
  await until('the lease is renewed', isHeld);
  await blocker.query('commit');
  blocker.release();
  assert.equal(await stepping, true);
  assert.equal((await job(job_id)).done, 200);
  assert.equal(await isHeld(), false, 'any worker may do the next step');
  await finish();
});

test('a job whose worker died continues where it stopped', async () => {
  const { job_id } = await start({ operation: 'reprocess', integration: 'grand' });
  await stepJobs(node.runtime, signal);
  const dead = await claimJob(node.runtime.pool, 30_000);
  assert.equal(dead?.job_id, job_id);
  assert.equal(await stepJobs(node.runtime, signal), false);
  await node.runtime.pool.query(
    `update jobs set due_at = now() - interval '1 s' where job_id = $1 and due_at is not null`,
    [job_id],
  );
  await finish();
  assert.deepEqual((await job(job_id)).done, 250);
});

test('a limited caller starts and sees only the jobs of its brands', async () => {
  const mine = await start({ operation: 'resend', destination: 'lake', integration: 'other' }, ofOther);
  const list = await node.call('GET', '/jobs', ofOther);
  assert.deepEqual(
    list.body.items.map((one: { job_id: string }) => one.job_id),
    [mine.job_id],
  );
  const refused = async (body: Json) => (await node.call('POST', '/jobs', ofOther, body)).status;
  assert.equal(await refused({ operation: 'reprocess', integration: 'grand' }), 404);
  assert.equal(await refused({ operation: 'resend', destination: 'lake' }), 403);
  const replay = await start({ operation: 'replay' }, ofOther);
  assert.equal(replay.total, 0, 'the dead letters are of the other brand');
  assert.equal(
    (await node.call('POST', '/jobs', operator, { operation: 'resend', destination: 'nowhere' })).status,
    409,
  );
});

test('a document says how many brands and records it concerns', async () => {
  const admin = await node.token('admin');
  const impact = async (at: string) => (await node.call('GET', `/documents/${at}/impact`, admin)).body;
  assert.deepEqual((await impact('connector/hotel')).integrations, ['grand', 'other']);
  assert.equal((await impact('integration/grand')).records.reservation, 250);
  assert.deepEqual(await impact('destination/nowhere'), { integrations: [], records: { reservation: 0, guest: 0 } });
});

test('holders of jobs take turns, and one holder has at most 10 open jobs', async () => {
  const { pool } = node.runtime;
  await finish();
  const row = (job_id: string, requested_by: string) =>
    insertJob(pool, { job_id, requested_by, operation: 'replay', integrations: null, request: {}, total: 0 });
  for (let i = 10; i < 20; i++) assert.ok(await row(`job_a${i}`, 'Ana'));
  assert.equal(await row('job_a20', 'Ana'), undefined);
  for (let i = 10; i < 12; i++) assert.ok(await row(`job_b${i}`, 'Bo'));
  const turns: string[] = [];
  for (let i = 0; i < 5; i++) turns.push((await claimJob(pool, 30_000))?.job_id ?? '');
  assert.deepEqual(turns, ['job_a10', 'job_b10', 'job_a11', 'job_b11', 'job_a12']);
  await pool.query(`delete from jobs where requested_by in ('Ana', 'Bo')`);
});

test('a job names what it did not process', async () => {
  const { rows } = await node.runtime.pool.query<{ id: string }>(
    `update history set raw = null where integration = 'grand' and id = (select min(id) from records where integration = 'grand')
     returning id`,
  );
  const { job_id } = await start({ operation: 'reprocess', integration: 'grand' });
  await finish();
  const { refusals, counts } = await job(job_id);
  assert.equal(counts.without_payload, 1);
  assert.deepEqual(refusals, [{ id: rows[0]?.id, reason: 'No payload of it is stored any more.' }]);
  const asked = await start({ operation: 'reprocess', integration: 'grand', refetch: true });
  await finish();
  const failed = await job(asked.job_id);
  assert.equal(failed.counts.refetched, 0);
  assert.match(failed.refusals[0].reason, /Requested again: pull\.no_single/);
});
