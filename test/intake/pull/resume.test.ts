import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { Handover } from '../../../src/core/deliver/handover.ts';
import type { PullPorts } from '../../../src/core/intake/pull/ports.ts';
import { executeRun } from '../../../src/core/intake/pull/run/execution.ts';
import { openRunStore } from '../../../src/core/store/runs/runs.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import type { IntegrationName } from '../../../src/terms.ts';
import { until } from '../../support/process.ts';
import { book, range, setUpBackfills } from './support/backfills.ts';
import { pagination } from './support/list.ts';
import { sync } from './support/runtime.ts';

const { runtime, partnerOf, portsFor, claimed } = setUpBackfills();

for (const name of ['offset', 'offset-total', 'cursor', 'token'] as const) {
  test(`a run stopped at any page resumes after its last page with correct counters (${name})`, async () => {
    const integration = `resume-${name}`;
    const style = name === 'offset-total' ? 'offset' : name;
    let stop = new AbortController();
    let left = 2;
    const partner = await partnerOf(
      style,
      () => {
        if (--left === 0) stop.abort();
        return undefined;
      },
      name === 'offset-total',
    );
    const ports = portsFor(integration, style, partner.url);
    let run = await claimed(ports, integration);
    let rounds = 0;
    for (;;) {
      rounds++;
      const outcome = await executeRun(ports, run, { parkable: true, signal: stop.signal });
      if (outcome.kind === 'finished') {
        assert.equal(outcome.end.state, 'complete');
        assert.equal(outcome.counters.fetched, book.length);
        assert.equal(outcome.counters.changed, book.length);
        if (name === 'offset-total')
          assert.equal(outcome.counters.rows, book.length, 'read once, overlaps not counted');
        break;
      }
      assert.equal(outcome.kind, 'stopped');
      stop = new AbortController();
      left = 3;
      const next = (await ports.runs.claimDue(1, `node ${rounds}`, 60_000))[0];
      assert.ok(next);
      run = next;
    }
    assert.ok(rounds > 5, `it was stopped ${rounds - 1} times`);
    const stored = await runtime.stored(integration);
    assert.deepEqual(
      stored.map(({ id, version }) => [id, version]),
      book.map(({ id }) => [id, 1]),
    );
    const view = await ports.runs.get(integration as IntegrationName, run.runId);
    assert.deepEqual(
      [view?.state, view?.counters.fetched, view?.counters.changed],
      ['complete', book.length, book.length],
    );
  });
}

test('a node whose lease expired cannot write', async () => {
  const integration = 'fenced';
  const partner = await partnerOf('token');
  const ports = portsFor(integration, 'token', partner.url);
  const run = await claimed(ports, integration);
  const takeOver = async () => {
    await runtime.pool.query(`update runs set due_at = now() - interval '1 s' where run_id = $1`, [run.runId]);
    const other = (await ports.runs.claimDue(1, 'second', 60_000))[0];
    assert.equal(other?.runId, run.runId);
    const outcome = await executeRun(ports, other ?? run, { parkable: true });
    assert.equal(outcome.kind, 'finished');
  };
  let taken: Promise<void> | undefined;
  const slow: PullPorts = {
    ...ports,
    runs: {
      ...ports.runs,
      commitPage: async (...page) => {
        // Between two pages another node finds the lease expired.
        taken ??= takeOver();
        await taken;
        return ports.runs.commitPage(...page);
      },
    },
  };
  assert.deepEqual(await executeRun(slow, run, { parkable: true }), { kind: 'fenced' });
  const view = await ports.runs.get(integration as IntegrationName, run.runId);
  assert.deepEqual([view?.state, view?.counters.fetched, view?.counters.changed], ['complete', 140, 140]);
});

