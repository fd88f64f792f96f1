import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Reservation } from '../../src/core/canonical/reservation.ts';
import { newerConsent } from '../../src/core/reconcile/consent.ts';
import { consentsIn } from '../../src/core/reconcile/stored-claims.ts';

const yes = { value: true, source: 'pull', at: 1 } as const;
const no = { value: false, source: 'push', at: 2 } as const;

const decided = (...statements: Parameters<typeof newerConsent>[0][]) =>
  statements.reduce((known, one) => newerConsent(known, one), undefined)?.value;

test('the newer statement about consent wins, and silence changes nothing', () => {
  assert.equal(decided(yes, no), false);
  assert.equal(decided(no, yes), false);
  assert.equal(newerConsent(yes, undefined), yes);
  assert.equal(newerConsent(undefined, yes), yes);
  assert.equal(newerConsent(undefined, undefined), undefined);
  assert.equal(decided(no, { value: null, source: 'push', at: 3 }), null);
});

test('of two statements with the same time, the refusal wins in either order', () => {
  const refused = { value: false, source: 'pull', at: 1 } as const;
  assert.equal(decided(yes, refused), false);
  assert.equal(decided(refused, yes), false);
});

test('a source that repeats its yes does not overturn a newer no; a changed statement does', () => {
  const repeated = { ...yes, at: 3 };
  for (const order of [
    [yes, no, repeated],
    [yes, repeated, no],
    [repeated, yes, no],
    [no, repeated, yes],
  ])
    assert.equal(decided(...order), false);
  const withdrawn = { value: false, source: 'pull', at: 4 } as const;
  const granted = { value: true, source: 'pull', at: 5 } as const;
  assert.equal(decided(yes, no, repeated, withdrawn, granted), true);
});

test('a destination’s no stands against every feed of the partner that repeats an older yes, until one of them changes its word', () => {
  const report = { value: false, source: 'destination:crm', at: 5 } as const;
  const byEvent = { value: true, source: 'push', at: 2 } as const;
  // The first yes of the list is not news: the events said it before.
  const byList = { value: true, source: 'pull', at: 8 } as const;
  for (const order of [
    [byEvent, report, byList],
    [report, byList, byEvent],
    [byList, byEvent, report],
  ])
    assert.equal(decided(...order), false);
  const no = { value: false, source: 'push', at: 9 } as const;
  const again = { value: true, source: 'push', at: 10 } as const;
  assert.equal(decided(byEvent, report, byList, no, again), true);
  // The first yes of a list is no date: only a statement about consent, or a source that said no itself, makes a subscriber again.
  assert.equal(decided(report, byList), false);
  assert.equal(decided(report, { ...byList, isOwn: true }), true);
  // Unsubscribed once more.
  assert.equal(decided(byEvent, report, no, again, { ...report, at: 12 }), false);
});

test('property: the order of arrival does not decide whose consent counts', () => {
  const statement = fc.record({
    value: fc.constantFrom(true, false),
    source: fc.constantFrom('pull' as const, 'push' as const, 'destination:crm' as const),
    at: fc.integer({ min: 1, max: 9 }),
  });
  // One statement of a source at a time: each source's own history is in order, the sources are interleaved at will.
  fc.assert(
    fc.property(fc.array(statement, { maxLength: 8 }), fc.infiniteStream(fc.boolean()), (all, coin) => {
      const of = (source: string) =>
        all.filter((one) => one.source === source).toSorted((a, b) => a.at - b.at || Number(a.value) - Number(b.value));
      const sources = ['pull', 'push', 'destination:crm'] as const;
      const queues = sources.map(of);
      const mixed: typeof all = [];
      while (queues.some((queue) => queue.length > 0)) {
        const next = queues.find((queue) => queue.length > 0 && coin.next().value)?.shift();
        if (next) mixed.push(next);
      }
      assert.equal(decided(...mixed), decided(...sources.flatMap(of)));
    }),
    { numRuns: 2_000 },
  );
});

test('consent carries its source and time; a guest without a statement has none', () => {
  const record = { id: 'R1', guests: [{ last_name: 'Reis' }, { last_name: 'Lund', marketing_consent: false }] };
  assert.deepEqual(consentsIn(record as unknown as Reservation, undefined, [7, 1]), [
    undefined,
    { value: false, source: 'pull', at: 7 },
  ]);
});
