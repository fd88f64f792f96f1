import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { merge } from '../../src/reconcile/merge.ts';
import { restates } from '../../src/reconcile/restate.ts';
import { isSole, soleOf, storedViews } from '../../src/reconcile/said.ts';
import { emptiesIn, statementOf } from '../../src/reconcile/statement-of.ts';
import { accept, type View } from '../../src/reconcile/view.ts';
import type { Json } from '../../src/terms.ts';
import { type Fields, story } from './model-partner.ts';

const withoutEmpty = (data: Fields): Fields =>
  Object.fromEntries(
    Object.entries(data)
      .filter(([, value]) => value !== null)
      .map(([field, value]) => [
        field,
        Array.isArray(value) ? value.map((item) => withoutEmpty(item as Fields)) : value,
      ]),
  );

const sorted = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => !(Array.isArray(one) && one.length === 0))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, sorted(one)]),
  );
};

const word = (data: Fields) => ({ record: withoutEmpty(data), none: emptiesIn(withoutEmpty(data), data) });

test('a message that restates the record is what the merge makes of it', () => {
  let restated = 0;
  let compared = 0;
  fc.assert(
    fc.property(story, fc.constantFrom('push' as const, 'pull' as const), ({ messages, absent }, source) => {
      const silence = source === 'pull' ? 'clear' : absent;
      const own = messages.filter((one) => one.source === source).sort((a, b) => a.at - b.at);
      let view: View | undefined;
      for (const { at, data } of own) {
        const stored = view && storedViews({ [source]: view }, false);
        const before = view && merge({ [source]: view }).draft;
        const known = view;
        view = accept(known, statementOf(withoutEmpty(data), data), [at, at], { silence, lists: 'replace' });
        if (known === undefined || before === undefined || known.said[0] === at || !isSole(stored, source)) continue;
        compared++;
        if (!restates(word(data), { record: before, none: soleOf(stored, source)?.none ?? [] })) continue;
        restated++;
        assert.deepEqual(sorted(merge({ [source]: view }).draft), sorted(withoutEmpty(data)));
        const after = storedViews({ [source]: view }, false);
        assert.ok(isSole(after, source), 'the record still equals the statement of its only source');
        assert.deepEqual([...(soleOf(after, source)?.none ?? [])].sort(), [...word(data).none].sort());
      }
    }),
    { numRuns: 500 },
  );
  assert.ok(restated > compared / 5, `${restated} of ${compared} messages restated the record`);
});

test('a message that leaves out a field, an element or a list does not restate the record', () => {
  const guest = { first_name: 'Ana', last_name: 'Reis', email: 'ana@reis.example' };
  const other = { first_name: 'Bo', last_name: 'Lund' };
  const known = { record: { id: 'R1', channel: 'web', guests: [guest, other] }, none: ['source'] };
  const whole = { id: 'R1', channel: 'ota', guests: [guest, other] };
  assert.ok(restates({ record: whole, none: ['source'] }, known));
  assert.ok(!restates({ record: whole, none: [] }, known), 'source');
  assert.ok(!restates({ record: { id: 'R1', guests: [guest, other] }, none: ['source'] }, known), 'channel');
  assert.ok(!restates({ record: { id: 'R1', channel: 'ota', guests: [] }, none: ['source'] }, known), 'guests');
  const swapped = { ...whole, guests: [other, guest] };
  assert.ok(!restates({ record: swapped, none: ['source'] }, known), 'the other guest may have kept an address');
  const silent = { ...whole, guests: [{ ...guest, email: undefined }, other] };
  assert.ok(!restates({ record: silent, none: ['source'] }, known), 'guests[0].email');
});
