import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { deliverPorts } from '../../src/composition/deliver.ts';
import { eventWorkerPorts } from '../../src/composition/push.ts';
import { drainOnce } from '../../src/core/deliver/deliveries.ts';
import { type ReplayResult, replayDeadLetters } from '../../src/core/deliver/replay.ts';
import { drainEvents } from '../../src/core/intake/push/worker.ts';
import { read } from '../../src/core/pipeline.ts';
import { transaction } from '../../src/core/store/db/pool.ts';
import { ingest } from '../../src/core/store/records/ingest.ts';
import { readTimeline } from '../../src/core/store/records/timeline.ts';
import { InnboundError } from '../../src/errors.ts';
import { applyDocument } from '../../src/operator/operations/edit-documents.ts';
import { eraseGuest } from '../../src/operator/operations/erase-guest.ts';
import { dropDeadLetter, replayPorts } from '../../src/operator/operations/replay-dead-letters.ts';
import { countDeadLetters, listDeadLetters, showDeadLetter } from '../../src/operator/store/dead-letters.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';
import type { Json } from '../../src/terms.ts';
import { listen } from '../deliver/http-server.ts';
import { openWorkspace, rawReservation } from '../deliver/workspace.ts';

type Told = { version: number; event: string; idempotency_key: string; data: { id: string; status: string } };

async function setUp(t: TestContext) {
  const refused = new Set<string>();
  const server = await listen(({ body }) => ({ status: refused.has((body as unknown as Told).data.id) ? 422 : 200 }));
  const workspace = await openWorkspace(server.url);
  t.after(async () => {
    await workspace.close();
    await server.close();
  });
  const told = (id: string): Told[] =>
    server.received.map(({ body }) => body as unknown as Told).filter(({ data }) => data.id === id);
  return { ...workspace, refused, told };
}

let minute = 0;

/** As a poll would return it. */
async function pulled(runtime: Runtime, raw: { [key: string]: Json }): Promise<void> {
  minute += 1;
  const integration = runtime.active().integrations.get('lisbon');
  assert.ok(integration);
  const effectiveAt = Date.UTC(2026, 10, 1, 0, minute);
  const arrival = { mode: 'pull' as const, effectiveAt, cause: 'run' as const, causeId: 'run_1' };
  const prepared = read(integration, { key: String(raw.id), value: raw }, arrival);
  await transaction(runtime.pool, (tx) => ingest(tx, integration, [prepared]));
}

const drain = async (runtime: Runtime) => drainOnce(await deliverPorts(runtime));

async function replayAll(runtime: Runtime, under?: 'today' | 'recorded'): Promise<ReplayResult[]> {
  const results: ReplayResult[] = [];
  await replayDeadLetters(replayPorts(runtime), await listDeadLetters(runtime.pool), {
    by: 'test',
    perSecond: 1_000,
    ...(under && { under }),
    onEach: (result) => results.push(result),
  });
  return results;
}

test('a record that cannot be mapped counts up, shows its diff after the fix, and is replayed', async (t) => {
  const { runtime, remap, told } = await setUp(t);
  await pulled(runtime, rawReservation('r1', { status: 'GARANTIDA' }));
  await pulled(runtime, rawReservation('r1', { status: 'GARANTIDA', total_amount: 120 }));
  const [letter] = await listDeadLetters(runtime.pool);
  assert.equal(letter?.kind, 'record');
  assert.equal(letter?.record_id, 'r1');
  assert.equal(letter?.times, 2);
  assert.deepEqual(await replayAll(runtime), [
    { id: letter?.id, result: 'still_failing', code: 'record.unknown_status', message: letter?.message },
  ]);
  const fixed = await remap('CONF, GARANTIDA');
  const preview = await replayPorts(fixed).preview({ id: letter?.id ?? '', kind: 'record' }, 'today');
  assert.equal(preview.kind, 'ready');
  assert.ok(preview.kind === 'ready' && preview.before === undefined);
  const recorded = await replayPorts(fixed).preview({ id: letter?.id ?? '', kind: 'record' }, 'recorded');
  assert.equal(recorded.kind, 'still_failing');
  assert.deepEqual(await replayAll(fixed), [{ id: letter?.id, result: 'replayed' }]);
  assert.equal((await drain(fixed)).delivered, 1);
  assert.equal(told('r1')[0]?.data.status, 'confirmed');
  assert.equal(await countDeadLetters(fixed.pool), 0);
  assert.equal((await showDeadLetter(fixed.pool, letter?.id ?? ''))?.closed_by, 'test');
});

