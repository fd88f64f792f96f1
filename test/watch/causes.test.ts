import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { judgeBrands, judgeCauses, watchOnce } from '../../src/operator/operations/watch-once.ts';
import { type ApiNode, apiNode, reservation } from '../api/node.ts';

let node: ApiNode;
before(async () => {
  node = await apiNode();
});
after(() => node.stop());

const query = (sql: string) => node.runtime.pool.query(sql);
const opened = async (kind: string) =>
  (await query(`select from alerts where resolved_at is null and kind = '${kind}'`)).rowCount;

async function putInForce(version: number): Promise<void> {
  await query(`update documents set in_force = false, position = null where kind = 'connector'`);
  await query(`update documents set in_force = true, position = nextval('document_positions')
                where kind = 'connector' and version = ${version}`);
}

/** What raises each alert and what resolves it, from the store and the documents. */
const causes: [kind: string, begin: () => Promise<unknown>, end: () => Promise<unknown>][] = [
  [
    'dead_letters_growing',
    () => node.take('other', ...Array.from({ length: 12 }, (_, i) => ({ id: `BAD-${i}` }))),
    () => query(`update dead_letters set at = now() - interval '2 hours'`),
  ],
  [
    'bookings_unlisted',
    () =>
      query(`insert into records (integration, type, id, version, effective_at, seq, data, unlisted)
             select 'other', 'reservation', 'U' || n, 1, now(), 0, '{}', jsonb_build_object('since', now()) from generate_series(1, 12) n`),
    () => query('delete from records where unlisted is not null'),
  ],
  [
    'rows_unusual',
    () =>
      query(`insert into history (integration, type, id, outcome, effective_at, seq, cause, cause_id)
             select 'other', 'reservation', 'C' || n, 'cancelled', now(), 0, 'run', 'r' from generate_series(1, 40) n`),
    () =>
      query(`update alerts set raised_at = now() - interval '25 hours' where subject = 'many cancelled'`).then(() =>
        query(`delete from history where id like 'C%'`),
      ),
  ],
  [
    'clock_skew',
    () =>
      query(`insert into rejections (integration, endpoint_id, code, reason, hour, count, newest)
             select 'other', 'ep', 'push.unauthorized', 'timestamp_old', date_trunc('hour', now()), 4,
                    jsonb_agg(jsonb_build_object('at', extract(epoch from now()) * 1000 - n)) from generate_series(1, 4) as n`),
    () => query(`update rejections set hour = hour - interval '2 days'`),
  ],
  [
    'deliveries_behind',
    async () => {
      await node.take('other', reservation('LATE'));
      await query(`update outbox set due_at = now() - interval '20 minutes' where id = 'LATE'`);
    },
    () => query(`update outbox set due_at = now() where id = 'LATE'`),
  ],
  [
    'destination_failing',
    async () => {
      await node.take('other', reservation('D1'), reservation('D2'), reservation('D3'));
      await query(`update outbox set due_at = now() + interval '5 s', attempt = 1 where id in ('D1', 'D2', 'D3')`);
      await query(`insert into attempts (integration, destination, type, id, version, attempt, outcome, code, message)
                   select integration, destination, type, id, 1, 1, 'retry', 'deliver.server_error', 'It answered 503'
                     from outbox where id in ('D1', 'D2', 'D3')`);
    },
    () =>
      query(`insert into remotes (kind, name, delivered_at) values ('destination', 'lake', now())
                 on conflict (kind, name) do update set delivered_at = now()`),
  ],
  [
    'destination_away',
    () =>
      query(`insert into remotes (kind, name, state, failures, away, last_failure, opened_at, probe_at)
             values ('destination', 'lake', 'open', 5, true, 'deliver.unreachable', now(), now())
                 on conflict (kind, name) do update set state = 'open', failures = 5, away = true,
                    last_failure = 'deliver.unreachable', opened_at = now(), probe_at = now()`),
    () => query('delete from remotes'),
  ],
  [
    'destination_refusing',
    () =>
      query(`insert into remotes (kind, name, state, failures, away, refused, last_failure, opened_at, probe_at)
             values ('destination', 'lake', 'open', 1, true, true, 'The destination answered 401.', now(), now())`),
    () => query('delete from remotes'),
  ],
  [
    'destination_refusing',
    () =>
      query(`insert into dead_letters (integration, kind, fingerprint, type, id, destination, version, code, message)
             select 'other', 'delivery', 'lake ' || n, 'reservation', 'N' || n, 'lake', 1, 'deliver.refused', 'The destination answered 404.'
               from generate_series(1, 20) n`),
    // One accepted change ends it: the others are dead letters of their own.
    () =>
      query(`insert into remotes (kind, name, delivered_at) values ('destination', 'lake', now())
                 on conflict (kind, name) do update set delivered_at = now()`),
  ],
  [
    'document_broken',
    async () => {
      await query(`insert into documents (kind, name, version, source, body, hash, applied_by)
                   select kind, name, 99, '', '{"connector": "hotel", "from_tomorrow": 1}', 'x', 'test'
                     from documents where kind = 'connector' and name = 'hotel' and version = 1`);
      await putInForce(99);
      await node.runtime.refresh();
    },
    async () => {
      await putInForce(1);
      await node.runtime.refresh();
    },
  ],
];
for (const [kind, begin, end] of causes) {
  test(`${kind} is raised while its cause lasts, and resolves by itself`, async () => {
    assert.equal(await opened(kind), 0);
    await begin();
    await watchOnce(node.runtime);
    assert.notEqual(await opened(kind), 0);
    await end();
    await watchOnce(node.runtime);
    assert.equal(await opened(kind), 0);
  });
}

