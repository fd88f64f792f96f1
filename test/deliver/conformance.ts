import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { drainOnce } from '../../src/core/deliver/deliveries.ts';
import type { Destination, DestinationServices, Outcome } from '../../src/core/deliver/destination.ts';
import { compileFields } from '../../src/core/deliver/message.ts';
import type { DestinationConfig, Selection } from '../../src/core/deliver/ports.ts';
import { type Pool, transaction } from '../../src/core/store/db/pool.ts';
import { retryHeld } from '../../src/core/store/records/dead-letters.ts';
import { emptyStore } from '../support/store.ts';
import { config, delivery, lane, openStore, ports, reservation, services, takeIn } from './support.ts';

/** What took effect at a destination for one version of a record. */
export interface Effect {
  readonly id: string;
  readonly version: number;
  readonly key: string;
  readonly event: string;
  /** As the destination holds it, JSON. */
  readonly data: string;
}

export interface Subject {
  /** A new opening of the destination, as after a restart. `offered`: other services than the subject's own. */
  open(offered?: DestinationServices): Promise<Destination>;
  /** It connects to nothing. */
  readonly isLocal?: true;
  /** Everything that took effect, in its order. */
  effects(): Promise<Effect[]>;
  /** `effects` are the requests that somebody else received; what a destination stores itself holds nothing of an erased guest. */
  readonly isReceiver?: true;
  /** A warehouse: `effects` shows the newest version of each record only. */
  readonly newestOnly?: true;
  /** From now on this record is refused for good; absent if the destination refuses nothing. */
  refuse?(id: string): Promise<void>;
  close(): Promise<void>;
}

/** One for all tests of the process, each of which finds it empty. */
let shared: ReturnType<typeof openStore> | undefined;
after(async () => (await shared)?.close());

/**
 * The suite that every destination passes: order, keys, partial failure, an answer lost after success, a restart during a batch,
 * consent, erasure, removal.
 */
