import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Guest, Reservation } from '../../src/core/canonical/reservation.ts';
import { amended } from '../../src/core/intake/push/guest-event.ts';
import type { Held } from '../../src/core/reconcile/accidents/guard.ts';
import type { Statement, Stored } from '../../src/core/reconcile/forms.ts';
import { aboutRecord } from '../../src/core/reconcile/profile.ts';
import { decideBatch } from '../../src/core/store/records/ingest.ts';
import { said, testBrand } from '../support/brand.ts';

/** The rules about what counts: consent, lists that lag, amounts, and values that are held. */
const brand = testBrand('lisbon');
const minute = 60_000;

const booking = (more: Partial<Reservation> = {}): Reservation => ({
  id: 'A',
  check_in: '2027-03-01',
  check_out: '2027-03-04',
  status: 'confirmed',
  guests: [],
  rooms: [],
  charges: [],
  ...more,
});

const event = (record: Reservation, effectiveAt: number): Statement =>
  said(record, { mode: 'push', cause: 'event', causeId: 'e', effectiveAt, seq: effectiveAt });
const row = (record: Reservation, effectiveAt: number): Statement => said(record, { effectiveAt, seq: effectiveAt });

function stored(statements: readonly Statement[], of = brand): Reservation {
  return JSON.parse(decideBatch(of, new Map(), statements).rows.get('reservation A')?.text ?? 'null') as Reservation;
}

test('a guest who opted out is not subscribed again by the first poll, a repeated row or a replayed event', () => {
  const guest = (marketing_consent: boolean) =>
    booking({ guests: [{ first_name: 'Ana', last_name: 'Reis', email: 'ana@mail.example', marketing_consent }] });
  const [yes, no] = [guest(true), guest(false)];
  const consent = (...all: Statement[]) => (stored(all).guests[0] as Guest).marketing_consent;
  assert.equal(consent(event(yes, 1), event(no, 2), row(yes, 3)), false, 'the first poll');
  assert.equal(consent(event(yes, 1), event(no, 2), row(yes, 3), row(yes, 9)), false, 'a repeated row');
  assert.equal(consent(event(yes, 1), event(no, 2), event(yes, 1)), false, 'a replayed event');
  assert.equal(consent(event(no, 1), event(yes, 2)), true, 'its own source had said no');
  assert.equal(consent(row(yes, 1), event(no, 2), row(no, 3), row(yes, 4)), true, 'the list said no in between');
});

test('a cached list does not reinstate a booking that an event cancelled, until it has repeated it for long enough', () => {
  const lagging = testBrand('lisbon', {}, { lagMs: 30 * minute });
  const [confirmed, cancelled] = [booking(), booking({ status: 'cancelled' })];
  const at = (minutes: number) => minutes * minute;
  const status = (...all: Statement[]) => stored(all, lagging).status;
  const before = [row(confirmed, at(0)), event(cancelled, at(10))];
  assert.equal(status(...before, row(confirmed, at(15))), 'cancelled');
  assert.equal(status(...before, row(confirmed, at(15)), row(confirmed, at(39))), 'cancelled');
  const { steps } = decideBatch(lagging, new Map(), [...before, row(confirmed, at(15))]);
  const last = steps.at(-1)?.decision;
  assert.equal(last && 'isOverruled' in last && last.isOverruled, true, 'the same row is read again at the next poll');
  assert.equal(
    status(...before, row(confirmed, at(15)), row(confirmed, at(41))),
    'confirmed',
    'a wrong event is corrected',
  );
  assert.equal(
    status(...before, row(booking({ channel: 'BDC' }), at(15))),
    'confirmed',
    'a row with news is not a copy',
  );
});

test('a late statement that is left out does not remove the booking that it became', () => {
  const request = (at: number) => ({ ...event(booking({ status: 'other' }), at), dropped: 'a request' });
  const last = (...all: Statement[]) => decideBatch(brand, new Map(), all).rows.get('reservation A')?.event;
  assert.equal(last(row(booking(), 2), request(1)), 'created');
  assert.equal(last(event(booking(), 2), request(1)), 'created');
  assert.equal(last(request(1), row(booking(), 2)), 'created');
  assert.equal(last(row(booking(), 1), request(2)), 'removed');
});