test('a replayed record never overwrites newer data', async (t) => {
  const { runtime, remap } = await setUp(t);
  await pulled(runtime, rawReservation('r1', { status: 'GARANTIDA', total_amount: 1 }));
  await pulled(runtime, rawReservation('r1', { total_amount: 2 }));
  const fixed = await remap('CONF, GARANTIDA');
  await replayAll(fixed);
  const { rows } = await fixed.pool.query(
    `select version, data ->> 'total_amount' as amount from records where id = 'r1'`,
  );
  assert.deepEqual(rows, [{ version: 1, amount: '2' }]);
  const outcomes = await fixed.pool.query(`select outcome from history where cause = 'replay'`);
  assert.deepEqual(outcomes.rows, [{ outcome: 'superseded' }]);
});

test('a dead delivery holds back its own reservation; replayed, all its versions follow in order under their keys', async (t) => {
  const { runtime, refused, told } = await setUp(t);
  refused.add('r1');
  await pulled(runtime, rawReservation('r1'));
  await drain(runtime);
  await pulled(runtime, rawReservation('r1', { total_amount: 200 }));
  await pulled(runtime, rawReservation('r2'));
  await drain(runtime);
  assert.deepEqual(
    told('r1').map(({ version }) => version),
    [1],
  );
  assert.equal(told('r2').length, 1);
  const [letter] = await listDeadLetters(runtime.pool, { destination: 'crm', code: 'deliver.refused' });
  const whole = await showDeadLetter(runtime.pool, letter?.id ?? '');
  assert.equal(whole?.waiting_behind, 1);
  assert.equal((whole?.data as { id: string } | undefined)?.id, 'r1');
  assert.equal(whole?.attempts.length, 1);
  refused.clear();
  assert.deepEqual(await replayAll(runtime), [{ id: letter?.id, result: 'replayed' }]);
  await drain(runtime);
  const seen = told('r1');
  assert.deepEqual(
    seen.map(({ version }) => version),
    [1, 1, 2],
  );
  assert.equal(seen[0]?.idempotency_key, seen[1]?.idempotency_key);
});

test('a dropped delivery is skipped and the next version follows', async (t) => {
  const { runtime, refused, told } = await setUp(t);
  refused.add('r1');
  await pulled(runtime, rawReservation('r1'));
  await drain(runtime);
  await pulled(runtime, rawReservation('r1', { total_amount: 200 }));
  refused.clear();
  const [letter] = await listDeadLetters(runtime.pool);
  assert.equal(await dropDeadLetter(runtime, letter?.id ?? '', { by: 'test', reason: 'no longer wanted' }), true);
  assert.equal(await dropDeadLetter(runtime, letter?.id ?? '', { by: 'test', reason: 'twice' }), false);
  await drain(runtime);
  assert.deepEqual(
    told('r1').map(({ version }) => version),
    [1, 2],
  );
  const timeline = await readTimeline(runtime.pool, 'lisbon', 'reservation', 'r1');
  const tries = timeline?.timeline.filter(({ what }) => what === 'delivery');
  assert.deepEqual(
    tries?.map(({ outcome, status, code }) => [outcome, status, code]),
    [
      ['dead', 422, 'deliver.refused'],
      ['skipped', undefined, 'dropped'],
      ['delivered', undefined, undefined],
    ],
  );
  const closed = timeline?.timeline.find(({ what }) => what === 'dead_letter');
  assert.equal(closed?.closed_reason, 'no longer wanted');
});