export function conformance(name: string, make: () => Promise<Subject>, change: Partial<DestinationConfig> = {}): void {
  async function set(t: TestContext, settings: Partial<DestinationConfig> = {}) {
    shared ??= openStore();
    const store = await shared;
    await emptyStore(store.pool);
    const subject = await make();
    t.after(() => subject.close());
    const drain = async (wrap: (destination: Destination) => Destination = (one) => one, again = false) => {
      if (again) {
        await store.pool.query('update outbox set due_at = now() where due_at is not null');
        await store.pool.query(`update remotes set probe_at = now() where state <> 'closed'`);
      }
      const destination = wrap(await subject.open());
      const one = lane(config('it', { ...change, ...settings }));
      return drainOnce(ports(store.pool, [one], { it: destination }));
    };
    return { pool: store.pool, subject, drain };
  }

  test(`${name}: versions arrive in order, each once, under its own key`, async (t) => {
    const { pool, subject, drain } = await set(t);
    const ids = Array.from({ length: 25 }, (_, i) => `r${i}`);
    for (const amount of ['1', '2', '3']) {
      await takeIn(
        pool,
        ids.map((id) => reservation(id, { total_amount: amount })),
        ['it'],
      );
      if (amount === '1') await drain();
    }
    await drain();
    const effects = await subject.effects();
    assert.equal(effects.length, subject.newestOnly ? 25 : 75);
    assert.equal(new Set(effects.map(({ key }) => key)).size, effects.length);
    for (const id of ids) {
      const seen = effects.filter((effect) => effect.id === id).map(({ version }) => version);
      assert.deepEqual(seen, subject.newestOnly ? [3] : [1, 2, 3]);
    }
    assert.ok(effects.every(({ data }) => data.includes('@guests.example')));
  });

  test(`${name}: opens no connection past the guard: private addresses are refused unless allowed`, async (t) => {
    const { subject } = await set(t);
    if (subject.isLocal) return;
    const offered = services('/', false);
    t.after(() => offered.close());
    const destination = await subject.open(offered);
    const signal = new AbortController().signal;
    const limits = { batch: 1, deadlineMs: 10_000, leaseLeftMs: () => 60_000, extend: async () => true, signal };
    const [outcome] = await destination.deliver([delivery(reservation('r'))], limits);
    assert.equal(outcome?.kind, 'dead');
    assert.match('message' in outcome ? outcome.message : '', /private/);
    await destination.close();
  });

  test(`${name}: money and long ids arrive to the digit`, async (t) => {
    const { pool, subject, drain } = await set(t);
    const exact = '12345678901234567.89';
    await takeIn(pool, [reservation('98765432109876543210', { total_amount: exact })], ['it']);
    assert.equal((await drain()).delivered, 1);
    const [effect] = await subject.effects();
    assert.equal(effect?.id, '98765432109876543210');
    assert.match(effect?.data ?? '', /"total_amount"\s*:\s*12345678901234567\.89\b/);
  });

  test(`${name}: one refused record is dead alone`, async (t) => {
    const { pool, subject, drain } = await set(t);
    if (subject.refuse === undefined) return t.skip('the destination refuses nothing');
    await takeIn(pool, [reservation('first')], ['it']);
    await drain();
    await subject.refuse('r7');
    const ids = Array.from({ length: 16 }, (_, i) => `r${i}`);
    await takeIn(
      pool,
      ids.map((id) => reservation(id)),
      ['it'],
    );
    const counts = await drain();
    assert.deepEqual(counts, { delivered: 15, skipped: 0, retry: 0, dead: 1 });
    const { rows } = await pool.query(`select id, code, destination, version from dead_letters`);
    assert.deepEqual(rows, [{ id: 'r7', code: 'deliver.refused', destination: 'it', version: 1 }]);
    assert.equal((await subject.effects()).length, 16);
  });

  test(`${name}: an answer lost after success duplicates nothing`, async (t) => {
    const { pool, subject, drain } = await set(t);
    const ids = Array.from({ length: 12 }, (_, i) => `r${i}`);
    await takeIn(
      pool,
      ids.map((id) => reservation(id)),
      ['it'],
    );
    const lost: Outcome = { kind: 'retry', code: 'deliver.timeout', message: 'lost', whole: true };
    const first = await drain((destination) => ({
      ...destination,
      deliver: async (batch, limits) => {
        await destination.deliver(batch, limits);
        return batch.map(() => lost);
      },
    }));
    assert.ok(first.retry > 0);
    await drain(undefined, true);
    await onceEach(subject, ids);
  });

  test(`${name}: a dead letter that had arrived is not duplicated by a replay`, async (t) => {
    const { pool, subject, drain } = await set(t, { scheduleMs: [] });
    await takeIn(pool, [reservation('r0')], ['it']);
    const lost: Outcome = { kind: 'retry', code: 'deliver.timeout', message: 'lost' };
    const first = await drain((destination) => ({
      ...destination,
      deliver: async (batch, limits) => {
        await destination.deliver(batch, limits);
        return batch.map(() => lost);
      },
    }));
    assert.equal(first.dead, 1);
    const { rows } = await pool.query<{ id: string }>('select dead_letter_id::text as id from dead_letters');
    assert.ok(await transaction(pool, (tx) => retryHeld(tx, rows[0]?.id ?? '')));
    assert.equal((await drain()).delivered, 1);
    await onceEach(subject, ['r0']);
  });

  test(`${name}: a node that dies in mid-batch loses nothing and duplicates nothing`, async (t) => {
    const { pool, subject, drain } = await set(t);
    const ids = Array.from({ length: 12 }, (_, i) => `r${i}`);
    await takeIn(
      pool,
      ids.map((id) => reservation(id)),
      ['it'],
    );
    // The claim and the call happen; the node dies before it writes the result.
    const destination = await subject.open();
    const one = lane(config('it', change));
    const { store, ...rest } = ports(pool, [one], { it: destination });
    await drainOnce({ ...rest, store: { ...store, settle: async () => [] } });
    const { rows } = await pool.query(`select count(*)::int as leased from outbox where leased`);
    assert.deepEqual(rows, [{ leased: 12 }]);
    await drain(undefined, true);
    await onceEach(subject, ids);
  });

  test(`${name}: without consent it sends nothing, except a withdrawal`, async (t) => {
    const selection = { receives: ['reservation' as const], consent: 'marketing' as const, fields: compileFields({}) };
    const { pool, subject, drain } = await set(t, { selection });
    const guest = { guest_id: 'g1', last_name: 'Exemplo', email: 'ana@guests.example' };
    const shy = { guest_id: 'g2', last_name: 'Quieta', email: 'quieta@guests.example', marketing_consent: false };
    const yes = { ...guest, marketing_consent: true };
    const no = { ...guest, marketing_consent: false };
    await takeIn(pool, [reservation('shy', { guests: [shy] }), reservation('r', { guests: [yes, shy] })], ['it']);
    await drain();
    let effects = await subject.effects();
    assert.deepEqual(
      effects.map(({ id }) => id),
      ['r'],
    );
    assert.match(effects[0]?.data ?? '', /ana@guests\.example/);
    await takeIn(pool, [reservation('r', { guests: [no, shy] })], ['it']);
    await drain();
    await takeIn(pool, [reservation('r', { guests: [no, shy], total_amount: '7' })], ['it']);
    await drain();
    effects = await subject.effects();
    const last = effects.at(-1);
    assert.equal(last?.version, 2);
    assert.match(last?.data ?? '', /"marketing_consent":\s*false/);
    assert.doesNotMatch(last?.data ?? '', /Exemplo/);
    assert.ok(effects.every(({ data }) => !data.includes('quieta')));
  });

  test(`${name}: a record that leaves is removed once, and delivered again if it comes back`, async (t) => {
    const filter: NonNullable<Selection['filter']> = (_type, { status }) => status === 'confirmed';
    const selection = { receives: ['reservation' as const], filter, fields: compileFields({}) };
    const { pool, subject, drain } = await set(t, { selection });
    const take = async (status: 'confirmed' | 'cancelled', amount: string) => {
      await takeIn(pool, [reservation('r', { status, total_amount: amount })], ['it']);
      await drain();
      return (await subject.effects()).filter(({ id }) => id === 'r');
    };
    await takeIn(pool, [reservation('never', { status: 'cancelled' })], ['it']);
    await take('confirmed', '1');
    const removed = await take('cancelled', '2');
    const last = removed.at(-1);
    assert.deepEqual([last?.version, last?.event], [2, 'removed']);
    assert.doesNotMatch(
      last?.data ?? '',
      /guests\.example|Exemplo|cancelled/,
      'nothing of the version but that it leaves',
    );
    assert.deepEqual(await take('cancelled', '3'), removed, 'once');
    const back = (await take('confirmed', '4')).at(-1);
    assert.deepEqual([back?.version, back?.event], [4, 'updated']);
    assert.match(back?.data ?? '', /r@guests\.example/);
    const again = (await take('cancelled', '5')).at(-1);
    assert.deepEqual([again?.version, again?.event], [5, 'removed']);
    assert.ok((await subject.effects()).every(({ id }) => id === 'r'));
  });

  test(`${name}: an erasure reaches the destination`, async (t) => {
    const { pool, subject, drain } = await set(t);
    await takeIn(pool, [reservation('r')], ['it']);
    await drain();
    await erase(pool, 'r');
    await drain();
    const effects = await subject.effects();
    const last = effects.at(-1);
    assert.equal(last?.event, 'erased');
    assert.equal(last?.version, 2);
    const left = subject.isReceiver ? [last] : effects;
    for (const effect of left) assert.doesNotMatch(effect?.data ?? '', /guests\.example|Exemplo/);
  });
}

async function onceEach(subject: Subject, ids: readonly string[]): Promise<void> {
  const effects = await subject.effects();
  assert.deepEqual(effects.map(({ id }) => id).sort(), [...ids].sort());
  assert.equal(new Set(effects.map(({ key }) => key)).size, ids.length);
}

/** A record after an erasure: a version without guests. */
export async function erase(pool: Pool, id: string): Promise<void> {
  await pool.query(
    `with gone as (
       update records set version = version + 1, event = 'erased', data = (data::jsonb || '{"guests": []}')::json
        where id = $1 returning integration, type, id, version), entry as (
       insert into history (integration, type, id, version, effective_at, seq, cause, cause_id, outcome, diff, idempotency_key)
       select integration, type, id, version, now(), 1, 'erasure', 'e', 'erased', '[]', 'ib_erased' from gone)
     update outbox o set last_version = g.version, due_at = now() from gone g
      where o.integration = g.integration and o.type = g.type and o.id = g.id`,
    [id],
  );
}
