import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import type { Reservation } from '../../../src/core/canonical/reservation.ts';
import type { Statement } from '../../../src/core/reconcile/forms.ts';
import { type Pool, transaction } from '../../../src/core/store/db/pool.ts';
import { ingest } from '../../../src/core/store/records/ingest.ts';
import { said, testBrand } from '../../support/brand.ts';
import { until } from '../../support/process.ts';
import { testStore } from '../../support/store.ts';

let pool: Pool;
describe('applying records', () => {
  before(async () => {
    pool = await testStore();
  });
  after(() => pool.end());
  beforeEach(() => pool.query('truncate records, history, sightings, outbox, dead_letters'));

  const brand = testBrand('lisbon', { reservation: ['crm', 'lake'] });

  function reservation(id: string, changes: Partial<Reservation> = {}): Reservation {
    return {
      id,
      check_in: '2026-03-01',
      check_out: '2026-03-04',
      status: 'confirmed',
      guests: [],
      rooms: [],
      charges: [],
      ...changes,
    };
  }

  const arriving = said;

  const taken = (...statements: Statement[]) => transaction(pool, (tx) => ingest(tx, brand, statements));

  async function rows<T extends object>(sql: string): Promise<T[]> {
    return (await pool.query<T>(sql)).rows;
  }

  test('a new reservation becomes version 1 and is due at every destination', async () => {
    const tally = await taken(arriving(reservation('A', { total_amount: '12345678901234567.89' })));
    assert.deepEqual(tally.outcomes, [{ outcome: 'created', id: 'A', version: 1 }]);
    assert.deepEqual(await rows('select destination, next_version, last_version from outbox order by 1'), [
      { destination: 'crm', next_version: 1, last_version: 1 },
      { destination: 'lake', next_version: 1, last_version: 1 },
    ]);
    const [stored] = await rows<{ amount: string }>(`select data->>'total_amount' as amount from records`);
    assert.equal(stored?.amount, '12345678901234567.89');
  });

  test('a poll without changes writes one sighting and no reservation row', async () => {
    await taken(arriving(reservation('A')), arriving(reservation('B')));
    const before = await rows('select xmin::text, * from records order by id');
    const tally = await taken(
      arriving(reservation('A'), { effectiveAt: 5000 }),
      arriving(reservation('B'), { effectiveAt: 5000 }),
    );
    assert.equal(tally.unchanged, 2);
    assert.deepEqual(await rows('select xmin::text, * from records order by id'), before);
    assert.deepEqual(await rows('select ids from sightings'), [{ ids: ['A', 'B'] }]);
  });

  test('a new reservation is written once and found by its guests', async () => {
    const guests = [{ first_name: 'Ana', email: 'ana@example.com' }] as unknown as Reservation['guests'];
    const changed = arriving(reservation('A', { guests, status: 'checked_in' }), { effectiveAt: 2000 });
    await taken(arriving(reservation('A', { guests })), arriving(reservation('B', { guests })), changed);
    assert.deepEqual(
      await rows(`select id, version, data->>'status' as status, ctid::text as place from records order by id`),
      [
        { id: 'A', version: 2, status: 'checked_in', place: '(0,1)' },
        { id: 'B', version: 1, status: 'confirmed', place: '(0,2)' },
      ],
      'each is written once, also A, which arrived twice',
    );
    assert.deepEqual(
      await rows(`select id from records where keys @@ '''reservation email:ana@example.com''' order by id`),
      [{ id: 'A' }, { id: 'B' }],
    );
  });

  test('an event older than a poll that saw the stored state is superseded', async () => {
    await taken(arriving(reservation('A'), { effectiveAt: 1000 }));
    await taken(arriving(reservation('A'), { effectiveAt: 5000 }));
    const late = arriving(reservation('A', { status: 'cancelled' }), {
      cause: 'event',
      causeId: '9',
      effectiveAt: 3000,
      seq: 900,
    });
    assert.equal((await taken(late)).superseded, 1);
    const fresh = arriving(reservation('A', { status: 'cancelled' }), {
      cause: 'event',
      causeId: '10',
      effectiveAt: 6000,
      seq: 901,
    });
    assert.deepEqual((await taken(fresh)).outcomes, [{ outcome: 'cancelled', id: 'A', version: 2 }]);
    assert.deepEqual(await rows('select outcome from history order by entry_id'), [
      { outcome: 'created' },
      { outcome: 'superseded' },
      { outcome: 'cancelled' },
    ]);
  });

  test('several states of one reservation in a batch become several versions, in order', async () => {
    const tally = await taken(
      arriving(reservation('A', { channel: '1' }), { effectiveAt: 1, seq: 1, cause: 'event' }),
      arriving(reservation('A', { channel: '2' }), { effectiveAt: 2, seq: 2, cause: 'event' }),
      arriving(reservation('A', { channel: '2' }), { effectiveAt: 3, seq: 3, cause: 'event' }),
      arriving(reservation('A', { channel: '3' }), { effectiveAt: 2, seq: 1, cause: 'event' }),
    );
    assert.deepEqual(
      tally.outcomes.map(({ outcome, version }) => [outcome, version]),
      [
        ['created', 1],
        ['updated', 2],
        ['unchanged', 2],
        ['superseded', 2],
      ],
    );
    assert.deepEqual(await rows(`select next_version, last_version from outbox where destination = 'crm'`), [
      { next_version: 1, last_version: 2 },
    ]);
  });

  for (const [said, again] of [
    ['later', { effectiveAt: 2_000, seq: 12 }],
    ['in the same instant', { effectiveAt: 1_000, seq: 12 }],
  ] as const) {
    for (const batches of ['one batch', 'two batches'] as const) {
      test(`a state repeated ${said}, in ${batches}, is not undone by an older one`, async () => {
        const event = { mode: 'push', cause: 'event', causeId: 'e' } as const;
        const first = arriving(reservation('A', { channel: 'first' }), { ...event, effectiveAt: 1_000, seq: 10 });
        const same = arriving(reservation('A', { channel: 'first' }), { ...event, ...again });
        const between = arriving(reservation('A', { channel: 'other' }), { ...event, effectiveAt: 1_000, seq: 11 });
        if (batches === 'one batch') await taken(first, same);
        else for (const one of [first, same]) await taken(one);
        const { outcomes } = await taken(between);
        assert.deepEqual(outcomes, [
          { outcome: 'superseded', id: 'A', version: 1, reason: 'A newer state is stored.', isOverruled: true },
        ]);
      });
    }
  }

  test('the same bad record at every poll is one dead letter that counts up', async () => {
    const bad: Statement = {
      type: 'reservation',
      id: 'X',
      receipt: { mode: 'pull', effectiveAt: 1, cause: 'run', causeId: 'run_1' },
      source: 'pull',
      scope: { fields: 'full', lists: 'full' },
      raw: { key: 'X', value: null },
      notes: [],
      failure: {
        kind: 'record',
        type: 'reservation',
        id: 'X',
        code: 'record.invalid',
        message: 'check_in is missing',
        detail: {},
        raw: { id: 'X\u0000\ud800' },
      },
    };
    await taken(bad);
    assert.equal((await taken(bad, arriving(reservation('A')))).dead, 1);
    assert.deepEqual(await rows('select id, code, times, state from dead_letters'), [
      { id: 'X', code: 'record.invalid', times: 2, state: 'open' },
    ]);
  });

  test('a failing batch leaves nothing behind', async () => {
    await assert.rejects(
      transaction(pool, async (tx) => {
        await ingest(tx, brand, [arriving(reservation('A'))]);
        throw new Error('the caller failed');
      }),
    );
    assert.deepEqual(await rows('select id from records union all select id from outbox'), []);
  });

  test('nodes that apply overlapping batches neither deadlock nor lose a version', async () => {
    const ids = ['C', 'A', 'D', 'B', 'E'];
    await Promise.all(
      Array.from({ length: 24 }, (_, i) =>
        taken(
          ...[...ids.slice(i % 5), ...ids.slice(0, i % 5)].map((id) =>
            arriving(reservation(id, { channel: String(i) }), { effectiveAt: i + 1, seq: i + 1, cause: 'event' }),
          ),
        ),
      ),
    );
    const state = await rows<{ channel: string; version: number; changes: number }>(
      `select data->>'channel' as channel, version,
            (select count(*)::int from history c where c.diff is not null and c.id = r.id) as changes from records r`,
    );
    assert.equal(state.length, 5);
    for (const row of state) {
      assert.equal(row.channel, '23');
      assert.equal(row.changes, row.version);
    }
  });

  test('a batch that waited for the node that inserts the same reservation builds on its version', async () => {
    const inserted = Promise.withResolvers<void>();
    const mayCommit = Promise.withResolvers<void>();
    const first = transaction(pool, async (tx) => {
      await ingest(tx, brand, [arriving(reservation('A'))]);
      inserted.resolve();
      await mayCommit.promise;
    });
    await inserted.promise;
    const later = { effectiveAt: 2000 };
    const second = taken(
      arriving(reservation('A', { status: 'checked_in' }), later),
      arriving(reservation('B', { status: 'checked_in' }), later),
    );
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await until('the second batch to wait', async () => (await rows(waiting)).length > 0);
    mayCommit.resolve();
    await first;
    assert.deepEqual((await second).outcomes, [
      { outcome: 'updated', id: 'A', version: 2 },
      { outcome: 'created', id: 'B', version: 1 },
    ]);
  });

  test('shuffled and repeated events, in any batches, end in one state', async () => {
    const state = fc.record({ at: fc.integer({ min: 1, max: 4 }), says: fc.constantFrom('a', 'b') });
    await fc.assert(
      fc.asyncProperty(
        fc.array(state, { minLength: 1, maxLength: 6 }),
        fc.infiniteStream(fc.nat()),
        async (told, noise) => {
          const next = () => noise.next().value as number;
          await pool.query('truncate records, history, sightings, outbox, dead_letters');
          const events = told.map(({ at, says }, i) =>
            arriving(reservation('A', { channel: says }), {
              effectiveAt: at,
              seq: i + 1,
              cause: 'event',
              mode: 'push',
            }),
          );
          const shuffled = [...events, ...events]
            .map((event) => ({ event, key: next() }))
            .sort((a, b) => a.key - b.key)
            .map(({ event }) => event);
          while (shuffled.length > 0) await taken(...shuffled.splice(0, 1 + (next() % 4)));
          const newest = told.findLast(({ at }) => at === Math.max(...told.map((one) => one.at)));
          assert.deepEqual(await rows(`select data->>'channel' as channel from records`), [{ channel: newest?.says }]);
          const versions = await rows<{ version: number }>(
            'select version from history where diff is not null order by version',
          );
          assert.deepEqual(
            versions.map(({ version }) => version),
            versions.map((_, i) => i + 1),
          );
        },
      ),
      { numRuns: 60 },
    );
  });
});
