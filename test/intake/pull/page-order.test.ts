import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunStore } from '../../../src/core/intake/pull/ports.ts';
import { executeRun } from '../../../src/core/intake/pull/run/execution.ts';
import { book, range, setUpBackfills } from './support/backfills.ts';
import { sync } from './support/runtime.ts';

const { runtime, partnerOf, scripted, portsFor, claimed } = setUpBackfills();

test('if a page cannot be written, neither is the page after it', async () => {
  const integration = 'broken-page';
  const partner = await partnerOf('token');
  const ports = portsFor(integration, 'token', partner.url);
  const commitPage: RunStore['commitPage'] = async (...page) => {
    if (page[4] === 3) throw new Error('the store went away');
    return ports.runs.commitPage(...page);
  };
  const broken = { ...ports, runs: { ...ports.runs, commitPage } };
  const run = await claimed(ports, integration);
  await assert.rejects(executeRun(broken, run, { parkable: true }), /the store went away/);
  const { rows } = await runtime.pool.query<{ pages: number; changed: number }>(
    'select pages, changed from runs where run_id = $1',
    [run.runId],
  );
  assert.equal(rows[0]?.pages, 3);
  assert.equal((await runtime.stored(integration)).length, rows[0]?.changed);
  // The next node continues with the page that was not written.
  await runtime.pool.query(`update runs set due_at = now() where run_id = $1`, [run.runId]);
  const next = (await ports.runs.claimDue(1, 'second', 60_000))[0];
  assert.ok(next);
  const outcome = await executeRun(ports, next, { parkable: true });
  assert.ok(outcome.kind === 'finished');
  assert.equal((await runtime.stored(integration)).length, book.length);
});

test('for a reservation on two pages, the second wins, even if it equals the stored state', async () => {
  const integration = 'there-and-back';
  const row = (status: string) => ({ ...book[0], status });
  let answers = [[row('confirmed')]];
  const partner = await scripted(({ query }) => {
    const no = Number(query.get('cursor') ?? 0);
    const more = no + 1 < answers.length ? { next_cursor: String(no + 1) } : {};
    return { json: { reservations: query.get('dateFrom') === range.from ? answers[no] : [], ...more } };
  });
  const paging = { type: 'cursor', next: 'next_cursor', cursor: 'query.cursor', limit: 'query.limit', page_size: 1 };
  const ports = runtime.ports({ integration, baseUrl: partner.url, connector: { pull: { pagination: paging } } });
  await sync(ports, integration, range);
  answers = [[row('checked_in')], [row('confirmed')]];
  await sync(ports, integration, range);
  assert.deepEqual(
    (await runtime.stored(integration)).map(({ data }) => data.status),
    ['confirmed'],
  );
});
