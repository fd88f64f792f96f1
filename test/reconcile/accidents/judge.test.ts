import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reservation } from '../../../src/core/canonical/reservation.ts';
import {
  type Baseline,
  type Counted,
  countSigns,
  evaluate,
  nothingKnown,
} from '../../../src/core/reconcile/accidents/judge.ts';
import { isPartOf, signsOf } from '../../../src/core/reconcile/accidents/signs.ts';
import type { Change } from '../../../src/core/reconcile/forms.ts';
import type { Json } from '../../../src/terms.ts';
import { said } from '../../support/brand.ts';

const limits = { rows: 5, share: 0.5 };
const hour = 3_600_000;
let ids = 0;
const bookings = 40;
const decide = (normal: Baseline, batch: Counted, now = 0) =>
  evaluate(normal, [{ at: now, ...batch }], limits, { now, newId: () => `hld_${++ids}`, bookings, expected: 0 });
const page = (run: string, rows: number, signs: Counted['signs'] = {}): Counted => ({ run, rows, signs });
const lost = 'cleared guests.email';

const booking: Omit<Reservation, 'check_in' | 'check_out'> = {
  id: 'A',
  status: 'confirmed',
  guests: [],
  rooms: [],
  charges: [],
};
const signs = (path: string, before: Json, after?: Json, more: Partial<Change> = {}, stay = {}) => {
  const record = { ...booking, check_in: '2026-03-05', check_out: '2026-03-07', ...stay };
  const state = { time: [1, 1], claims: undefined } as const;
  const diff = [{ path, before, ...(after !== undefined && { after }) }];
  const decision: Change = {
    kind: 'change',
    event: 'updated',
    version: 2,
    record,
    text: '',
    state,
    diff,
    notes: [],
    ...more,
  };
  const stored = { version: 1, event: 'created', time: [0, 0], text: '' } as const;
  return [...signsOf({ statement: said(record), stored, decision }, '2026-03-02')];
};

test('a change has signs that are equal in every row of an accident', () => {
  assert.deepEqual(signs('guests[1].email', 'a@mail.example'), [lost]);
  assert.deepEqual(signs('guests[0]', { last_name: 'A' }), ['cleared guests']);
  assert.deepEqual(signs('guests[1]', { last_name: 'A' }), [], 'one of several guests left');
  assert.deepEqual(signs('total_amount', 12.5, 1250), ['factor total_amount 100']);
  assert.deepEqual(signs('total_amount', 100, 102), [], 'a tax');
  assert.deepEqual(signs('check_in', '2026-03-05', '2026-03-06'), ['shift check_in 1', 'changed check_in']);
  assert.deepEqual(signs('status', 'confirmed', 'cancelled'), ['status cancelled']);
  assert.deepEqual(signs('guests[0].last_name', 'Prado', 'P****'), [
    'masked guests.last_name',
    'changed guests.last_name',
  ]);
  assert.deepEqual(signs('currency', 'EUR', 'USD'), ['changed currency']);
  assert.deepEqual(signs('charges[0].code', 'ROOM', 'CITYTAX'), [], 'a list that grows every night');
  assert.deepEqual(signs('extra.hours_left', 3, 2), [], 'what the partner counts');
  const consent = 'guests[0].marketing_consent';
  assert.deepEqual(signs(consent, false, true), ['granted guests.marketing_consent']);
  assert.deepEqual(signs(consent, null, true), ['granted guests.marketing_consent']);
  assert.deepEqual(signs(consent, true, false), ['withdrawn'], 'somebody is told; it is never held back');
  assert.deepEqual(signs('guests[0].email', null, 'a@mail.example'), [], 'a value that is new');
  assert.deepEqual(signs('x', 1, 2, { event: 'removed' }), ['removed']);
});

test('arrivals and departures on their day are ordinary, however many', () => {
  const today = { check_in: '2026-03-02', check_out: '2026-03-02' };
  assert.deepEqual(signs('status', 'confirmed', 'checked_in', {}, today), []);
  assert.deepEqual(signs('status', 'checked_in', 'checked_out', {}, today), []);
  assert.deepEqual(signs('status', 'confirmed', 'checked_out'), ['status checked_out']);
});

test('half of 20 rows are an accident, fewer are ordinary; of few rows, nearly all', () => {
  const isHeld = (affected: number, rows: number) =>
    decide(nothingKnown, page('r', rows, { [lost]: affected })).held.has(lost);
  assert.equal(isHeld(11, 20), true);
  assert.equal(isHeld(9, 20), false);
  assert.equal(isHeld(5, 6), true);
  assert.equal(isHeld(4, 4), false, 'too few to tell');
  assert.equal(isHeld(8, 12), false);
});

/** Rows of a page that all arrive on one day, or on different days. */
const rowsOf = (count: number, isGroup: boolean, sign = lost, bookers?: string[]) =>
  countSigns(
    Array.from({ length: count }, (_, n) => ({
      signs: new Set([sign]),
      check_in: isGroup ? '2026-03-05' : `2026-03-${String(1 + (n % 20)).padStart(2, '0')}`,
      check_out: isGroup ? '2026-03-07' : `2026-03-${String(3 + (n % 20)).padStart(2, '0')}`,
      ...(bookers && { bookers }),
    })),
  );

test('bookings that end together are a group only if somebody booked them together', () => {
  for (const sign of ['gone', 'status cancelled']) {
    const isHeld = (bookers?: string[]) =>
      decide(nothingKnown, { ...page('r', 90), ...rowsOf(60, true, sign, bookers) }).held.size === 1;
    assert.deepEqual([isHeld(), isHeld(['agency'])], [true, false], sign);
  }
  const { held } = decide(nothingKnown, { ...page('r', 90), ...rowsOf(30, true, 'gone') });
  assert.deepEqual([...held.keys()], ['gone'], 'the last third of a list');
});

