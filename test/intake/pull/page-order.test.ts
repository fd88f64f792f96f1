import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PullPorts, RunStore } from '../../../src/intake/pull/ports.ts';
import { executeRun } from '../../../src/intake/pull/run.ts';
import { book, range, setUpBackfills } from './support/backfills.ts';
import { sync } from './support/runtime.ts';

/** Two pages may be written at the same time; they are counted in order. */
const { runtime, partnerOf, scripted, portsFor, claimed } = setUpBackfills();

/** The ports, with `hold` before a page is written. `overtaken` resolves when the next page waits for this one, or was written before it. */
function holding(
  ports: PullPorts,
  hold: (pagesBefore: number, isLast: boolean, overtaken: () => Promise<void>) => Promise<void>,
): PullPorts {
  const arrived = new Map<number, PromiseWithResolvers<void>>();
  const arrivalOf = (pagesBefore: number) => {
    const arrival = arrived.get(pagesBefore) ?? Promise.withResolvers<void>();
    arrived.set(pagesBefore, arrival);
    return arrival;
  };
  const commitPage: RunStore['commitPage'] = async (lease, leaseMs, commit, target, { after, before }) => {
    await hold(after, commit.position.window === undefined, () => arrivalOf(after + 1).promise);
    const turn = {
      after,
      // Read only to wait for the page before.
      get before() {
        arrivalOf(after).resolve();
        return before;
      },
    };
    return ports.runs.commitPage(lease, leaseMs, commit, target, turn).finally(arrivalOf(after).resolve);
  };
  return { ...ports, runs: { ...ports.runs, commitPage } };
}

test('pages are counted in order, whichever is written first', async () => {
  const integration = 'out-of-turn';
  const partner = await partnerOf('token');
  const ports = portsFor(integration, 'token', partner.url);
  let held = 0;
  const slow = holding(ports, async (pagesBefore, isLast, overtaken) => {
    if (pagesBefore % 2 === 1 || isLast) return;
    held++;
    await overtaken();
  });
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
  const broken = holding(ports, async (pagesBefore, _isLast, overtaken) => {
    if (pagesBefore !== 3) return;
    await overtaken();
    throw new Error('the store went away');
  });
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
