import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { toGuest, toReservation } from '../../src/core/canonical/check.ts';
import { describeProblems, longestId, mostItems } from '../../src/core/canonical/field-check.ts';
import { reservationSchema } from '../../src/core/canonical/schema.ts';
import { reservationArbitrary } from './arbitrary.ts';

interface Case {
  readonly in: { readonly [field: string]: unknown };
  readonly out?: { readonly [field: string]: unknown };
  readonly breaks?: string;
  readonly drops?: string;
  readonly type?: string;
  readonly code?: string;
  readonly note?: string;
}

const cases = parse(readFileSync(new URL('cases/check.yaml', import.meta.url), 'utf8')) as { [group: string]: Case[] };
const sound = { id: 'R1', check_in: '2026-05-01', check_out: '2026-05-04', status: 'confirmed' };
const lists = { guests: [], rooms: [], charges: [] };

for (const [group, list] of Object.entries(cases)) {
  for (const one of list) {
    test(`check ${group}: ${JSON.stringify(one.in)}`, () => {
      const checked = toReservation({ record: { ...sound, ...one.in } });
      if (one.breaks !== undefined) {
        assert.ok(checked.kind === 'invalid', 'it passed');
        const [problem] = checked.problems;
        assert.ok(problem !== undefined);
        assert.ok(`${problem.field} ${problem.rule}`.startsWith(one.breaks), `${problem.field} ${problem.rule}`);
        assert.equal(checked.code, one.code ?? 'record.invalid');
        if (one.type !== undefined) assert.equal(problem.type, one.type);
        return;
      }
      assert.ok(checked.kind === 'ok', JSON.stringify(checked));
      const untouched = Object.fromEntries(Object.entries(sound).filter(([key]) => !(key in one.in)));
      assert.deepEqual(checked.reservation, { ...lists, ...untouched, ...one.out });
      const note = one.drops === undefined ? one.note : 'invalid_dropped';
      assert.deepEqual(
        checked.notes.map(({ code }) => code),
        note === undefined ? [] : [note],
      );
      if (one.drops !== undefined)
        assert.ok(checked.notes[0]?.reason.startsWith(one.drops), JSON.stringify(checked.notes));
      reservationSchema.parse(checked.reservation);
    });
  }
}

test('every broken rule is reported at once, without values', () => {
  const checked = toReservation({
    record: { check_in: 'Ana Reis', check_out: '2026-05-04', total_amount: 'Ana Reis', status_raw: 'WAITL' },
  });
  assert.ok(checked.kind === 'invalid');
  assert.ok(!JSON.stringify(checked).includes('Ana Reis'));
  assert.deepEqual(describeProblems(checked.problems).split('; '), [
    'check_in must be a real date, YYYY-MM-DD (received: text)',
    'id is missing',
    'status must be a known status (received: "WAITL")',
  ]);
});

test('a wrong value of a strict field makes the record a dead letter', () => {
  const record = { ...sound, currency: 'EURO', guests: [{ nationality: 'Atlantis', date_of_birth: 'x' }] };
  const checked = toReservation({ record, strict: new Set(['currency', 'guests.nationality']) });
  assert.ok(checked.kind === 'invalid');
  assert.deepEqual(describeProblems(checked.problems).split('; '), [
    'currency must be a currency of ISO 4217, as three letters (received: text)',
    'guests[0].nationality must be a country of ISO 3166, as two letters (received: text)',
  ]);
});

test('a dropped value stays in its note, if it is short and a scalar', () => {
  const notesOf = (channel: unknown) => {
    const checked = toReservation({ record: { ...sound, channel, currency: channel } });
    assert.ok(checked.kind === 'ok');
    return checked.notes.map(({ field, before }) => [field, before]);
  };
  assert.deepEqual(notesOf('EURO'), [['currency', 'EURO']]);
  assert.deepEqual(notesOf({ a: 1 }), [
    ['channel', undefined],
    ['currency', undefined],
  ]);
  assert.deepEqual(notesOf('x'.repeat(500)), [['currency', undefined]]);
});