test('more than half of a list that arrives on one day is a group; rows of all days are an accident', () => {
  const isHeld = (isGroup: boolean, affected: number, rows: number) =>
    decide(nothingKnown, { ...page('r', rows), ...rowsOf(affected, isGroup, 'changed rooms.room_type') }).held.size ===
    1;
  assert.deepEqual([isHeld(true, 16, 30), isHeld(false, 16, 30)], [false, true]);
  assert.equal(isHeld(true, 29, 30), true, 'a list of one day says nothing about others');
  const { normal } = decide(nothingKnown, page('r', 100));
  const last = (isGroup: boolean) =>
    decide(normal, { ...page('r', 25), ...rowsOf(24, isGroup, 'changed rooms.room_type') }).held.size;
  assert.deepEqual([last(true), last(false)], [0, 1], 'the short last page of a list');
});

test('guests who are still to come do not lose an address together; those who left may be forgotten together', () => {
  const { normal } = decide(nothingKnown, page('r', 100));
  const day = (now: string) => decide(normal, { ...page('r', 20), ...rowsOf(20, true) }, Date.parse(now)).held.size;
  assert.deepEqual([day('2026-03-01'), day('2026-03-09')], [1, 0]);
});

test('the small pages of an accident are counted together', () => {
  const first = decide(nothingKnown, page('a', 3, { [lost]: 3 }));
  assert.equal(first.held.size, 0);
  assert.equal(decide(first.normal, page('b', 3, { [lost]: 3 })).held.size, 1);
});

test('one hold stays the same over many batches, and what is held is never learnt as usual', () => {
  let { normal } = decide(nothingKnown, page('r0', 40, { [lost]: 40 }));
  for (let n = 1; n < 100; n++) {
    const next = decide(normal, page(`r${n}`, 40, { [lost]: 40 }), n * hour);
    assert.equal(next.held.get(lost)?.id, normal.holds[0]?.id, `at batch ${n}`);
    assert.equal(next.normal.holds.length, 1);
    normal = next.normal;
  }
});

test('what was released is normal for a month; after a refusal another accident is another hold', () => {
  const { normal } = decide(nothingKnown, page('r0', 40, { [lost]: 40 }));
  const closed = (state: 'released' | 'refused') => ({
    ...normal,
    holds: normal.holds.map((hold) => ({ ...hold, state, closedAt: 0 })),
  });
  assert.equal(decide(closed('released'), page('r1', 40, { [lost]: 40 }), hour).held.size, 0);
  const refused = decide(closed('refused'), page('r1', 40, { [lost]: 40 }), hour);
  assert.notEqual(refused.held.get(lost)?.id, normal.holds[0]?.id);
  assert.equal(decide(closed('released'), page('r1', 40, { [lost]: 40 }), 60 * 24 * hour).held.size, 1);
});

test('the events of an hour are judged together: a tenth of the bookings pass, or four', () => {
  const heldAfter = (everyMs: number, { isGroup = false, sign = 'shift check_in 1', own = 40 } = {}) => {
    let normal = nothingKnown;
    for (let n = 1; n <= 100; n++) {
      const days = isGroup ? rowsOf(1, true, sign) : rowsOf(n, false, sign);
      const day = { [`in 2026-04-${1 + (n % 28)}`]: 1 };
      const shared = isGroup ? days.shared : { [sign]: day };
      const one = { rows: 1, signs: { [sign]: 1 }, at: n * everyMs, shared };
      const known = { now: n * everyMs, newId: () => 'hld', bookings: own, expected: 0 };
      const verdict = evaluate(normal, [one], limits, known);
      if (verdict.held.size > 0) return n;
      normal = verdict.normal;
    }
    return undefined;
  };
  assert.equal(heldAfter(1_000), 5);
  assert.equal(heldAfter(1_000, { own: 8 }), 5);
  assert.equal(heldAfter(1_000, { own: 400 }), 41);
  assert.equal(heldAfter(1_000, { sign: lost }), 5);
  assert.equal(heldAfter(1_000, { sign: 'status cancelled' }), 5);
  assert.equal(heldAfter(20 * 60_000), undefined, 'three an hour are ordinary');
  assert.equal(heldAfter(1_000, { isGroup: true }), 61, 'a group that is moved booking by booking');
});

test('rows that also changed in an ordinary way belong to the accident', () => {
  assert.equal(isPartOf('factor total_amount 112', 'factor total_amount 100'), true);
  assert.equal(isPartOf('factor rooms.amount 100', 'factor total_amount 100'), false);
  assert.equal(isPartOf('shift check_in 3', 'shift check_in 1'), true);
  assert.equal(isPartOf('cleared guests.email', 'cleared guests'), true, 'its guests are those of another source');
  assert.equal(isPartOf('cleared guests', 'cleared guests.email'), false);
  assert.equal(isPartOf('status no_show', 'status cancelled'), false);
  const { held } = decide(nothingKnown, page('r', 19, { 'factor total_amount 100': 13, 'factor total_amount 115': 6 }));
  assert.deepEqual([...held.keys()], ['factor total_amount 100'], 'one hold');
  assert.equal(held.get('factor total_amount 100')?.affected, 19);
});

test('what is known is bounded, whatever a partner sends', () => {
  let normal = nothingKnown;
  for (let n = 0; n < 2_000; n++) {
    const all = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`factor total_amount ${n * 20 + i}`, 1]));
    normal = decide(normal, page(`r${n}`, 20, all)).normal;
  }
  assert.ok(JSON.stringify(normal).length < 20_000, String(JSON.stringify(normal).length));
});
