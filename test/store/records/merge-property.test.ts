import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeRecord, type Reservation } from '../../../src/core/canonical/reservation.ts';
import type { Json } from '../../../src/terms.ts';
import { activeIntegration, openBench, poll } from '../../intake/push/events-support.ts';
import { type Story, story, type Truth, untrue, visible } from '../../reconcile/model-partner.ts';

/** The same property as of the pure merge, through events, polls, sightings and the rows of the store. */
test('every stored value was true at some moment, and the last poll makes the record the true state', async () => {
  const integrations = { keep: activeIntegration(), clear: activeIntegration({ absent: 'clear' }) };
  const benches = { keep: await openBench(integrations.keep), clear: await openBench(integrations.clear) };
  const began = Date.now() - 3_600_000;
  const follow = async ({ states, messages, shown, absent }: Story) => {
    const [bench, active] = [benches[absent], integrations[absent]];
    await bench.pool.query('truncate events, records, history, sightings, outbox, dead_letters');
    for (const { source, at, data } of messages) {
      if (source === 'pull') {
        await poll(bench, active, began + at, data as Json);
      } else {
        await bench.send('reservation.updated', data as Json, { occurredAt: began + at });
        await bench.work();
      }
      assert.deepEqual(untrue(plainly(await bench.reservation('R1')), states), []);
    }
    const expected = { guests: [], rooms: [], charges: [], ...visible(states.at(-1) as Truth, shown) };
    assert.deepEqual(plainly(await bench.reservation('R1')), plainly(expected as unknown as Reservation));
    const again = messages.at(-1);
    const repeated = await poll(bench, active, began + 2_000, again?.data as Json);
    assert.equal(repeated.changed, 0, 'the same page again changes nothing');
    const { rows } = await bench.pool.query('select from dead_letters');
    assert.equal(rows.length, 0);
  };
  try {
    await fc.assert(fc.asyncProperty(story, follow), { numRuns: 40, endOnFailure: true });
  } finally {
    await benches.keep.end();
    await benches.clear.end();
  }
});

/** As JSON, so that two spellings of a number are one, with sorted keys. */
const plainly = (record: Reservation | undefined): { [field: string]: Json } =>
  sorted(JSON.parse(encodeRecord(record ?? ({} as Reservation)))) as { [field: string]: Json };

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return typeof value === 'number' ? String(value) : value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, sorted(one)]),
  );
}