test('another process finishes the run of a killed one', async () => {
  const integration = 'killed';
  const [seen, reached, killed] = [{ pages: 0 }, Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const partner = await partnerOf('token', async () => {
    seen.pages++;
    if (seen.pages < 6) return undefined;
    reached.resolve();
    await killed.promise;
    return undefined;
  });
  const ports = portsFor(integration, 'token', partner.url, { limits: { leaseMs: 1_500 } });
  const child = fork(new URL('./support/killed-run.ts', import.meta.url), {
    execPath: process.execPath,
    env: {
      ...process.env,
      RUN: JSON.stringify({ connection: runtime.connection, integration, baseUrl: partner.url, range }),
    },
  });
  await reached.promise;
  child.kill('SIGKILL');
  await once(child, 'exit');
  killed.resolve();
  const committed = (await runtime.stored(integration)).length;
  assert.ok(committed > 0 && committed < book.length, `${committed} were stored before the kill`);
  const run = await until('the lease has expired', async () => (await ports.runs.claimDue(1, 'second', 60_000))[0]);
  const outcome = await executeRun(ports, run, { parkable: true });
  assert.ok(outcome.kind === 'finished' && outcome.end.state === 'complete', JSON.stringify(outcome));
  assert.deepEqual([outcome.counters.fetched, outcome.counters.changed, outcome.counters.unchanged], [140, 140, 0]);
  assert.equal((await runtime.stored(integration)).length, book.length);
});

test('two nodes killed repeatedly during a page still finish the run', async () => {
  const style = 'offset';
  const integration = 'two-nodes';
  const nodes = new Map<string, ChildProcess>();
  let left = 3;
  let asked = 0;
  const partner = await partnerOf(style, async ({ headers }) => {
    // The page before is being stored, and the node dies before it can store this one.
    if (++asked % 3 !== 0 || left === 0) return undefined;
    left--;
    const node = String(headers['user-agent']);
    const child = nodes.get(node);
    child?.kill('SIGKILL');
    if (child) await once(child, 'exit');
    start(node);
    return 'cut';
  });
  const ports = portsFor(integration, style, partner.url);
  const queued = await ports.runs.queue({
    integration: integration as IntegrationName,
    kind: 'backfill',
    requestedBy: 'test',
    ...range,
  });
  assert.ok(queued.kind === 'queued');
  const { runId } = queued.run;
  const start = (node: string) => {
    const task = { connection: runtime.connection, node, integration, baseUrl: partner.url, style };
    const env = { ...process.env, NODE_TASK: JSON.stringify(task) };
    nodes.set(node, fork(new URL('./support/runner-node.ts', import.meta.url), { execPath: process.execPath, env }));
  };
  try {
    start('a');
    start('b');
    const view = () => ports.runs.get(integration as IntegrationName, runId);
    await until('the run is over', async () => !['queued', 'running'].includes((await view())?.state ?? ''));
    const { state, counters } = (await view()) ?? {};
    assert.deepEqual([state, counters?.fetched, counters?.changed], ['complete', book.length, book.length]);
    assert.equal(left, 0);
  } finally {
    for (const child of nodes.values()) child.kill('SIGKILL');
  }
  assert.deepEqual(
    (await runtime.stored(integration)).map(({ id, version }) => [id, version]),
    book.map(({ id }) => [id, 1]),
  );
});

test('a sync has one run at a time: the second waits for the first and runs after it', async () => {
  const integration = 'one-at-a-time';
  const gate = Promise.withResolvers<void>();
  const asking = Promise.withResolvers<void>();
  let open = 0;
  let most = 0;
  const partner = await partnerOf('token', async (asked) => {
    open++;
    most = Math.max(most, open);
    asking.resolve();
    if (asked.no === 1) await gate.promise;
    open--;
    return undefined;
  });
  const ports = portsFor(integration, 'token', partner.url, { clock: systemClock });
  const first = sync(ports, integration, range);
  await asking.promise;
  const waiting = Promise.withResolvers<void>();
  const second = sync(ports, integration, range, { onProgress: ({ kind }) => kind === 'busy' && waiting.resolve() });
  await waiting.promise;
  gate.resolve();
  const results = await Promise.all([first, second]);
  assert.deepEqual(
    results.map(({ state }) => state),
    ['complete', 'complete'],
  );
  assert.deepEqual(
    results.map(({ counters }) => counters.changed),
    [140, 0],
  );
  assert.equal(most, 1);
});

test('an idle queued run is executed by the next request for the same', async () => {
  const integration = 'left-behind';
  const partner = await partnerOf('token');
  const ports = portsFor(integration, 'token', partner.url);
  const queued = await openRunStore(runtime.pool, new Handover()).queue({
    integration: integration as IntegrationName,
    kind: 'backfill',
    requestedBy: 'schedule',
    ...range,
  });
  assert.ok(queued.kind === 'queued');
  const result = await sync(ports, integration, range);
  assert.equal(result.runId, queued.run.runId);
  assert.equal(result.state, 'complete');
});

test('a run resumed under other documents starts over', async () => {
  const integration = 'new-documents';
  const stop = new AbortController();
  const partner = await partnerOf('token', ({ no }) => void (no === 4 && stop.abort()));
  const before = runtime.ports({
    integration,
    baseUrl: partner.url,
    connector: { pull: { pagination: pagination.token } },
  });
  const run = await claimed(before, integration);
  assert.equal((await executeRun(before, run, { parkable: true, signal: stop.signal })).kind, 'stopped');
  const after = runtime.ports({
    integration,
    baseUrl: partner.url,
    connector: { pull: { pagination: pagination.offset } },
    version: 2,
  });
  const offset = await partnerOf('offset');
  const documents = runtime.ports({
    integration,
    baseUrl: offset.url,
    connector: { pull: { pagination: pagination.offset } },
    version: 2,
  });
  const next = (await after.runs.claimDue(1, 'second', 60_000))[0];
  assert.ok(next);
  const outcome = await executeRun(documents, next, { parkable: true });
  assert.ok(outcome.kind === 'finished' && outcome.end.state === 'complete', JSON.stringify(outcome));
  assert.equal(outcome.counters.fetched, 140);
});