test('an id that PostgreSQL cannot index, and lists that are too long, make dead letters with their own codes', () => {
  const codeOf = (fields: object): string => {
    const checked = toReservation({ record: { ...sound, ...fields } });
    return checked.kind === 'ok' ? 'ok' : checked.code;
  };
  assert.equal(codeOf({ id: 'x'.repeat(longestId) }), 'ok');
  assert.equal(codeOf({ id: 'x'.repeat(longestId + 1) }), 'record.id_unusable');
  for (const [list, most] of Object.entries(mostItems)) {
    assert.equal(
      codeOf({ [list]: Array.from({ length: most }, () => ({ last_name: 'x', room_type: 'x', code: 'x' })) }),
      'ok',
    );
    assert.equal(codeOf({ [list]: Array.from({ length: most + 1 }, () => ({})) }), 'record.too_many_items');
  }
  const guest = toReservation({
    record: { ...sound, guests: [{ guest_id: 'x'.repeat(longestId + 1), last_name: 'Reis' }] },
  });
  assert.ok(guest.kind === 'ok');
  assert.deepEqual(guest.reservation.guests, [{ last_name: 'Reis' }]);
});

test('problems read as a sentence for every type', () => {
  const strict = new Set(['channel', 'total_amount']);
  const of = (field: string, value: unknown): string => {
    const record = { id: 'r', check_in: '2026-05-01', check_out: '2026-05-02', status: 'confirmed', [field]: value };
    const checked = toReservation({ record, strict });
    return checked.kind === 'ok' ? '' : describeProblems(checked.problems);
  };
  assert.equal(of('check_in', 7), 'check_in must be a real date, YYYY-MM-DD (received: a number)');
  assert.equal(of('channel', ['a']), 'channel must be text (received: a list)');
  assert.equal(of('channel', {}), 'channel must be text (received: an object)');
  assert.equal(of('total_amount', true), 'total_amount must be a decimal number (received: true or false)');
  assert.equal(of('check_out', null), 'check_out is missing');
  assert.equal(of('check_out', '2026-04-01'), 'check_out must not be before check_in');
  assert.equal(of('status', ' '), 'status is missing');
  assert.equal(of('status', 'x'.repeat(200)), `status must be a known status (received: "${'x'.repeat(80)}…")`);
  assert.equal(of('status_raw', ['x']), '');
  assert.equal(of('status', ['x']), 'status must be a known status (received: a list)');
});

test('a canonical record passes unchanged, with its keys in the order of the schema', () => {
  fc.assert(
    fc.property(reservationArbitrary, (reservation) => {
      const shuffled = Object.fromEntries(Object.entries(reservation).reverse());
      const checked = toReservation({ record: shuffled });
      assert.ok(checked.kind === 'ok', JSON.stringify(checked));
      assert.equal(JSON.stringify(checked.reservation), JSON.stringify(reservation));
      assert.deepEqual(checked.notes, []);
      assert.deepEqual(reservationSchema.parse(checked.reservation), checked.reservation);
    }),
    { numRuns: 100 },
  );
});

test('the check never throws', () => {
  const record = fc.dictionary(fc.constantFrom(...Object.keys(reservationSchema.shape)), fc.anything());
  fc.assert(
    fc.property(record, (draft) => {
      const checked = toReservation({ record: draft });
      if (checked.kind === 'ok') reservationSchema.parse(checked.reservation);
    }),
  );
});

test('half a surrogate pair is replaced', () => {
  const checked = toReservation({ record: { ...sound, channel: 'a\ud800b' } });
  assert.ok(checked.kind === 'ok');
  assert.equal(checked.reservation.channel, 'a\ufffdb');
});

test('a guest on its own is checked by the same rules', () => {
  const checked = toGuest({ record: { last_name: 'Reis', nationality: 'Portugal', marketing_consent: 'y' } });
  assert.ok(checked.kind === 'ok');
  assert.deepEqual(checked.guest, { last_name: 'Reis', nationality: 'PT', marketing_consent: true });
  for (const [word, consent] of Object.entries({ J: true, ja: true, N: false, Nein: false, nej: false })) {
    const said = toGuest({ record: { last_name: 'Reis', marketing_consent: word } });
    assert.equal(said.kind === 'ok' && said.guest.marketing_consent, consent, word);
  }
  const lenient = toGuest({ record: { last_name: 'Reis', date_of_birth: 'x' } });
  assert.ok(lenient.kind === 'ok');
  assert.deepEqual(lenient.guest, { last_name: 'Reis' });
  assert.deepEqual(
    lenient.notes.map(({ field, code }) => `${field} ${code}`),
    ['date_of_birth invalid_dropped'],
  );
});
