import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PullPorts } from '../../../src/intake/pull/ports.ts';
import { executeRun } from '../../../src/intake/pull/run.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { book, range, setUpBackfills } from './support/backfills.ts';
import { sync } from './support/runtime.ts';

/** Two pages may be written at the same time; they are counted in order. */
const { runtime, partnerOf, scripted, portsFor, claimed } = setUpBackfills();

test('pages are counted in order, whichever is written first', async () => {
  const integration = 'out-of-turn';
  const partner = await partnerOf('token');
  const ports = portsFor(integration, 'token', partner.url);
  let held = 0;
  const slow: PullPorts = {
    ...ports,
    runs: {
      ...ports.runs,
      commitPage: async (lease, leaseMs, commit, target, turn) => {
        // Every other page reaches the store after the page that follows it.
        if (turn.after % 2 === 0) {
          held++;
          await systemClock.wait(30);
        }
        return ports.runs.commitPage(lease, leaseMs, commit, target, turn);
      },
    },
  };
  const run = await claimed(ports, integration);
  const outcome = await executeRun(slow, run, { parkable: true });
  assert.ok(outcome.kind === 'finished' && held > 5);
  assert.equal(outcome.counters.changed, book.length);
  assert.equal(outcome.counters.requests, partner.requests.length);
  const { rows } = await runtime.pool.query<{ page_no: number; rows: number; window_from: string }>(
    'select page_no, rows, window_from::text from run_pages where run_id = $1 order by page_no',
    [run.runId],
  );
  assert.deepEqual(
    rows.map(({ page_no }) => page_no),
    partner.requests.map((_, i) => i + 1),
  );
  assert.deepEqual(
    rows.map(({ window_from }) => window_from),
    partner.requests.map(({ query }) => query.get('dateFrom')),
  );
  assert.equal((await runtime.stored(integration)).length, book.length);
});

test('if a page cannot be written, neither is the page after it', async () => {
  const integration = 'broken-page';
  const partner = await partnerOf('token');
  const ports = portsFor(integration, 'token', partner.url);
  const broken: PullPorts = {
    ...ports,
    runs: {
      ...ports.runs,
      commitPage: async (lease, leaseMs, commit, target, turn) => {
        if (turn.after !== 3) return ports.runs.commitPage(lease, leaseMs, commit, target, turn);
        await systemClock.wait(60);
        throw new Error('the store went away');
      },
    },
  };
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
