import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Reservation } from '../../src/core/canonical/reservation.ts';
import { difference, undo } from '../../src/core/reconcile/difference.ts';
import type { Decision, Statement, Stored } from '../../src/core/reconcile/forms.ts';
import { decideBatch } from '../../src/core/store/records/ingest.ts';
import { said, testBrand } from '../support/brand.ts';

const brand = testBrand('lisbon');
const booking = (channel: string, status: Reservation['status'] = 'confirmed'): Reservation => ({
  id: 'A',
  check_in: '2026-03-01',
  check_out: '2026-03-04',
  status,
  channel,
  guests: [],
  rooms: [],
  charges: [],
});
const event = (record: Reservation, effectiveAt: number, seq: number) =>
  said(record, { mode: 'push', cause: 'event', causeId: 'e', effectiveAt, seq });
const after = (...statements: readonly Statement[]) => {
  const { steps, rows } = decideBatch(brand, new Map(), statements);
  return { decision: steps.at(-1)?.decision as Decision, stored: rows.get('reservation A') as Stored };
};
const known = event(booking('a'), 1000, 7);
const summary = (decision: Decision) =>
  decision.kind === 'change' ? [decision.event, decision.version] : [decision.kind];

test('the first state of a record is its version 1', () => {
  assert.deepEqual(summary(after(known).decision), ['created', 1]);
});

test('a record first seen cancelled is delivered as cancelled', () => {
  assert.deepEqual(summary(after(event(booking('a', 'no_show'), 1, 1)).decision), ['cancelled', 1]);
});

test('equal content is unchanged, however old or new', () => {
  for (const at of [1, 1000, 9999]) assert.equal(after(known, event(booking('a'), at, 1)).decision.kind, 'unchanged');
});

test('an earlier state is superseded, a later one is the next version', () => {
  assert.equal(after(known, event(booking('b'), 999, 99)).decision.kind, 'superseded');
  assert.deepEqual(summary(after(known, event(booking('b'), 1001, 1)).decision), ['updated', 2]);
});

test('equal times are decided by sequence', () => {
  assert.equal(after(known, event(booking('b'), 1000, 6)).decision.kind, 'superseded');
  assert.equal(after(known, event(booking('b'), 1000, 8)).decision.kind, 'change');
});

test('a cancellation is reported once; later changes are updates, also a revival', () => {
  const cancelled = event(booking('a', 'cancelled'), 2000, 8);
  assert.deepEqual(summary(after(known, cancelled).decision), ['cancelled', 2]);
  for (const status of ['cancelled', 'no_show', 'confirmed'] as const) {
    assert.deepEqual(summary(after(known, cancelled, event(booking('c', status), 3000, 9)).decision), ['updated', 3]);
  }
});

test('any order of arrival, with repeats, of any source, ends in the same state', () => {
  const mode = fc.constantFrom('pull' as const, 'single' as const, 'push' as const);
  const one = fc.record({ effectiveAt: fc.integer({ min: 1, max: 5 }), mode });
  const history = fc.array(one, { minLength: 1, maxLength: 8 }).chain((states) => {
    // The sequence is given at intake, once: a repeat carries the sequence of the first.
    const statements = states.map(({ effectiveAt, mode }, i) =>
      said(booking(`${i}`), { mode, cause: 'event', causeId: 'e', effectiveAt, seq: i + 1 }),
    );
    const repeated = statements.flatMap((each) => [each, each]);
    return fc.tuple(fc.constant(statements), fc.shuffledSubarray(repeated, { minLength: repeated.length }));
  });
  fc.assert(
    fc.property(history, ([inOrder, shuffled]) => {
      assert.equal(after(...shuffled).stored.text, after(...inOrder).stored.text);
    }),
  );
});

test('differences name the leaves, lists by position', () => {
  const before = { status: 'confirmed', guests: [{ email: 'a@x.example' }, { email: 'b@x.example' }], gone: 1 };
  const after = { status: 'cancelled', guests: [{ email: 'a@x.example', phone: '+351' }] };
  assert.deepEqual(difference(before, after), [
    { path: 'status', before: 'confirmed', after: 'cancelled' },
    { path: 'guests[0].phone', after: '+351' },
    { path: 'guests[1]', before: { email: 'b@x.example' } },
    { path: 'gone', before: 1 },
  ]);
});

test('a record does not differ from itself', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) =>
      assert.deepEqual(difference(value as never, structuredClone(value) as never), []),
    ),
  );
});

test('undoing a difference gives the record before it', () => {
  // None ends in a backslash: V8 14.6 reads the key "x\"" as x\ where it has seen that one before.
  const name = fc
    .oneof(fc.constantFrom('a', 'b', 'guests', 'a.b', 'x[0]', '"', '\\n', '', '__proto__'), fc.string())
    .filter((text) => !text.endsWith('\\'));
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      fc.constant(null),
      fc.boolean(),
      fc.integer(),
      fc.string(),
      tie('list'),
      tie('object'),
    ),
    list: fc.array(tie('any'), { maxLength: 4 }),
    object: fc.dictionary(name, tie('any'), { maxKeys: 4 }),
  })).object;
  fc.assert(
    fc.property(value, value, (one, other) => {
      const [before, after] = [one, other].map((it) => JSON.parse(JSON.stringify(it)));
      const diff = JSON.parse(JSON.stringify(difference(before, after)));
      assert.deepEqual(undo(structuredClone(after), diff), before);
    }),
  );
});