test("a delivery replayed under today's documents is sent as a newer version", async (t) => {
  const { runtime, remap, refused, told } = await setUp(t);
  refused.add('r1');
  await pulled(runtime, rawReservation('r1', { status: 'CONF', channel: 'web' }));
  await drain(runtime);
  refused.clear();
  const unchanged = await replayPorts(runtime).preview((await listDeadLetters(runtime.pool))[0] ?? never(), 'today');
  assert.ok(unchanged.kind === 'ready' && unchanged.diff.length === 0);
  const fixed = await remap('CONF', ', channel: { Website: [web] }');
  const [letter] = await listDeadLetters(fixed.pool);
  const preview = await replayPorts(fixed).preview(letter ?? never(), 'today');
  assert.ok(preview.kind === 'ready');
  assert.deepEqual(preview.diff, [{ path: 'channel', before: 'web', after: 'Website' }]);
  await replayAll(fixed, 'today');
  await drain(fixed);
  assert.deepEqual(
    told('r1').map(({ version }) => version),
    [1, 2],
  );
  assert.equal(await countDeadLetters(fixed.pool), 0);
});

test("a replay under today's documents does not skip an erasure that waits behind it", async (t) => {
  const { runtime, remap, refused, told } = await setUp(t);
  const guests = [{ first_name: 'Vera', last_name: 'Lind', email: 'vera.lind@mail.example' }];
  refused.add('r1');
  await pulled(runtime, rawReservation('r1', { channel: 'web', guests }));
  await drain(runtime);
  await eraseGuest(runtime, { email: 'vera.lind@mail.example' }, 'officer');
  await pulled(runtime, rawReservation('r1', { channel: 'web', total_amount: 200, guests: [] }));
  refused.clear();
  const fixed = await remap('CONF', ', channel: { Website: [web] }');
  assert.deepEqual(
    (await replayAll(fixed, 'today')).map(({ result }) => result),
    ['replayed'],
  );
  await drain(fixed);
  assert.deepEqual(
    told('r1').map(({ version, event }) => [version, event]),
    [
      [1, 'created'],
      [2, 'erased'],
      [3, 'updated'],
      [4, 'updated'],
    ],
  );
});

test('a replayed event is processed again', async (t) => {
  const { runtime, remap, told } = await setUp(t);
  const data = { ...rawReservation('r1', { status: 'GARANTIDA' }), reservation_id: 'r1' };
  const body = { event: 'reservation.created', timestamp: '2026-11-01T00:00:00Z', brand_id: 'LIS01', data };
  await runtime.pool.query(
    `insert into events (integration, endpoint_id, event_id, event, occurred_at, received_at, body, body_hash)
     values ('lisbon', 'e', '1', 'reservation.created', '2026-11-01', now(), $1, '')`,
    [Buffer.from(JSON.stringify(body))],
  );
  await drainEvents(eventWorkerPorts(runtime));
  const [letter] = await listDeadLetters(runtime.pool, { kind: 'event' });
  assert.equal(letter?.code, 'record.unknown_status');
  assert.equal((await replayAll(runtime))[0]?.result, 'still_failing');
  const fixed = await remap('CONF, GARANTIDA');
  assert.equal((await replayAll(fixed))[0]?.result, 'replayed');
  await drainEvents(eventWorkerPorts(fixed));
  await drain(fixed);
  assert.equal(told('r1')[0]?.event, 'created');
  assert.equal(await countDeadLetters(fixed.pool), 0);
});

/** Edits the brand as the console does. */
async function editBrand(runtime: Runtime, change: (text: string) => string): Promise<void> {
  const { rows } = await runtime.pool.query<{ source: string }>(
    `select source from documents where kind = 'integration' and name = 'lisbon' order by version desc limit 1`,
  );
  const text = change(rows[0]?.source ?? '');
  await applyDocument(runtime, { kind: 'integration', name: 'lisbon', text }, 'test');
}

