import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { judgeFeeds, watchOnce } from '../../src/operator/operations/watch-once.ts';
import { type FeedDay, judgeFeed } from '../../src/operator/watch/feed.ts';
import { type ApiNode, apiNode, reservation } from '../api/node.ts';

/** Alerts about the feed itself: far fewer rows or events, slower runs, more dead letters than this weekday usually has. */
const day = (more: Partial<FeedDay> = {}): FeedDay => ({
  events: 0,
  runs: 0,
  rows: 0,
  run_ms: 0,
  dead_rows: 0,
  dead_events: 0,
  ...more,
});
const found = (today: FeedDay, weeks: readonly FeedDay[], season?: number, listsChanges = false) =>
  judgeFeed({ today, weeks, listsChanges }, season).map(({ measure }) => measure);
const four = (week: FeedDay) => [week, week, week, week];

test('far fewer events than this weekday usually has', () => {
  const usual = four(day({ events: 130 }));
  assert.deepEqual(found(day({ events: 12 }), usual), ['events']);
  assert.deepEqual(found(day({ events: 45 }), usual), [], 'a quiet day');
  assert.deepEqual(found(day({ events: 12 }), usual, 0.1), [], 'the hotel is nearly empty');
  assert.deepEqual(found(day({ events: 1 }), four(day({ events: 30 }))), [], 'a small inn');
  assert.deepEqual(found(day({ events: 1 }), [...usual.slice(2), day(), day()]), [], 'a new brand');
  assert.deepEqual(found(day({ events: 130 }), four(day())), [], 'it opens again');
});

test('far fewer reservations in a run, however many runs there are', () => {
  const usual = four(day({ runs: 96, rows: 9_600 }));
  assert.deepEqual(found(day({ runs: 96, rows: 960 }), usual), ['rows']);
  assert.deepEqual(found(day({ runs: 12, rows: 1_200 }), usual), [], 'the schedule has changed');
  assert.deepEqual(found(day(), usual), [], 'no run at all is another alert');
  assert.deepEqual(found(day({ runs: 96, rows: 300 }), four(day({ runs: 96, rows: 1_400 }))), [], 'a small inn');
  const changes = four(day({ runs: 90, rows: 180 }));
  assert.deepEqual(
    found(day({ runs: 5, rows: 10 }), changes, 1, true),
    ['rows'],
    'a list of changes counts by the day',
  );
});

test('runs that are much slower, or slower and slower; not because there are more rows', () => {
  const runs = (seconds: number, rows = 100) => day({ runs: 24, rows: 24 * rows, run_ms: 24_000 * seconds });
  assert.deepEqual(found(runs(130), four(runs(40))), ['run_seconds']);
  assert.deepEqual(found(runs(80), four(runs(40))), [], 'one slow day');
  assert.deepEqual(found(runs(80), [runs(66), runs(56), runs(47), runs(39)]), ['run_seconds'], 'week by week');
  assert.deepEqual(found(runs(20), four(runs(4))), [], 'nobody would notice');
  assert.deepEqual(found(runs(130, 400), four(runs(40))), [], 'the season begins');
});

test('a growing share of dead letters, by different rows', () => {
  const feed = (dead_events: number) => day({ events: 400, dead_events });
  assert.deepEqual(found(feed(20), four(feed(2))), ['dead_share']);
  assert.deepEqual(found(feed(20), four(feed(12))), [], 'as usual');
  assert.deepEqual(found(feed(20), [feed(16), feed(13), feed(11), feed(9)]), ['dead_share'], 'week by week');
  const rows = (bad: number) => day({ runs: 96, rows: 96 * 20, dead_rows: 96 * bad });
  assert.deepEqual(found(rows(2), four(rows(0))), [], 'two bad rows in each run of a small inn are two rows');
});

let node: ApiNode;
before(async () => {
  node = await apiNode();
});
after(() => node.stop());

const query = (sql: string) => node.runtime.pool.query(sql);
const open = async () =>
  (await query(`select kind, subject, message, detail from alerts where resolved_at is null and integration = 'other'`))
    .rows;

/** Whole days that end with the last counted hour. */
async function past(brand: string, ago: string, counts: Partial<Record<keyof FeedDay | 'pulls', number>>) {
  const columns = Object.keys(counts);
  await query(`insert into activity (integration, step, at, ${columns})
    select '${brand}', '1h', c.at - ${ago} * interval '1 day' - h * interval '1 hour', ${columns.map((one) => counts[one as 'pulls'])}
      from (select at from marks where name = 'activity 1h') c, generate_series(1, 24) h`);
}

test('an alert carries its history, is on the page of the brand, and ends with an ordinary day', async () => {
  await query(`insert into marks (name, at) values ('activity 1h', date_trunc('hour', now()))`);
  for (let ago = 1; ago <= 28; ago++)
    await past('other', String(ago), { events: 10, pulls: 1, rows: 50, run_ms: 2_000 });
  await past('other', '0', { events: 1, pulls: 1, rows: 5, run_ms: 40_000 });
  await judgeFeeds(node.runtime);
  const alerts = await open();
  assert.deepEqual(alerts.map(({ kind, subject }) => `${kind} ${subject}`.trim()).sort(), [
    'feed_low pull',
    'feed_low push',
    'runs_slow',
  ]);
  const low = alerts.find(({ subject }) => subject === 'push');
  assert.equal(low?.message, '24 events in 24 hours; this weekday usually has about 240.');
  assert.deepEqual(low.detail.history, [...Array.from({ length: 28 }, () => 240), 24]);
  const viewer = await node.token('viewer');
  const { body: feed } = await node.call('GET', '/integrations/other/feed', viewer);
  assert.deepEqual([feed.rows.length, feed.rows[0], feed.rows.at(-1), feed.run_seconds.at(-1)], [29, 50, 5, 40]);
  const { body: brand } = await node.call('GET', '/integrations/other', viewer);
  assert.ok(brand.reasons.includes(low.message), JSON.stringify(brand.reasons));

  await query(`update activity set events = 10, rows = 50, run_ms = 2000`);
  await judgeFeeds(node.runtime);
  assert.deepEqual(await open(), []);
});

test('a hotel that closes for the winter raises neither this alert nor silence', async () => {
  await query('delete from activity');
  for (let ago = 1; ago <= 28; ago++) await past('grand', String(ago), { events: 10, pulls: 1, rows: 50 });
  await past('grand', '0', { events: 1, pulls: 1, rows: 5 });
  const stay = (n: number, from: number) => {
    const date = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    return reservation(`W${n}-${from}`, { check_in: date(from), check_out: date(from + 3), total_amount: 10 });
  };
  const guests = [...Array(12).keys()].flatMap((n) => [-29, -22, -15, -8].map((from) => stay(n, from)));
  await node.take('grand', ...guests);
  await query(`insert into events (integration, seq, endpoint_id, event_id, event, occurred_at, received_at, body_hash, state)
    values ('grand', 1, 'ep', 'e1', 'reservation.updated', now() - interval '20 hours', now() - interval '20 hours', '', 'done')`);
  const kinds = async () =>
    (await query(`select kind from alerts where integration = 'grand' and resolved_at is null`)).rows.map(
      ({ kind }) => kind,
    );
  await watchOnce(node.runtime);
  assert.deepEqual(await kinds(), []);
});
