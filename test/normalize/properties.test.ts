import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Guest, Reservation } from '../../src/core/canonical/reservation.ts';
import { guestSchema } from '../../src/core/canonical/schema.ts';
import { isPlain } from '../../src/core/normalize/name.ts';
import { nameRules } from '../../src/core/normalize/name-rules.ts';
import { particles } from '../../src/core/normalize/name-words.ts';
import { normalizeGuest, normalizeReservation } from '../../src/core/normalize/normalize.ts';
import { leadingTitles, placeholders } from '../../src/core/persons/fold.ts';

/** Difficult inputs: the words of the rules joined and mixed with punctuation, other scripts and invisible characters. */
const marks = [
  ' ',
  '  ',
  '-',
  "'",
  '’',
  '/',
  ',',
  '.',
  '&',
  '+',
  ' y ',
  ' e ',
  ' and ',
  '\u00a0',
  '\u200b',
  '\t',
  '(',
  ')',
  '*',
  '\u0301',
  '`',
  '|',
  ';',
];
const nameWords = [
  ...[
    'ANNA',
    'anna',
    'Anna',
    "O'NEILL",
    'MCDONALD',
    'MACLEOD',
    'mac',
    'mc',
    'LEÓN',
    'ßß',
    'ﬁnn',
    'ŉa',
    'ǆa',
    'İ',
    'ı',
    'IŞIK',
    'ﬀ',
    'ΜΑΡΙΑ',
    '山田',
    'JR',
    'III',
    'ii',
    'JP',
    'A',
    'x',
    'XX',
    'N/A',
    'na',
    '1',
    'Anna7',
    'Pax2',
    'Adult 12',
    'ij',
  ],
  ...leadingTitles,
  ...particles,
  ...placeholders,
];
const nastyName = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.array(fc.constantFrom(...nameWords, ...marks), { maxLength: 7 }).map((parts) => parts.join('')),
  },
  { weight: 3, arbitrary: fc.array(fc.constantFrom(...nameWords), { maxLength: 5 }).map((parts) => parts.join(' ')) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 20 }) },
  { weight: 1, arbitrary: fc.string({ minLength: 190, maxLength: 210 }) },
);
const emailParts = [
  'anna',
  'ANNA',
  'noemail',
  'none',
  'x',
  '@',
  '@',
  'example.com',
  'EXAMPLE.com',
  'guest.booking.com',
  'müller.example',
  'xn--a',
  '.',
  '..',
  ' ',
  ';',
  ',',
  '/',
  '<',
  '>',
  '"',
  'mailto:',
  '?a=b',
  '\u00ad',
  '127.1',
  '%41',
  ':',
  '[',
  'or',
  ' or ',
  '。',
  '-',
  'com',
];
const nastyEmail = fc.oneof(
  fc.array(fc.constantFrom(...emailParts), { maxLength: 9 }).map((parts) => parts.join('')),
  fc.emailAddress(),
  fc.string({ unit: 'binary', maxLength: 30 }),
);
const phoneParts = [
  '+',
  '00',
  '011',
  '0',
  '(0)',
  '1',
  '52',
  '521',
  '351',
  '44',
  '49',
  '39',
  '54',
  '9',
  '15',
  '912345678',
  '5512345678',
  '2125550100',
  '7911123456',
  '301234567',
  ' ',
  '-',
  '/',
  ' / ',
  ';',
  ',',
  ' ext 1',
  'x12',
  '#',
  '.0',
  'tel:',
  'Tel. ',
  '(',
  ')',
  '٠٩',
  '＋',
  '\u202a',
  ' or ',
  'E+11',
  '\u00a0',
];
const nastyPhone = fc.oneof(
  fc.array(fc.constantFrom(...phoneParts), { maxLength: 8 }).map((parts) => parts.join('')),
  fc.string({ unit: fc.constantFrom(...'0123456789+-() /.'), maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
);
const region = fc.option(
  fc.constantFrom(
    'PT',
    'GB',
    'US',
    'MX',
    'AR',
    'BR',
    'IT',
    'DE',
    'FR',
    'TR',
    'NL',
    'BE',
    'ES',
    'VN',
    'KR',
    'AQ',
    'ZZ',
    'de',
  ),
  { nil: undefined },
);

const guests = fc
  .record(
    { first_name: nastyName, last_name: nastyName, email: nastyEmail, phone: nastyPhone, nationality: region },
    { requiredKeys: [] },
  )
  .map((guest) => Object.fromEntries(Object.entries(guest).filter(([, value]) => value !== undefined)) as Guest);

test('normalizing twice equals once; a phone is E.164 or absent; notes keep what was sent', () => {
  fc.assert(
    fc.property(guests, region, (given, country) => {
      const context = country === undefined ? {} : { country };
      const { guest, notes } = normalizeGuest(given, context);
      const again = normalizeGuest(guest, context);
      assert.deepEqual(again.notes, []);
      assert.equal(again.guest, guest);
      assert.ok(guest.phone === undefined || /^\+[1-9]\d{5,14}$/.test(guest.phone));
      assert.ok(guest.email === undefined || /^[\x21-\x7e]+@[a-z0-9.-]+\.[a-z0-9-]+$/.test(guest.email));
      assert.ok(guestSchema.safeParse(guest).success);
      assert.equal(guest === given, notes.length === 0);
      for (const field of ['first_name', 'last_name', 'email', 'phone'] as const) {
        if (guest[field] === given[field]) continue;
        const first = notes.find((note) => note.field === field);
        const last = notes.findLast((note) => note.field === field);
        assert.equal(first?.before, given[field]);
        assert.equal(last?.after, guest[field]);
      }
    }),
    { numRuns: 3_000 },
  );
});

const wordyName = fc
  .array(
    fc.tuple(fc.constantFrom(...nameWords, 'Kowalczyk', 'Őry', 'no', 'to be', 'Yılmaz'), fc.constantFrom(' ', '-')),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  .map((words) => words.map(([word, mark], at) => (at === 0 ? word : mark + word)).join(''));

test('no rule but the one of letter case changes plain names', () => {
  let plain = 0;
  fc.assert(
    fc.property(wordyName, wordyName, region, (first_name, last_name, nationality) => {
      if (!isPlain(first_name) || !isPlain(last_name)) return;
      plain += 1;
      const names = { first_name, last_name };
      for (const [rule, apply] of nameRules) assert.deepEqual(apply(names, { nationality }), names, rule);
    }),
    { numRuns: 8_000 },
  );
  assert.ok(plain > 150, `only ${plain} were plain: the generator no longer makes them`);
});

test('a changed guest keeps every field of the schema, in order', () => {
  const full = Object.fromEntries(Object.keys(guestSchema.shape).map((name) => [name, name]));
  const given = { ...full, email: 'A@mail.example', marketing_consent: false } as unknown as Guest;
  const { guest } = normalizeGuest(given, {});
  assert.equal(guest.email, 'a@mail.example');
  const kept = Object.keys(guestSchema.shape).filter((name) => name !== 'phone');
  assert.deepEqual(Object.keys(guest), kept);
});

test('only guests of a reservation change; clean guests leave the same object', () => {
  fc.assert(
    fc.property(fc.array(guests, { maxLength: 3 }), (list) => {
      const given: Reservation = {
        id: 'r',
        check_in: '2026-01-01',
        check_out: '2026-01-02',
        status: 'confirmed',
        channel: ' X ',
        guests: list,
        rooms: [{ room_type: ' DBL ' }],
        charges: [{ description: 'MR ' }],
      };
      const frozen = JSON.stringify(given);
      const { reservation, notes } = normalizeReservation(given, { country: 'PT' });
      assert.equal(JSON.stringify(given), frozen);
      assert.deepEqual({ ...reservation, guests: [] }, { ...given, guests: [] });
      assert.equal(reservation.rooms, given.rooms);
      assert.equal(reservation === given, notes.length === 0);
      const again = normalizeReservation(reservation, { country: 'PT' });
      assert.equal(again.reservation, reservation);
      assert.deepEqual(again.notes, []);
      for (const { field } of notes) assert.match(field, /^guests\[\d\]\./);
    }),
    { numRuns: 300 },
  );
});

test('long texts that are not names, addresses or numbers are kept unchanged', () => {
  const long = 'a@, +1/'.repeat(50_000);
  const { guest } = normalizeGuest({ first_name: long, last_name: long, email: long, phone: long }, {});
  assert.deepEqual(guest, { first_name: long, last_name: long, email_raw: long, phone_raw: long });
});

test('a guest who is repeated in the list becomes one, with a note; a couple with one address stays as it is', () => {
  const ana = { first_name: 'Ana', last_name: 'Costa', email: 'ana@home.example' };
  const rui = { ...ana, first_name: 'Rui' };
  const stay = {
    id: 'R1',
    check_in: '2026-06-01',
    check_out: '2026-06-02',
    status: 'confirmed',
    rooms: [],
    charges: [],
  } as const;
  const of = (...guests: Guest[]): Reservation => ({ ...stay, rooms: [], charges: [], guests });
  const couple = of(ana, rui);
  const { reservation, notes } = normalizeReservation(couple, {});
  assert.equal(reservation, couple);
  assert.deepEqual(notes, []);
  const repeated = normalizeReservation(of(ana, rui, { ...ana, nationality: 'PT' }, {}), {});
  assert.deepEqual(repeated.reservation.guests, [{ ...ana, nationality: 'PT' }, rui, {}]);
  assert.deepEqual(
    repeated.notes.map(({ code, field, before, after }) => [code, field, before, after]),
    [['guest_repeated', 'guests', 4, 3]],
  );
});