test('the circuit of an API from which no brand pulls any more is no cause', async () => {
  await query(`insert into remotes (kind, name, state, failures, away, last_failure, opened_at, probe_at)
               values ('partner', 'https://former.example', 'open', 5, true, 'it answered 500', now(), now())`);
  await watchOnce(node.runtime);
  assert.equal(await opened('breaker_open'), 0);
  await query('delete from remotes');
});

test('a destination that is away is reported without judging every brand, whose alerts stay', async () => {
  const entry = (kind: string) => causes.find(([one]) => one === kind) ?? assert.fail(kind);
  const [, unlist, list] = entry('bookings_unlisted');
  const [, leave, come] = entry('destination_away');
  await unlist();
  await judgeBrands(node.runtime);
  await leave();
  await judgeBrands(node.runtime);
  assert.deepEqual([await opened('bookings_unlisted'), await opened('destination_away')], [1, 0]);
  await judgeCauses(node.runtime);
  assert.deepEqual([await opened('bookings_unlisted'), await opened('destination_away')], [1, 1]);
  await Promise.all([list(), come()]);
  await judgeCauses(node.runtime);
  assert.deepEqual([await opened('bookings_unlisted'), await opened('destination_away')], [1, 0]);
  await judgeBrands(node.runtime);
  assert.equal(await opened('bookings_unlisted'), 0);
});

test('a destination that refuses everything is one incident, not one per brand whose dead letters grow', async () => {
  await query('delete from remotes');
  await query(`delete from dead_letters`);
  await query(`insert into dead_letters (integration, kind, fingerprint, type, id, destination, version, code, message)
               select b, 'delivery', 'lake ' || n, 'reservation', 'N' || n, 'lake', 1, 'deliver.refused', 'The destination answered 404.'
                 from generate_series(1, 20) n, unnest(array['grand', 'other']) b`);
  await watchOnce(node.runtime);
  const { rows } = await query('select kind, message from alerts where resolved_at is null');
  assert.deepEqual(
    rows.map(({ kind }) => kind),
    ['destination_refusing'],
  );
  assert.match(rows[0].message, /^lake refuses all changes: The destination answered 404\. 40 records refused/);
  const answer = await node.call('POST', '/destinations/lake/try-now', await node.token('operator'));
  assert.deepEqual(answer.body, { tried: true, replayed: 0 }, 'their versions are not kept');
  await query(`delete from dead_letters`);
});
