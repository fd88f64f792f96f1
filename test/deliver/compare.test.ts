import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compare, differingPaths, type Here, type There } from '../../src/core/deliver/compare.ts';
import type { Json, JsonObject } from '../../src/terms.ts';

const text = fc.string({ maxLength: 4 });
const value = fc.oneof(text, fc.integer(), fc.boolean());
const item = fc.dictionary(fc.constantFrom('first_name', 'email', 'adults'), value, { maxKeys: 3 });
const content: fc.Arbitrary<JsonObject> = fc.record({
  status: text,
  total_amount: fc.integer({ min: 0, max: 99_999 }).map((cents) => `${cents / 4}`),
  guests: fc.array(item, { maxLength: 3 }),
});

const here = (of: JsonObject, more: Partial<Here> = {}): Here =>
  ({ kind: 'sent', version: 3, epoch: 1, waits: false, content: () => of, ...more }) as Here;
const kinds = (wanted: Here, ...there: readonly There[]) => compare(wanted, there).map(({ kind }) => kind);

test('what a destination spells in its own way is equal: numbers for decimals, null for absent, any order of names', () => {
  const spelled = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(spelled);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries([
      ...Object.entries(value)
        .reverse()
        .map(([name, one]) => [name, spelled(one)]),
      ['nothing', null],
    ]);
  };
  fc.assert(
    fc.property(content, (one) => {
      const there = { ...(spelled(one) as JsonObject), total_amount: Number(one.total_amount), rooms: [] };
      assert.deepEqual(compare(here(one), [{ version: 3, content: there }]), [{ kind: 'equal', versionThere: 3 }]);
    }),
  );
});

test('exactly the changed paths are named, from both sides', () => {
  const places = fc.constantFrom('status', 'guests[1].email', 'guests[0].first_name', 'total_amount');
  fc.assert(
    fc.property(content, fc.uniqueArray(places), (some, changed) => {
      const one: JsonObject = { ...some, guests: [{ first_name: 'a' }, { email: 'b' }] };
      const set = (at: string, to: string) => (changed.includes(at as never) ? to : undefined);
      const other = {
        status: set('status', `${one.status}x`) ?? one.status ?? null,
        total_amount: set('total_amount', `${one.total_amount}1`) ?? one.total_amount ?? null,
        guests: [
          { first_name: set('guests[0].first_name', 'x') ?? 'a' },
          { email: set('guests[1].email', 'x') ?? 'b' },
        ],
      };
      assert.deepEqual(differingPaths(one, other).sort(), changed.toSorted());
      assert.deepEqual(differingPaths(other, one).sort(), changed.toSorted());
    }),
  );
});

test('each state of a record has one name', () => {
  const one = { status: 'confirmed' };
  const row = (version: number, status = 'confirmed', more: Partial<There> = {}): There => ({
    version,
    content: { status },
    ...more,
  });
  assert.deepEqual(kinds(here(one)), ['missing']);
  assert.deepEqual(kinds(here(one), row(3, 'confirmed', { isRemoved: true })), ['missing']);
  assert.deepEqual(kinds(here(one), row(3)), ['equal']);
  assert.deepEqual(kinds(here(one), { version: 3, content: 'same' }), ['equal']);
  assert.deepEqual(kinds(here(one), row(2)), ['behind']);
  assert.deepEqual(kinds(here(one, { waits: true }), row(2)), ['waiting']);
  assert.deepEqual(kinds(here(one, { waits: true }), row(3)), ['equal'], 'it arrived, and was not acknowledged');
  assert.deepEqual(kinds(here(one, { waits: true })), ['waiting']);
  assert.deepEqual(compare(here(one), [row(4, 'other')]), [
    { kind: 'changed', paths: ['version', 'status'], versionThere: 4 },
  ]);
  assert.deepEqual(kinds(here(one, { epoch: 2 } as Partial<Here>), row(4, 'confirmed', { epoch: 1 })), ['equal']);
  assert.deepEqual(kinds(here(one), { content: 'unreadable' }), ['not_readable']);
  assert.deepEqual(kinds(here(one, { mayLack: true } as Partial<Here>)), []);
});

test('a doubled row is a finding of its own, whichever comes first', () => {
  const there: There[] = [
    { version: 3, content: { status: 'other' } },
    { version: 3, content: { status: 'confirmed' } },
  ];
  const findings = [
    { kind: 'only_there', reason: 'doubled', versionThere: 3 },
    { kind: 'equal', versionThere: 3 },
  ];
  assert.deepEqual(compare(here({ status: 'confirmed' }), there), findings);
  assert.deepEqual(compare(here({ status: 'confirmed' }), there.toReversed()), findings.toReversed());
});

test('a destination without versions is behind if it has what an earlier version said', () => {
  const wanted = here({ status: 'cancelled' }, { earlier: () => [{ status: 'confirmed' }] } as Partial<Here>);
  assert.deepEqual(kinds(wanted, { content: { status: 'confirmed' } }), ['behind']);
  assert.deepEqual(kinds(wanted, { content: { status: 'no_show' } }), ['changed']);
});

test('what is left out is only there with its reason, while its removal waits it is waiting, and gone it is nothing', () => {
  const left: Here = { kind: 'left_out', reason: 'filtered', version: 1, waits: false };
  assert.deepEqual(compare(left, [{ version: 1, content: {} }]), [
    { kind: 'only_there', reason: 'filtered', versionThere: 1 },
  ]);
  assert.deepEqual(kinds({ ...left, waits: true }, { version: 1, content: {} }), ['waiting']);
  assert.deepEqual(kinds(left), []);
});
