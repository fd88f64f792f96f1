import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PoolClient } from 'pg';
import { eraseGuest } from '../../src/operations/erase-guest.ts';
import { exportGuest } from '../../src/operations/export-guest.ts';
import { type Pool, transaction } from '../../src/store/db/pool.ts';
import { applyPrepared } from '../../src/store/records/apply.ts';
import type { Json } from '../../src/terms.ts';
import { type ApiNode, apiNode, reservation } from '../api/node.ts';
import { until } from '../support/process.ts';
import { state, tablesWith } from './erase-support.ts';

/** A guest who must be erased everywhere; a companion who stays. */

let node: ApiNode;
const email = 'vera.lind@mail.example';
const vera = {
  guest_id: 'g7',
  first_name: 'Vera',
  last_name: 'Lind',
  email: ` ${email.toUpperCase()}`,
  phone: '+351912345678',
};
const omar = { guest_id: 'g8', first_name: 'Omar', last_name: 'Saad', email: 'omar@mail.example' };

before(async () => {
  node = await apiNode();
  await node.take('grand', reservation('R1', { guests: [vera, omar] }), reservation('R2', { guests: [omar] }));
  await node.take('grand', reservation('R1', { guests: [vera, omar], channel: 'phone' }));
  // Known by the partner's id alone.
  await node.take('grand', reservation('R3', { guests: [{ guest_id: 'g7', last_name: 'Lind' }] }));
  await node.take('other', reservation('R1', { guests: [vera] }), { id: 'BAD', note: email, guests: [vera] });
});
after(() => node.stop());

test('before the erasure many tables hold the guest', async () => {
  const places = await tablesWith(node, email);
  for (const place of ['records', 'changes', 'receipts', 'guest_keys', 'dead_letters'])
    assert.ok(places.includes(place));
});

test('intake continues during the search; what it stores meanwhile is erased too', async () => {
  const person = {
    ...vera,
    guest_id: 'g9',
    email: 'nils.berg@mail.example',
    phone: '+351913000111',
    last_name: 'Berg',
  };
  await node.take('grand', reservation('N1', { guests: [person] }));
  const store = async (isSearched: boolean) => {
    assert.ok(isSearched, 'the search through all versions is over');
    await node.take('grand', reservation('N2', { guests: [{ ...person, first_name: 'Nils' }] }));
  };
  const runtime = { ...node.runtime, pool: beforeExclusion(node.runtime.pool, store) };
  const erased = await eraseGuest(runtime, { email: person.email }, 'officer');
  assert.equal(erased.kind === 'erased' && erased.receipt.removed.records, 2);
  const left = await tablesWith(node, person.email);
  for (const place of ['records', 'receipts', 'guest_keys']) assert.ok(!left.includes(place), place);
});

