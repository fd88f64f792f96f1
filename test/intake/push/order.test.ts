import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { latestMoment } from '../../../src/core/intake/push/envelope.ts';
import { read } from '../../../src/core/pipeline.ts';
import { transaction } from '../../../src/core/store/db/pool.ts';
import { ingest } from '../../../src/core/store/records/ingest.ts';
import { activeIntegration, type Bench, openBench, reservationData } from './events-support.ts';

/** Events against events, and events against pulled pages: whatever the order of arrival, one state at the end. */

const active = activeIntegration({}, {}, { map: { id: 'reservation_id', rooms: { from: 'stays' } } });
let bench: Bench;
before(async () => {
  bench = await openBench(active);
});
after(() => bench.end());

const clean = () => bench.pool.query('truncate events, records, history, sightings, outbox, dead_letters');
const base = Date.now() - 3_600_000;
const data = (day: number) => reservationData({ check_out: `2036-12-${String(10 + day).padStart(2, '0')}` });

/** A page that was requested at that time, with the reservation in that state. */
async function pull(at: number, day: number): Promise<void> {
  const found = active.shapers.pull.single(data(day));
  assert.equal(found.kind, 'ok');
  if (found.kind !== 'ok') return;
  const arrival = { mode: 'pull', effectiveAt: base + at, cause: 'run', causeId: `run-${at}` } as const;
  await transaction(bench.pool, (tx) => ingest(tx, active, [read(active, found.record, arrival)]));
}

const outcome = async () => (await bench.reservation())?.check_out;

test('an event newer than the page wins, an older one is superseded by it', async () => {
  await clean();
  await pull(1000, 1);
  await bench.send('reservation.updated', data(2), { occurredAt: base + 2000 });
  await bench.work();
  assert.equal(await outcome(), '2036-12-12');
  await pull(1500, 3);
  assert.equal(await outcome(), '2036-12-12', 'a page requested before the event is older than it');
  await pull(3000, 4);
  assert.equal(await outcome(), '2036-12-14');
  await bench.send('reservation.updated', data(5), { occurredAt: base + 2500 });
  await bench.work();
  assert.equal(await outcome(), '2036-12-14');
});

test('an event whose time has no fraction is not older than a page requested earlier in its second', async () => {
  await clean();
  const second = Math.floor(base / 1000) * 1000;
  const wholeSeconds = (at: number) => new Date(at).toISOString().replace(/\.\d+/, '');
  const send = (at: number, day: number) =>
    bench.send('reservation.updated', data(day), { occurredAt: latestMoment(wholeSeconds(at)) ?? 0 });
  await pull(second - base + 300, 1);
  await send(second + 800, 2);
  await bench.work();
  assert.equal(await outcome(), '2036-12-12');
  await send(second - 200, 3);
  await bench.work();
  assert.equal(await outcome(), '2036-12-12', 'an event of the second before is older');
  await send(second + 900, 4);
  await bench.work();
  assert.equal(await outcome(), '2036-12-14', 'events of one second count in the order of their arrival');
  await pull(second - base + 1000, 5);
  assert.equal(await outcome(), '2036-12-15', 'a page requested in the next second is newer');
});

test('an event older than a page that showed the reservation unchanged is superseded too', async () => {
  await clean();
  await pull(1000, 1);
  await pull(2_000 + 31 * 60_000, 1);
  await bench.send('reservation.updated', data(2), { occurredAt: base + 2000 });
  await bench.work();
  assert.equal(await outcome(), '2036-12-11');
});

test('a page that shows it unchanged soon after the event may be a copy from before: the event counts', async () => {
  await clean();
  Object.assign(active, { lagMs: 30 * 60_000 });
  await pull(1000, 1);
  await pull(3000, 1);
  await bench.send('reservation.updated', data(2), { occurredAt: base + 2000 });
  await bench.work();
  assert.equal(await outcome(), '2036-12-12');
  Object.assign(active, { lagMs: 0 });
});

test('property: shuffled, repeated and cut into any batches, events end in the state of the newest', async () => {
  const event = fc.record({ at: fc.integer({ min: 0, max: 20 }), day: fc.integer({ min: 0, max: 15 }) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { minLength: 1, maxLength: 8 }),
      fc.infiniteStream(fc.nat()),
      async (events, order) => {
        const states = new Set<string | undefined>();
        // The sequence follows the order of storing: events of one instant keep their order, the others are shuffled.
        const newest = [...events]
          .map((one, seq) => ({ ...one, seq }))
          .sort((a, b) => a.at - b.at || a.seq - b.seq)
          .at(-1);
        for (let round = 0; round < 3; round++) {
          await clean();
          const shuffled = events
            .map((one, seq) => ({ ...one, seq, key: round === 0 ? seq : (order.next().value ?? 0) }))
            .sort((a, b) => a.key - b.key || a.seq - b.seq);
          const times = new Map<number, typeof shuffled>();
          for (const one of [...shuffled].sort((a, b) => a.seq - b.seq))
            times.set(one.at, [...(times.get(one.at) ?? []), one]);
          for (const { at } of shuffled) {
            const one = times.get(at)?.shift();
            if (!one) continue;
            await bench.send('reservation.updated', data(one.day), { occurredAt: base + at, eventId: `e-${one.seq}` });
            if ((order.next().value ?? 0) % 2 === 0) await bench.work();
          }
          await bench.work();
          states.add(await outcome());
        }
        assert.deepEqual([...states], [`2036-12-${String(10 + (newest?.day ?? 0)).padStart(2, '0')}`]);
      },
    ),
    { numRuns: 25 },
  );
});