test('a replay under the recorded mapping goes to the destinations of today', async (t) => {
  const { runtime, remap } = await setUp(t);
  await pulled(runtime, rawReservation('r1', { status: 'GARANTIDA' }));
  const fixed = await remap('CONF, GARANTIDA');
  // As if it had failed under the mapping that is in force now.
  await fixed.pool.query(`update dead_letters set connector_version = 2`);
  const archive = {
    kind: 'destination',
    name: 'archive',
    text: 'destination: archive\ntype: files\npath: out\n',
  } as const;
  await applyDocument(fixed, archive, 'test');
  await editBrand(fixed, (text) => text.replace('[crm]', '[archive]'));
  assert.deepEqual(
    (await replayAll(fixed, 'recorded')).map(({ result }) => result),
    ['replayed'],
  );
  const { rows } = await fixed.pool.query(`select destination from outbox where type = 'reservation'`);
  assert.deepEqual(rows, [{ destination: 'archive' }]);
});

test('a dead delivery that a rule of today drops is not sent again; as it may have arrived, it is removed', async (t) => {
  const { runtime, refused, told } = await setUp(t);
  refused.add('r1');
  await pulled(runtime, rawReservation('r1', { channel: 'TEST' }));
  await drain(runtime);
  refused.clear();
  await editBrand(runtime, (text) => `${text}transforms:\n  - when: 'channel == "TEST"'\n    drop: true\n`);
  const [letter] = await listDeadLetters(runtime.pool);
  const which = { id: letter?.id ?? '', kind: 'delivery' as const };
  assert.equal((await replayPorts(runtime).preview(which, 'today')).kind, 'dropped');
  assert.equal((await replayAll(runtime, 'today'))[0]?.result, 'replayed');
  await drain(runtime);
  assert.deepEqual(
    told('r1').map(({ event }) => event),
    ['created', 'removed'],
  );
  assert.equal(await countDeadLetters(runtime.pool), 0);
});

test('a dead letter that takes too long to map does not stop the replay of the others', async (t) => {
  const { runtime, remap } = await setUp(t);
  await pulled(runtime, rawReservation('r1', { status: 'GARANTIDA' }));
  await pulled(runtime, rawReservation('r2', { status: 'GARANTIDA' }));
  const fixed = await remap('CONF, GARANTIDA');
  const letters = await listDeadLetters(fixed.pool);
  const ports = replayPorts(fixed);
  const costly = new InnboundError('operate.too_costly', 'The text could not be processed.');
  const preview: typeof ports.preview = async (letter, under) => {
    if (letter.id === letters[0]?.id) throw costly;
    return ports.preview(letter, under);
  };
  const counts = await replayDeadLetters({ ...ports, preview }, letters, { by: 'test', perSecond: 1_000 });
  assert.deepEqual(counts, { replayed: 1, still_failing: 1, gone: 0 });
});

function never(): never {
  throw new Error('there is no dead letter');
}

test('a thin event without a status is applied by itself once its reservation is known', async (t) => {
  const { runtime } = await setUp(t);
  const data = { reservation_id: 'r1' };
  const body = { event: 'reservation.cancelled', timestamp: new Date().toISOString(), brand_id: 'LIS01', data };
  await runtime.pool.query(
    `insert into events (integration, endpoint_id, event_id, event, occurred_at, received_at, body, body_hash)
     values ('lisbon', 'ep', 'e1', 'reservation.cancelled', now(), now(), $1, '')`,
    [Buffer.from(JSON.stringify(body))],
  );
  await drainEvents(eventWorkerPorts(runtime));
  const [letter] = await listDeadLetters(runtime.pool, { kind: 'event' });
  assert.equal(letter?.code, 'record.unknown_reservation');
  const ports = replayPorts(runtime);
  const which = { id: letter?.id ?? '', kind: 'event' as const };
  for (const under of ['today', 'recorded'] as const)
    assert.equal((await ports.preview(which, under)).kind, 'still_failing');
  await pulled(runtime, rawReservation('r1', { channel: 'BDC' }));
  const { rows } = await runtime.pool.query(`select data from records where id = 'r1'`);
  assert.equal(rows[0]?.data.status, 'cancelled');
  assert.equal(rows[0]?.data.channel, 'BDC');
  assert.equal(await countDeadLetters(runtime.pool), 0);
});