/** Runs the work just before an erasure excludes intake. */
function beforeExclusion(pool: Pool, work: (isSearched: boolean) => Promise<unknown>): Pool {
  let isSearched = false;
  const intercepted = (client: PoolClient): PoolClient =>
    new Proxy(client, {
      get: (target, name) => {
        const value = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        if (name !== 'query') return value.bind(target);
        return async (sql: unknown, ...more: unknown[]) => {
          if (String(sql).includes('pg_advisory_xact_lock')) await work(isSearched);
          if (String(sql).includes('from changes c')) isSearched = true;
          return value.call(target, sql, ...more);
        };
      },
    });
  return new Proxy(pool, {
    get: (target, name) => {
      const value = Reflect.get(target, name);
      if (name === 'connect') return async () => intercepted(await target.connect());
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

test('an erasure returns a receipt and leaves only the identifiers that destinations still need', async () => {
  const erased = await eraseGuest(node.runtime, { email: `${email} ` }, 'officer');
  assert.equal(erased.kind, 'erased');
  if (erased.kind !== 'erased') return;
  const { receipt } = erased;
  assert.equal(receipt.removed.records, 3);
  assert.equal(receipt.removed.dead_letters, 1);
  assert.ok(receipt.completed_at);
  const notYet = { confirmed: 0, passed_over: 0, dropped: 0, untold: 0, confirmed_at: null };
  assert.deepEqual(receipt.told, [
    { integration: 'grand', destination: 'lake', records: 2, ...notYet },
    { integration: 'other', destination: 'lake', records: 1, ...notYet },
  ]);
  assert.equal(receipt.confirmed_at, null);
  assert.ok(!JSON.stringify(receipt).includes('vera'));
  assert.deepEqual(await tablesWith(node, email), ['changes']);
  const { rows } = await node.runtime.pool.query(`select data::text || diff::text as text from changes`);
  assert.ok(
    !rows.some(({ text }) => text.includes(email)),
    'no version holds the guest, only the note to destinations does',
  );
});

test('a later request finds the receipt by the address alone, which is not stored', async () => {
  const find = async (whom: Json) => {
    const { status, body } = await node.call('POST', '/privacy/erasures/find', await node.token('admin'), whom);
    return status === 200 ? body.items.length : status;
  };
  assert.equal(await find({ email: email.toUpperCase() }), 1);
  assert.equal(await find({ email: omar.email }), 0);
  assert.equal(await find({ email, integration: 'grand' }), 0, 'it was asked for in all brands, not in one');
  assert.equal(await find({}), 422);
  assert.deepEqual(await tablesWith(node, email), ['changes']);
});

test('keeps the reservation and the companion, and records a change with the event erased', async () => {
  const { rows } = await node.runtime.pool.query(
    `select r.data, c.event, c.data as told from records r join changes c using (integration, type, id, version)
      where integration = 'grand' and id = 'R1'`,
  );
  assert.equal(rows[0].event, 'erased');
  assert.equal(rows[0].data.guests.length, 2);
  assert.deepEqual(rows[0].data.guests[0], {});
  assert.equal(rows[0].data.guests[1].last_name, 'Saad');
  assert.deepEqual(rows[0].told.guests[0], {});
  assert.equal(rows[0].data.total_amount, 310.5);
});

test("erases guests that only the partner's id names", async () => {
  const { rows } = await node.runtime.pool.query(`select data::text || diff::text as text from changes`);
  assert.ok(!rows.some(({ text }) => text.includes('Lind')));
  assert.deepEqual(await tablesWith(node, '"Lind"'), ['changes'], 'only the note to destinations names the guest');
});

test('the next poll does not bring the guest back, and a poll without news makes no version', async () => {
  const versions = async () =>
    (await node.runtime.pool.query(`select id, version from records where integration = 'grand' order by id`)).rows;
  const before = await versions();
  await node.take('grand', reservation('R1', { guests: [vera, omar], channel: 'phone' }));
  assert.deepEqual(await versions(), before);
  await node.take('grand', reservation('R1', { guests: [vera, omar], channel: 'web' }));
  await node.take('grand', reservation('R9', { guests: [{ ...vera, guest_id: 'g99' }] }));
  await node.take('other', { id: 'BAD2', note: `call ${email}` });
  assert.deepEqual(await tablesWith(node, email), ['changes']);
  const { rows } = await node.runtime.pool.query(`select data from records where integration = 'grand' and id = 'R9'`);
  assert.deepEqual(rows[0].data.guests, [{}]);
});

test('rows that repeat what is stored are not searched for erased guests', async () => {
  const grand = node.runtime.active().integrations.get('grand');
  assert.ok(grand?.target.erasure);
  const { erasure } = grand.target;
  const searched: string[] = [];
  const watched: typeof erasure = {
    ...erasure,
    hashesOf: (one, integration) => {
      if (one.kind === 'record') searched.push(one.incoming.id);
      return erasure.hashesOf(one, integration);
    },
  };
  const page = async (...rows: Json[]) => {
    searched.length = 0;
    const arrival = { mode: 'pull', effectiveAt: Date.now(), cause: 'run', causeId: 'run_test' } as const;
    const prepared = rows.map((value) => grand.path.prepare({ key: (value as { id: string }).id, value }, arrival));
    await transaction(node.runtime.pool, (tx) => applyPrepared(tx, { ...grand.target, erasure: watched }, prepared));
    return [...searched];
  };
  const [plain, withErased] = [reservation('M1'), reservation('M2', { guests: [vera] })];
  assert.deepEqual(await page(plain, withErased), ['M1', 'M2']);
  assert.deepEqual(await page(plain, withErased), ['M2'], 'a row with an erased guest is stored without the guest');
  assert.deepEqual(await page(reservation('M1', { channel: 'web' }), withErased), ['M1', 'M2']);
});

test('deletes the identifiers once every destination has received the erasure', async () => {
  const { forgetDeliveredErasures } = await import('../../src/store/erasure/traces.ts');
  assert.equal(await forgetDeliveredErasures(node.runtime.pool), 0);
  await node.runtime.pool.query('update outbox set next_version = last_version + 1, due_at = null');
  assert.ok((await forgetDeliveredErasures(node.runtime.pool)) > 0);
  assert.deepEqual(await tablesWith(node, email), []);
});

test('erases invalid addresses that were kept as sent', async () => {
  await node.take('grand', reservation('N1', { guests: [{ last_name: 'Berg', email: 'Nobody@mail.example' }] }));
  const stored = await node.runtime.pool.query(`select data from records where id = 'N1'`);
  assert.equal(stored.rows[0].data.guests[0].email_raw, 'Nobody@mail.example');
  const erased = await eraseGuest(node.runtime, { email: 'nobody@mail.example' }, 'officer');
  assert.equal(erased.kind === 'erased' && erased.receipt.removed.records, 1);
  await node.take(
    'grand',
    reservation('N1', { guests: [{ last_name: 'Berg', email: 'Nobody@mail.example' }], source: 'x' }),
  );
  assert.deepEqual(
    await tablesWith(node, 'nobody@mail'),
    ['changes'],
    'only the note to destinations, until they have it',
  );
  const { rows } = await node.runtime.pool.query(`select data::text || diff::text as text from changes`);
  assert.ok(!rows.some(({ text }) => text.toLowerCase().includes('nobody@mail')));
});

test('erasing in one brand leaves the others unchanged; a guest_id needs its brand; invalid input is refused', async () => {
  await node.take('grand', reservation('P1', { guests: [{ last_name: 'Ito', email: 'ito@mail.example' }] }));
  await node.take('other', reservation('P1', { guests: [{ last_name: 'Ito', email: 'ito@mail.example' }] }));
  const erased = await eraseGuest(node.runtime, { email: 'ito@mail.example', integration: 'grand' }, 'officer');
  assert.equal(erased.kind === 'erased' && erased.receipt.removed.records, 1);
  await node.take('other', reservation('P2', { guests: [{ last_name: 'Ito', email: 'ito@mail.example' }] }));
  const { rows } = await node.runtime.pool.query(`select data from records where integration = 'other' and id = 'P2'`);
  assert.equal(rows[0].data.guests[0].last_name, 'Ito');
  assert.equal((await eraseGuest(node.runtime, { guest_id: 'g8' }, 'officer')).kind, 'invalid');
  assert.equal((await eraseGuest(node.runtime, { email: 'no address' }, 'officer')).kind, 'invalid');
  assert.equal((await eraseGuest(node.runtime, {}, 'officer')).kind, 'invalid');
  const byId = await eraseGuest(node.runtime, { guest_id: 'g8', integration: 'grand' }, 'officer');
  assert.equal(byId.kind === 'erased' && byId.receipt.removed.records, 2);
});

test('an id that a partner sends as null names nobody: other guests stay', async () => {
  const ana = { guest_id: null, first_name: 'Ana', last_name: 'Reis', email: 'ana.reis@mail.example', phone: null };
  const rui = { guest_id: null, first_name: 'Rui', last_name: 'Lopes', email: 'rui.lopes@mail.example', phone: null };
  await node.take('grand', reservation('Q1', { guests: [ana, rui] }), reservation('Q2', { guests: [rui] }));
  await state(node, 'push', { reservation_id: 'Q1', guests: [ana, rui] });
  const erased = await eraseGuest(node.runtime, { email: ana.email }, 'officer');
  assert.equal(erased.kind === 'erased' && erased.receipt.removed.records, 1);
  assert.deepEqual(await tablesWith(node, ana.email), ['changes']);
  const { rows } = await node.runtime.pool.query(
    `select id, data, said::text as said from records where integration = 'grand' and id in ('Q1', 'Q2') order by id`,
  );
  assert.deepEqual(
    rows.map(({ data }) => data.guests.map((guest: { last_name?: string }) => guest.last_name ?? '')),
    [['', 'Lopes'], ['Lopes']],
  );
  assert.equal(rows[0].said.split(rui.email).length, 3, 'both sources still name the companion');
});

test('two companions erased one after the other, before any destination was notified, both leave every version', async () => {
  const ida = { first_name: 'Ida', last_name: 'Falk', email: 'ida.falk@mail.example' };
  const jon = { first_name: 'Jon', last_name: 'Wirt', email: 'jon.wirt@mail.example' };
  await node.take('grand', reservation('T1', { guests: [ida, jon] }));
  await eraseGuest(node.runtime, { email: ida.email }, 'officer');
  await eraseGuest(node.runtime, { email: jon.email }, 'officer');
  const { rows } = await node.runtime.pool.query(
    `select data::text as data, erased::text as erased from changes where integration = 'grand' and id = 'T1' order by version`,
  );
  assert.deepEqual(
    rows.map(({ data }) => data.includes('Falk') || data.includes('Wirt')),
    [false, false, false],
  );
  assert.ok(rows[1].erased.includes(ida.email), 'the destinations are still notified of the first');
  assert.ok(rows[2].erased.includes(jon.email));
});

test('a number that only one source states, and that no version shows, is found and erased', async () => {
  const eli = { first_name: 'Eli', last_name: 'Brandt', email: 'eli.brandt@mail.example' };
  const stay = reservation('U1') as { [field: string]: Json };
  await state(node, 'push', { ...stay, reservation_id: 'U1', guests: [{ ...eli, phone: '+351914000222' }] });
  await state(node, 'pull', { ...stay, guests: [{ ...eli, phone: '+351915000333' }] }, 60_000);
  const kept = () => node.runtime.pool.query(`select said::text as said from records where id = 'U1'`);
  assert.match((await kept()).rows[0].said, /915000333/);
  const exported = await exportGuest(node.runtime, { phone: '+351915000333' });
  assert.ok(exported.kind === 'export');
  assert.match(JSON.stringify(exported.export.records), /915000333/, 'an access request shows it too');
  const erased = await eraseGuest(node.runtime, { phone: '+351915000333' }, 'officer');
  assert.equal(erased.kind === 'erased' && erased.receipt.removed.records, 1);
  assert.doesNotMatch((await kept()).rows[0].said, /Brandt/);
});

test('an access request shows everything about the person, and nothing of others', async () => {
  const pia = { guest_id: 'p1', first_name: 'Pia', last_name: 'Holm', email: 'pia.holm@mail.example' };
  const more = {
    address: { street: 'Elm 1' },
    clubs: [{ tier: 'gold' }],
    agent: { name: 'Noor', mail: 'noor@mail.example' },
  };
  const { email: _, ...unaddressed } = pia;
  await node.take(
    'other',
    reservation('V1', { guests: [{ ...pia, ...more }, omar], booker: pia.email, copies: [pia.email, omar.email] }),
    reservation('V2', { guests: [omar], guest_name: 'Omar Saad', booker: pia.email, remark: 'late arrival' }),
    reservation('V3', { guests: [{ ...unaddressed, diet: 'vegan' }, omar] }),
    reservation('V4', {
      guests: [{ ...omar, agent: { mail: pia.email } }],
      by_address: { [pia.email]: { seat: 'window' } },
    }),
    { id: 'BAD', row: { booker_email: pia.email, email: omar.email, last_name: 'Saad' } },
  );
  const exported = await exportGuest(node.runtime, { email: pia.email });
  assert.ok(exported.kind === 'export');
  const text = JSON.stringify(exported.export);
  for (const own of ['Elm 1', 'gold', 'booker', 'copies', 'late arrival', 'vegan', 'window', 'booker_email']) {
    assert.ok(text.includes(own), own);
  }
  assert.doesNotMatch(text, /omar|saad|noor/i);
});

test('an address from before a guest event, which no version shows any more, is found and erased', async () => {
  const before = { guest_id: 'g21', first_name: 'Lea', last_name: 'Strand', email: 'lea.old@mail.example' };
  const stay = { check_in: '2099-12-01', check_out: '2099-12-04', status: 'confirmed' };
  await node.send('grand', 'reservation.created', { reservation_id: 'W1', ...stay, guests: [before] });
  await node.send('grand', 'guest.updated', { guest_id: 'g21', email: 'lea.new@mail.example' });
  const { pool } = node.runtime;
  await pool.query(`delete from changes c using records r where c.id = r.id and c.id = 'W1' and c.version < r.version`);
  await pool.query(`update receipts set raw = null, notes = '[]' where id = 'W1'`);
  const erased = await eraseGuest(node.runtime, { email: before.email }, 'officer');
  assert.equal(erased.kind === 'erased' && (erased.receipt.removed.records ?? 0) > 0, true);
  assert.deepEqual(await tablesWith(node, 'lea.old@'), ['changes']);
});

test('texts that name the person are erased, under any of the addresses, and in bookings of other guests', async () => {
  const kaya = { guest_id: 'g-kaya', first_name: 'Kaya', last_name: 'Brandt', email: 'kaya.brandt@mail.example' };
  const tor = { first_name: 'Tor', last_name: 'Aune', email: 'tor.aune@mail.example' };
  const call = { charges: [{ code: 'TRF', description: 'Call 914 000 777', amount: 30 }] };
  await node.take('grand', reservation('W1', { guests: [{ ...kaya, phone: '+351914000777' }] }));
  await node.take('grand', reservation('W2', { guests: [{ guest_id: 'g-kaya' }, tor], source: kaya.email, ...call }));
  await node.take('grand', reservation('W3', { guests: [tor], source: `by ${kaya.email}`, channel: 'web' }));
  await node.take('grand', reservation('W3', { guests: [tor], channel: 'web' }));
  const erased = await eraseGuest(node.runtime, { email: kaya.email }, 'officer');
  assert.equal(erased.kind === 'erased' && erased.receipt.removed.records, 3);
  const { rows } = await node.runtime.pool.query(
    `select id, data::text || diff::text as text, erased, data from changes where integration = 'grand' and id like 'W_' order by id, version`,
  );
  for (const { id, text } of rows) assert.doesNotMatch(text, /kaya|914 000 777/i, id);
  const last = rows.at(-1);
  assert.equal(last.data.channel, 'web');
  assert.equal(last.data.guests[0].last_name, 'Aune');
  assert.deepEqual(last.erased, [{ email_raw: kaya.email }], 'tells destinations which texts to erase, and no guest');
  const w2 = rows.findLast(({ id }) => id === 'W2');
  assert.ok(w2.erased.some(({ phone_raw }: { phone_raw?: string }) => phone_raw === '+351914000777'));
  assert.deepEqual(await tablesWith(node, kaya.email), ['changes'], 'only the notes to destinations');
});

/** Starts an erasure that waits for `lock`, and stops it once it has come as far as `until` says. */
async function stopped(whom: { email: string }, lock: string, place: string | null) {
  const token = await node.token('admin');
  const holder = await node.runtime.pool.connect();
  try {
    await holder.query('begin');
    await holder.query(lock);
    const erasing = eraseGuest(node.runtime, whom, 'officer');
    const running = await until('the erasure waits', async () => {
      const { body } = await node.call('GET', '/privacy/erasures', token);
      const [one] = body.items;
      return one.state === 'running' && (one.progress?.place ?? null) === place ? one : undefined;
    });
    const { status } = await node.call('POST', `/privacy/erasures/${running.erasure_id}/stop`, token, {});
    assert.equal(status, 200);
    const ended = await erasing;
    assert.equal(ended.kind, 'erased');
    const again = await node.call('POST', `/privacy/erasures/${running.erasure_id}/stop`, token, {});
    assert.equal(again.status, 409);
    return (await node.call('GET', `/privacy/erasures/${running.erasure_id}`, token)).body;
  } finally {
    await holder.query('rollback');
    holder.release();
  }
}

test('stopped before the records are rewritten, an erasure has erased nothing', async () => {
  const whom = { email: 'stay@mail.example' };
  await node.take('grand', reservation('S1', { guests: [{ last_name: 'Osei', ...whom }] }));
  const lock = `select pg_advisory_xact_lock_shared(hashtextextended('erasure', 0))`;
  const { state, removed, stopped_by, completed_at } = await stopped(whom, lock, null);
  assert.deepEqual({ state, removed, completed_at }, { state: 'stopped', removed: {}, completed_at: null });
  assert.match(stopped_by, /admin/);
  assert.ok((await tablesWith(node, whom.email)).includes('records'));
});

test('stopped in the search through payloads, what is erased stays erased; erasing again finishes it', async () => {
  const whom = { email: 'stay@mail.example' };
  const { state, removed, progress, told } = await stopped(whom, 'lock table sandbox_reports', 'sandbox_reports');
  assert.equal(state, 'stopped');
  assert.equal(removed.records, 1);
  assert.equal(progress.place, 'sandbox_reports');
  assert.equal(told[0].destination, 'lake');
  assert.ok(!(await tablesWith(node, whom.email)).includes('records'));
  const finished = await eraseGuest(node.runtime, whom, 'officer');
  assert.equal(finished.kind === 'erased' && finished.receipt.completed_at !== null, true);
});

test('an erasure whose process ended is shown as interrupted', async () => {
  const { pool } = node.runtime;
  await pool.query(
    `insert into erasures (erasure_id, requested_by, subject, seen_at) values ('era_gone', 'officer', '', now() - interval '1 min')`,
  );
  const { body } = await node.call('GET', '/privacy/erasures/era_gone', await node.token('admin'));
  assert.equal(body.state, 'interrupted');
});
