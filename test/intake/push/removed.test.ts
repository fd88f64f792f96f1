import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Json } from '../../../src/terms.ts';
import type { Bench } from './events-support.ts';
import { activeIntegration, openBench, poll, withBench } from './events-support.ts';

/** Reservations that a rule drops after they were delivered. */
describe('a reservation that a rule begins to drop', () => {
  let bench: Bench;
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.end());
  beforeEach(async () => {
    await bench.pool.query('truncate events, records, history, sightings, outbox, dead_letters');
  });

  const at = Date.now() - 60_000;
  const transforms = [{ when: 'channel == "test"', drop: true }];
  const row = (more: { [field: string]: Json } = {}): { [field: string]: Json } => ({
    id: 'R-1001',
    check_in: '2036-12-01',
    check_out: '2036-12-04',
    status: 'confirmed',
    channel: 'web',
    guests: [{ first_name: 'Marta', last_name: 'Quill', email: 'marta@quill.example' }],
    ...more,
  });
  const versions = async ({ pool }: Pick<Bench, 'pool'> = bench) => {
    const { rows } = await pool.query<{ event: string }>(
      'select outcome as event from history where diff is not null order by version',
    );
    return rows.map(({ event }) => event);
  };
  const outcomes = async () => {
    const { rows } = await bench.pool.query<{ outcome: string }>('select outcome from history order by entry_id');
    return rows.map(({ outcome }) => outcome);
  };

  for (const isPushed of [true, false]) {
    test(`gets one version that says so, and comes back; ${isPushed ? 'pulled and pushed' : 'only pulled'}`, async () => {
      const active = activeIntegration({}, { transforms, push: { enabled: isPushed } });
      await poll(bench, active, at, row());
      await poll(bench, active, at + 1, row({ channel: 'test' }));
      assert.deepEqual(await versions(), ['created', 'removed']);
      await poll(bench, active, at + 2, row({ channel: 'test', confirmation_number: 'C-2' }));
      assert.deepEqual(await outcomes(), ['created', 'removed', 'dropped']);
      await poll(bench, active, at + 3, row());
      assert.deepEqual(await versions(), ['created', 'removed', 'updated']);
      assert.equal((await bench.reservation())?.channel, 'web');
      assert.equal((await poll(bench, active, at + 4, row())).unchanged, 1);
    });
  }

  test('is removed at the next poll after the rule was added', async () => {
    await poll(bench, activeIntegration(), at, row({ channel: 'test' }));
    await poll(bench, activeIntegration({}, { transforms }), at + 1, row({ channel: 'test' }));
    assert.deepEqual(await versions(), ['created', 'removed']);
  });

  test('was never stored: it is dropped without a version', async () => {
    const active = activeIntegration({}, { transforms });
    await poll(bench, active, at, row({ channel: 'test' }));
    assert.deepEqual([await versions(), await bench.reservation()], [[], undefined]);
  });

  test('keeps what its events say meanwhile', async () => {
    await withBench(
      async (own) => {
        const send = async (after: number, data: Json) => {
          await own.send('reservation.updated', data, { occurredAt: at + after });
          await own.work();
        };
        const { id, ...whole } = row();
        await send(0, { reservation_id: id ?? '', ...whole });
        await send(1, { reservation_id: 'R-1001', channel: 'test' });
        await send(2, { reservation_id: 'R-1001', status: 'checked-in' });
        assert.deepEqual(await versions(own), ['created', 'removed']);
        await send(3, { reservation_id: 'R-1001', channel: 'web' });
        assert.deepEqual(await versions(own), ['created', 'removed', 'updated']);
        assert.equal((await own.reservation())?.status, 'checked_in');
        // An event from before the removal changes nothing.
        await send(0.5, { reservation_id: 'R-1001', channel: 'test' });
        assert.equal((await own.reservation())?.channel, 'web');
      },
      activeIntegration({}, { transforms }),
    );
  });
});
