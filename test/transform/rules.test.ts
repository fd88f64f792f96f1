import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { Reservation } from '../../src/core/canonical/reservation.ts';
import { chargeSchema, guestSchema, reservationSchema, roomSchema } from '../../src/core/canonical/schema.ts';
import { lists, reservationFields } from '../../src/core/transform/fields.ts';
import { compileRules, type Rule } from '../../src/core/transform/rules.ts';

interface Case {
  readonly case: string;
  readonly rules: readonly Rule[];
  /** Over the base below. */
  readonly record?: Partial<Reservation>;
  /** The differences afterwards; null means removed. */
  readonly becomes?: Readonly<Record<string, unknown>>;
  readonly dropped?: string;
  readonly failed?: string;
  readonly notes?: readonly string[];
}

const base: Reservation = {
  id: 'R1',
  check_in: '2026-11-01',
  check_out: '2026-11-05',
  status: 'confirmed',
  guests: [],
  rooms: [],
  charges: [],
};
const about = { integration: 'lisbon-grand', brand_id: 'LIS01', country: 'PT' };

function compiled(rules: readonly Rule[]) {
  const result = compileRules(rules, about);
  assert.equal(result.kind, 'ok', JSON.stringify(result));
  if (result.kind !== 'ok') throw new Error('unreachable');
  return result.rules;
}

function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) frozen(part);
  return Object.freeze(value);
}

describe('rules', () => {
  for (const golden of JSON.parse(readFileSync(new URL('cases/rules.json', import.meta.url), 'utf8')) as Case[]) {
    test(golden.case, () => {
      const given = frozen({ ...base, ...golden.record });
      const result = compiled(golden.rules).apply(given);
      if (golden.dropped !== undefined) {
        assert.deepEqual(result, { kind: 'dropped', rule: golden.rules.length - 1, note: golden.dropped });
        return;
      }
      if (golden.failed !== undefined) {
        assert.equal(result.kind, 'failed');
        if (result.kind !== 'failed') return;
        assert.equal(result.code, golden.failed);
        assert.match(result.message, /^transforms\[0\]\.(when|set(\.\w+|\["[\w.[\]]+"\])): [A-Za-z].*\.$/);
        assert.ok(!result.message.includes('secret-value'));
        return;
      }
      assert.equal(result.kind, 'kept', JSON.stringify(result));
      if (result.kind !== 'kept') return;
      const expected = Object.fromEntries(
        Object.entries({ ...given, ...golden.becomes }).filter(([, value]) => value !== null),
      );
      assert.deepEqual(result.record, expected);
      const changes = Object.keys(golden.becomes ?? {}).length > 0;
      assert.equal(result.changed, changes);
      assert.equal(result.record === given, !changes);
      assert.equal(result.notes.length > 0, changes);
      if (golden.notes)
        assert.deepEqual(
          result.notes.map(({ field, code }) => `${field} ${code}`),
          golden.notes,
        );
      assert.ok(result.notes.every(({ step }) => step === 'transform'));
    });
  }
});

test('a note has the text of the rule and the value before and after', () => {
  const result = compiled([{ set: { source: '"OTA"' }, note: 'Booked through an agency.' }]).apply({
    ...base,
    source: 'web',
  });
  assert.deepEqual(result.kind === 'kept' && result.notes, [
    {
      step: 'transform',
      field: 'source',
      code: 'rule_set',
      reason: 'Booked through an agency.',
      before: 'web',
      after: 'OTA',
    },
  ]);
});

test('without rules the record is returned unchanged', () => {
  const result = compiled([]).apply(base);
  assert.deepEqual(result, { kind: 'kept', record: base, changed: false, notes: [] });
  assert.equal(result.kind === 'kept' && result.record, base);
});

test('all mistakes of all rules are reported at once, with their paths', () => {
  const result = compileRules([
    {
      when: 'chanel == "a"',
      set: {
        source: '1',
        sauce: '"x"',
        guests: '[]',
        'guests[].emial': '""',
        'rooms[].adults': '2.5',
        'extra.__proto__': '1',
        total_amount: '"12"',
      },
    },
    { drop: ['id', 'nope', 'guests[].nope', 'extra'] },
    {},
    { drop: true, set: { source: '"x"' } },
    { when: 'channel == "x"', drop: ['guests[]'] },
    { when: 'guest.email == ""', set: { 'guests[].phone': '""', source: '"x"' } },
  ]);
  assert.equal(result.kind, 'invalid');
  if (result.kind !== 'invalid') return;
  assert.deepEqual(
    result.problems.map(({ path }) => path),
    [
      'transforms[0].set.source',
      'transforms[0].set.sauce',
      'transforms[0].set.guests',
      'transforms[0].set["guests[].emial"]',
      'transforms[0].set["rooms[].adults"]',
      'transforms[0].set["extra.__proto__"]',
      'transforms[0].set.total_amount',
      'transforms[0].when',
      'transforms[1].drop[0]',
      'transforms[1].drop[1]',
      'transforms[1].drop[2]',
      'transforms[1].drop[3]',
      'transforms[2]',
      'transforms[3]',
      'transforms[4].when',
      'transforms[5].when',
    ],
  );
});

test('rules know exactly the fields of the canonical schema', () => {
  const sorted = (names: object): string[] => Object.keys(names).sort();
  const ofSchema = { guests: guestSchema, rooms: roomSchema, charges: chargeSchema };
  for (const [list, schema] of Object.entries(ofSchema)) {
    const { extra: _, ...fields } = schema.shape as { extra?: unknown };
    assert.deepEqual(sorted(lists[list as keyof typeof lists].fields), sorted(fields));
  }
  assert.deepEqual(sorted({ ...reservationFields, ...lists, extra: true }), sorted(reservationSchema.shape));
});
