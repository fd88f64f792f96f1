import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { Keyring } from '../../../src/kit/crypto.ts';
import { hashesOf, identitiesOf } from '../../../src/operator/privacy/identity.ts';
import { suppression } from '../../../src/operator/privacy/suppress.ts';
import type { Json } from '../../../src/terms.ts';
import { withErasure } from '../../support/brand.ts';
import { activeIntegration, data, withBench } from './events-support.ts';
import { integration } from './support.ts';

test('events of one batch build on each other, also around a guest event', () =>
  withBench(async (bench) => {
    const at = Date.now() - 10_000;
    await bench.arrive(bench.newEvent('reservation.created', data(), { occurredAt: at }));
    const [guest] = (data() as { guests: { [field: string]: Json }[] }).guests;
    await bench.arrive(
      bench.newEvent('reservation.updated', data({ channel: 'phone' }), { eventId: 'b', occurredAt: at + 1 }),
      bench.newEvent('guest.updated', { ...guest, last_name: 'Changed' }, { eventId: 'c', occurredAt: at + 2 }),
      bench.newEvent('reservation.updated', { id: 'R-1001', channel: 'desk' }, { eventId: 'd', occurredAt: at + 3 }),
    );
    const stored = await bench.reservation();
    assert.equal(stored?.channel, 'desk');
    assert.equal(stored?.guests[0]?.last_name, 'Changed');
    assert.equal(await bench.version(), 4);
  }));

test('a reservation that a poll inserts meanwhile is not lost, and neither is the event', () =>
  withBench(async (bench) => {
    // The event looks for its reservation, finds none, and waits here before it inserts it.
    await bench.pool.query(
      `create function pause() returns trigger language plpgsql as $$
         begin if new.id = 'R-1001' and new.seq > 0 then perform pg_advisory_xact_lock(7); end if; return new; end $$;
       create trigger pause before insert on records for each row execute function pause()`,
    );
    const holder = await bench.pool.connect();
    await holder.query('begin; select pg_advisory_xact_lock(7)');
    const arriving = bench.arrive(bench.newEvent('reservation.updated', data({ channel: 'phone' })));
    arriving.catch(() => {});
    for (;;) {
      const { rows } = await holder.query(`select from pg_locks where locktype = 'advisory' and not granted`);
      if (rows.length > 0) break;
    }
    await holder.query(
      `insert into records (integration, type, id, version, effective_at, seq, data)
       values ($1, 'reservation', 'R-1001', 0, 'epoch', 0, '{}')`,
      [integration],
    );
    await holder.query('commit');
    holder.release();
    await arriving;
    assert.equal((await bench.reservation())?.channel, 'phone');
    assert.equal(await bench.version(), 1);
  }));

test('the payload of an erased guest is not kept, and the guest is not stored again', async () => {
  const keyring: Keyring = [{ id: 'test', bytes: randomBytes(32) }];
  const active = activeIntegration();
  const erasure = suppression(keyring);
  await withBench(
    async (bench) => {
      const identities = identitiesOf({ email: 'marta.quill@mail.example', last_name: 'Quill' }, integration);
      await bench.pool.query(`insert into erasures (erasure_id, requested_by, subject) values ('e1', 'test', 'x')`);
      await bench.pool.query(
        `insert into erased_guests (hash, erasure_id) select decode(h, 'hex'), 'e1' from unnest($1::text[]) h`,
        [hashesOf(keyring, identities)],
      );
      const other = {
        guests: [{ first_name: 'Bo', last_name: 'Lund', email: 'bo@lund.example' }],
        reservation_id: 'R-2',
      };
      await bench.arrive(
        bench.newEvent('reservation.created', data(), { eventId: 'erased' }),
        bench.newEvent('reservation.created', data(other), { eventId: 'other' }),
      );
      const { rows } = await bench.pool.query<{ event_id: string; kept: boolean; hashed: boolean }>(
        `select event_id, body is not null as kept, octet_length(body_hash) = 32 as hashed from events order by seq`,
      );
      assert.deepEqual(rows, [
        { event_id: 'erased', kept: false, hashed: true },
        { event_id: 'other', kept: true, hashed: true },
      ]);
      assert.deepEqual((await bench.reservation())?.guests, [{}]);
      assert.equal((await bench.reservation('R-2'))?.guests[0]?.last_name, 'Lund');
    },
    withErasure(active, erasure),
  );
});
