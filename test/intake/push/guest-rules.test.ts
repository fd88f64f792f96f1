import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { readTimeline } from '../../../src/core/store/records/timeline.ts';
import type { Bench } from './events-support.ts';
import { activeIntegration, openBench } from './events-support.ts';
import { integration } from './support.ts';

let bench: Bench;
describe('business rules for guest events', () => {
  const transforms = [
    { drop: ['guests[].document_type', 'guests[].document_number', 'charges[].description'] },
    { when: 'guest.nationality == "DE"', set: { 'guests[].marketing_consent': 'false' } },
    { when: 'has(guest.last_name)', set: { 'guests[].last_name': 'guest.last_name + " (VIP)"' } },
    { when: 'guest.email.endsWith("@grand.example")', drop: ['guests[]'], note: 'Staff.' },
    { when: 'status == "confirmed"', drop: ['guests[].phone'] },
    { when: 'guest.first_name == "Otto"', set: { 'guests[].date_of_birth': 'add_days(guest.nationality, 1)' } },
  ];
  before(async () => {
    bench = await openBench(activeIntegration({}, { transforms }));
  });
  after(() => bench.end());
  beforeEach(async () => {
    await bench.pool.query('truncate events, records, history, outbox, dead_letters');
  });

  test('rules about guests apply to the profile; rules that read the reservation do not', async () => {
    await bench.send('guest.updated', {
      guest_id: 'G-1',
      last_name: 'Prado',
      phone: '+351912345678',
      document_type: 'PP',
      document_number: 'N1234567',
    });
    await bench.work();
    const [profile] = await bench.profiles();
    assert.deepEqual(profile?.guest, { guest_id: 'G-1', last_name: 'Prado (VIP)', phone: '+351912345678' });
    const { rows } = await bench.pool.query(
      `select n ->> 1 as field from history, json_array_elements(notes) n where n ->> 0 like 'rule_%'`,
    );
    assert.deepEqual(
      rows.map(({ field }) => field),
      ['document_type', 'document_number', 'last_name'],
    );
  });

  test('a rule reads the whole profile, and changes a value once', async () => {
    const at = Date.now() - 60_000;
    await bench.send(
      'guest.updated',
      { guest_id: 'G-1', last_name: 'Prado', marketing_consent: true },
      { occurredAt: at },
    );
    await bench.send('guest.updated', { guest_id: 'G-1', nationality: 'DE' }, { occurredAt: at + 1 });
    await bench.send('guest.updated', { guest_id: 'G-1', marketing_consent: true }, { occurredAt: at + 2 });
    await bench.work();
    const [profile] = await bench.profiles();
    assert.deepEqual(profile?.guest, {
      guest_id: 'G-1',
      last_name: 'Prado (VIP)',
      nationality: 'DE',
      marketing_consent: false,
    });
    const timeline = await readTimeline(bench.pool, integration, 'guest', profile?.id ?? '');
    assert.deepEqual(
      timeline?.consents.map(({ value }) => value),
      [false],
    );
  });

  test('a guest whom a rule drops gets no profile', async () => {
    await bench.send('guest.updated', { email: 'desk@grand.example', first_name: 'Rui' });
    await bench.work();
    assert.deepEqual(await bench.profiles(), []);
    const { rows } = await bench.pool.query('select e.state, r.type, r.outcome, r.reason from events e, history r');
    assert.deepEqual(rows, [{ state: 'done', type: 'guest', outcome: 'dropped', reason: 'Staff.' }]);
  });

  test('a rule that fails makes the event a dead letter', async () => {
    await bench.send('guest.updated', { guest_id: 'G-1', first_name: 'Otto', nationality: 'SE' });
    await bench.work();
    assert.deepEqual(await bench.profiles(), []);
    const { rows } = await bench.pool.query('select type, code from dead_letters');
    assert.deepEqual(rows, [{ type: 'guest', code: 'record.rule_failed' }]);
  });
});