test('a currency alone does not relabel an amount', () => {
  const euros = event(booking({ total_amount: '100', currency: 'EUR' }), 1);
  const partial = said(booking(), { mode: 'push', cause: 'event', causeId: 'e', effectiveAt: 2, seq: 2 });
  const dollars = { ...partial, content: { values: { id: 'A', currency: 'USD' }, lists: {} } };
  for (const order of [
    [euros, dollars],
    [row(booking({ total_amount: '100', currency: 'EUR' }), 1), dollars],
  ]) {
    const { total_amount, currency } = stored(order);
    assert.deepEqual([Number(total_amount), currency], [100, 'EUR']);
  }
  const both = {
    ...dollars,
    content: { values: { id: 'A', currency: 'USD', total_amount: '90', amount_currency: 'USD' }, lists: {} },
  };
  const { total_amount, currency } = stored([euros, both]);
  assert.deepEqual([Number(total_amount), currency], [90, 'USD']);
});

const released = (hold: string): Statement => ({
  ...aboutRecord('reservation', 'A', { mode: 'push', effectiveAt: 1, seq: 1, cause: 'replay', causeId: hold }),
  content: { values: {}, lists: {} },
  releases: hold,
});

const heldIn = ({ claims }: Stored) => claims?.quarantine?.filter(({ state }) => state === 'held') ?? [];

const paths = ['total_amount', 'status', 'channel', 'guests.email'] as const;
type HeldPath = (typeof paths)[number];

/** Rows and events with every combination of these values, each with the paths that are held of it. */
const step = fc.record({
  isEvent: fc.boolean(),
  amount: fc.constantFrom('100', '200', '300'),
  status: fc.constantFrom('confirmed' as const, 'cancelled' as const, 'checked_in' as const),
  channel: fc.constantFrom('BDC', 'WEB'),
  email: fc.constantFrom('a@mail.example', 'b@mail.example'),
  held: fc.subarray([...paths]),
});

type Step = typeof step extends fc.Arbitrary<infer Of> ? Of : never;

const statementOf = ({ isEvent, amount, status, channel, email }: Step, at: number): Statement => {
  const guests = [{ guest_id: 'G1', first_name: 'Ana', last_name: 'Reis', email }];
  const record = booking({ total_amount: amount, status, channel, guests });
  return isEvent ? event(record, at) : row(record, at);
};

const run = (steps: readonly Step[], isHolding: boolean): Stored => {
  let rows: ReadonlyMap<string, Stored> = new Map();
  for (const [n, one] of steps.entries()) {
    const statement = statementOf(one, n + 1);
    const held = (isHolding && n > 0 ? one.held : []).map(
      (path: HeldPath): Held => ({ hold: path, path, reason: 'Held.' }),
    );
    ({ rows } = decideBatch(brand, rows, [statement], held.length > 0 ? new Map([[statement, held]]) : undefined));
  }
  return rows.get('reservation A') as Stored;
};

test('property: after everything that is held is released, the record is what it would be without holds', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 7 }), (steps) => {
      const guarded = run(steps, true);
      const holds = new Set(heldIn(guarded).map(({ hold }) => hold));
      const { rows } = decideBatch(brand, new Map([['reservation A', guarded]]), [...holds].map(released));
      assert.deepEqual(JSON.parse(rows.get('reservation A')?.text ?? guarded.text), JSON.parse(run(steps, false).text));
    }),
    { numRuns: 500 },
  );
});

test('property: what is not held is what it would be without holds', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 7 }), (steps) => {
      const guarded = run(steps, true);
      const held = new Set(heldIn(guarded).map(({ path }) => path));
      const [own, free] = [guarded, run(steps, false)].map(({ text }) => JSON.parse(text) as Reservation);
      if (own === undefined || free === undefined) return;
      if (!held.has('total_amount')) assert.equal(own.total_amount, free.total_amount);
      if (!held.has('status')) assert.equal(own.status, free.status);
      if (!held.has('channel')) assert.equal(own.channel, free.channel);
      if (!held.has('guests.email')) assert.equal(own.guests[0]?.email, free.guests[0]?.email);
    }),
    { numRuns: 500 },
  );
});

test('what a list showed while it was held is known after an event: its next row is news, not a copy', () => {
  const one = { isEvent: false, amount: '300', status: 'cancelled', channel: 'BDC', email: 'a@mail.example' } as const;
  const other = { ...one, amount: '100', status: 'confirmed' } as const;
  const steps: Step[] = [
    { ...one, held: [] },
    { ...other, held: ['total_amount', 'status'] },
    { ...other, isEvent: true, held: [] },
    { ...one, held: [] },
  ];
  const { status: now, total_amount } = JSON.parse(run(steps, true).text) as Reservation;
  assert.deepEqual([now, Number(total_amount)], ['cancelled', 300]);
});

