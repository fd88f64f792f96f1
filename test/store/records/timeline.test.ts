import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { activate } from '../../../src/core/brand/active.ts';
import type { StoredDocument } from '../../../src/core/documents/kinds.ts';
import { read } from '../../../src/core/pipeline.ts';
import type { Receipt } from '../../../src/core/reconcile/forms.ts';
import { type Pool, transaction } from '../../../src/core/store/db/pool.ts';
import { ingest } from '../../../src/core/store/records/ingest.ts';
import { insertSighting } from '../../../src/core/store/records/listed.ts';
import { timelineOf } from '../../../src/operator/operations/timeline.ts';
import type { IntegrationName, Json } from '../../../src/terms.ts';
import { testStore } from '../../support/store.ts';

let pool: Pool;
before(async () => {
  pool = await testStore();
});
after(() => pool.end());

const integration = { integration: 'grand', connector: 'pms', brand_id: 'B1', timezone: 'Europe/Lisbon' };

/** Puts documents in force, and stores a page of the partner under them. */
async function pulled(connector: Record<string, unknown>, version: number, body: Json): Promise<void> {
  const documents = [
    { kind: 'connector', name: 'pms', version, body: { connector: 'pms', ...connector }, hash: '' },
    { kind: 'integration', name: 'grand', version: 1, body: integration, hash: '' },
  ] as unknown as StoredDocument[];
  for (const { kind, name, version: own, body: text } of documents) {
    await pool.query(
      `insert into documents (kind, name, version, source, body, hash, applied_by) values ($1, $2, $3, '', $4, '', 'test')
       on conflict do nothing`,
      [kind, name, own, JSON.stringify(text)],
    );
  }
  const brand = activate(documents).integrations.get('grand') ?? assert.fail('the documents do not compile');
  const arrival: Receipt = { mode: 'pull', effectiveAt: version * 1_000, cause: 'run', causeId: 'run_1' };
  const shaped = brand.shapers.pull.records(body);
  assert.equal(shaped.kind, 'ok');
  if (shaped.kind !== 'ok') return;
  await transaction(pool, (tx) =>
    ingest(
      tx,
      brand,
      shaped.records.map((raw) => read(brand, raw, arrival)),
    ),
  );
}

async function origins(id: string): Promise<Record<string, string>[]> {
  const story = await timelineOf(pool, 'grand', 'reservation', id);
  return (story?.timeline ?? []).map((entry) => entry.origins as Record<string, string>);
}

const kept = async (id: string) =>
  (await pool.query('select origins from history where id = $1 order by entry_id', [id])).rows.map(
    (row) => row.origins,
  );

test('origins are derived from the documents of that version, and not stored', async () => {
  const stay = { arrival: '2027-01-02', departure: '2027-01-04', status: 'confirmed' };
  const first = { map: { id: 'number', check_in: 'arrival', check_out: 'departure' } };
  await pulled(first, 1, [{ number: 'R1', ...stay }]);
  const second = { map: { id: 'no', check_in: 'dates.from', check_out: 'dates.to' } };
  await pulled(second, 2, [{ no: 'R1', dates: { from: '2027-01-03', to: '2027-01-04' }, status: 'confirmed' }]);
  const [before, after] = await origins('R1');
  assert.equal(before?.id, 'number');
  assert.equal(before?.check_in, 'arrival');
  assert.equal(after?.id, 'no');
  assert.equal(after?.check_in, 'dates.from');
  assert.deepEqual(await kept('R1'), [null, null]);
});

test('origins outside the record are derived from what is stored around it', async () => {
  const connector = {
    shape: { root_path: 'bookings' },
    map: { id: 'id', check_in: 'from', check_out: 'to', currency: '$body.hotel.currency' },
  };
  const booking = { id: 'R2', from: '2027-01-02', to: '2027-01-04', status: 'confirmed' };
  await pulled(connector, 3, { hotel: { currency: 'EUR' }, bookings: [booking] });
  const [told] = await origins('R2');
  assert.equal(told?.check_in, 'from');
  assert.match(told?.currency ?? '', /hotel\.currency/);
  assert.deepEqual(await kept('R2'), [null]);
});

test('shows no origins without the raw record or its documents', async () => {
  await pulled({ map: { id: 'id', check_in: 'a', check_out: 'b' } }, 4, [
    { id: 'R3', a: '2027-01-02', b: '2027-01-04', status: 'confirmed' },
    { id: 'R4', a: '2027-01-02', b: '2027-01-04', status: 'confirmed' },
  ]);
  await pool.query(`update history set raw = null where id = 'R3'`);
  assert.deepEqual(await origins('R3'), [undefined]);
  await pool.query(`delete from documents where kind = 'connector' and version = 4`);
  assert.deepEqual(await origins('R4'), [undefined]);
});

test('the parts of a long timeline hold every entry once, and the newest has the open dead letters', async () => {
  await pool.query(
    `insert into history (integration, type, id, at, effective_at, seq, cause, cause_id, outcome)
     select 'grand', 'reservation', 'L', '2026-11-01Z'::timestamptz + n / 3 * interval '1 us', now(), n, 'event', n::text, 'unchanged'
       from generate_series(1, 100) n`,
  );
  await pool.query(
    `insert into attempts (integration, type, id, at, destination, version, attempt, outcome)
     select 'grand', 'reservation', 'L', '2026-11-01Z'::timestamptz + n / 2 * interval '1 us', 'crm', n, 1, 'retry'
       from generate_series(1, 50) n`,
  );
  await pool.query(
    `insert into dead_letters (integration, kind, fingerprint, type, id, at, code, message, state)
     select 'grand', 'delivery', n::text, 'reservation', 'L', '2026-11-01Z'::timestamptz + n * interval '1 us', 'deliver.refused', '',
            case when n = 1 then 'open' else 'dropped' end from generate_series(1, 5) n`,
  );
  const key = ['grand', 'reservation', 'L'] as const;
  const whole = await timelineOf(pool, ...key);
  assert.equal(whole?.timeline.length, 155);
  assert.equal(whole?.earlier, undefined);
  for (const limit of [1, 7, 154, 155, 1000]) {
    const parts = [];
    let upTo: string | undefined;
    do {
      const part = await timelineOf(pool, ...key, { limit, upTo });
      parts.unshift(part?.timeline ?? []);
      upTo = part?.earlier;
    } while (upTo !== undefined);
    assert.ok(parts.at(-1)?.some(({ state }) => state === 'open'));
    assert.ok(
      parts.every(({ length }) => length > 0 && length <= Math.max(limit + 1, 7)),
      `parts of ${limit}`,
    );
    const texts = (entries: readonly object[]) => entries.map((entry) => JSON.stringify(entry)).sort();
    assert.deepEqual(texts(parts.flat()), texts(whole?.timeline ?? []), `parts of ${limit}`);
  }
});

test('a reservation that its list shows again has no timeline as a guest', async () => {
  await pulled({}, 9, [{ id: 'SEEN', check_in: '2027-01-02', check_out: '2027-01-04', status: 'confirmed' }]);
  await transaction(pool, (tx) => insertSighting(tx, 'grand' as IntegrationName, 10_000, 'run_1', ['SEEN']));
  assert.equal((await timelineOf(pool, 'grand', 'reservation', 'SEEN'))?.id, 'SEEN');
  assert.equal(await timelineOf(pool, 'grand', 'guest', 'SEEN'), undefined);
});