test('property: after a refusal the next different value of every source counts, and the refused one does not', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 7 }), fc.boolean(), (steps, isEvent) => {
      const guarded = run(steps, true);
      const quarantine = guarded.claims?.quarantine?.map((one) => ({ ...one, state: 'refused' as const }));
      const refused: Stored = quarantine ? { ...guarded, claims: { ...guarded.claims, quarantine } } : guarded;
      const next = (one: Statement) => {
        const { rows } = decideBatch(brand, new Map([['reservation A', refused]]), [one]);
        return JSON.parse(rows.get('reservation A')?.text ?? '') as Reservation;
      };
      const last = steps.at(-1) as Step;
      const again = statementOf(last, steps.length + 1);
      const before = JSON.parse(guarded.text) as Reservation;
      if (heldIn(guarded).some(({ path, source }) => path === 'total_amount' && source === again.source))
        assert.equal(next(again).total_amount, before.total_amount);
      const other = {
        ...last,
        isEvent,
        amount: '400',
        status: 'checked_out' as const,
        channel: 'TEL',
        email: 'c@mail.example',
      };
      const { total_amount, status, channel, guests } = next(statementOf(other as never, steps.length + 1));
      assert.deepEqual(
        [Number(total_amount), status, channel, guests[0]?.email],
        [400, 'checked_out', 'TEL', 'c@mail.example'],
      );
    }),
    { numRuns: 500 },
  );
});

test('a value that an event had overruled is held when the list goes on showing it, as news or as a copy', () => {
  const [right, late] = [booking(), booking({ check_in: '2027-03-02', check_out: '2027-03-05' })];
  const held = [{ hold: 'h', path: 'check_in', reason: 'Held.' }];
  const lastRows = {
    'a row with other news': booking({ ...late, channel: 'BDC' }),
    'the same row': late,
  };
  for (const [name, last] of Object.entries(lastRows)) {
    const statement = row(last, 9);
    const before = [row(right, 1), event(booking({ channel: 'direct' }), 5), row(late, 4)];
    const { rows } = decideBatch(brand, new Map(), [...before, statement], new Map([[statement, held]]));
    const after = rows.get('reservation A');
    assert.equal(JSON.parse(after?.text ?? '').check_in, right.check_in, name);
    assert.deepEqual(
      heldIn(after as Stored).map(({ content: { values } }) => values.check_in),
      [late.check_in],
      name,
    );
  }
});

test('a held value that comes again with an older message is held too', () => {
  const [right, wrong] = [booking({ channel: 'BDC' }), booking({ channel: 'WEB' })];
  const held = [{ hold: 'h', path: 'channel', reason: 'Held.' }];
  const [newer, late] = [event(wrong, 9), event(wrong, 5)];
  const statements = [row(right, 1), newer, late];
  const both = new Map([newer, late].map((one) => [one, held]));
  const after = decideBatch(brand, new Map(), statements, both).rows.get('reservation A') as Stored;
  assert.equal(JSON.parse(after.text).channel, 'BDC');
  assert.deepEqual(
    heldIn(after).map(({ at }) => at),
    [[5, 5]],
  );
});

test('what a guest says again after a booking has the guest counts there, although the first time was too early', () => {
  const guest = { guest_id: 'G1', first_name: 'Ana', last_name: 'Reis' };
  const own = (at: number): Statement => {
    const said = [{ values: { phone: '+351912000111' }, as: guest }];
    const arrival = { mode: 'push', effectiveAt: at, seq: at, cause: 'guest', causeId: 'e' } as const;
    return { ...amended(arrival, { record: { id: 'A' }, said, notes: [] }, null), source: 'guest' };
  };
  const named = event(booking({ guests: [guest] }), 3);
  for (const order of [
    [named, own(2), own(4)],
    [named, own(4), own(2)],
    [own(4), named, own(2)],
  ]) {
    const after = stored([row(booking(), 1), ...order]);
    assert.equal(after.guests[0]?.phone, '+351912000111');
  }
});

test('a currency alone repeats no held amount: a newer amount ends the hold', () => {
  const late = row(booking({ total_amount: '100', currency: 'EUR' }), 1);
  const held = new Map([[late, [{ hold: 'h', path: 'total_amount', reason: 'Held.' }]]]);
  const [amount, currency] = [
    event(booking({ total_amount: '200', currency: 'EUR' }), 2),
    row(booking({ currency: 'EUR' }), 3),
  ];
  const after = decideBatch(brand, new Map(), [amount, currency, late], held).rows.get('reservation A') as Stored;
  assert.equal(Number(JSON.parse(after.text).total_amount), 200);
  assert.deepEqual(heldIn(after), []);
});
