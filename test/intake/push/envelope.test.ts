import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { latestMoment, readEnvelope, utcInstant } from '../../../src/core/intake/push/envelope.ts';

for (const [text, expected] of [
  ['2026-03-01T09:30:00Z', Date.UTC(2026, 2, 1, 9, 30)],
  ['2026-03-01t09:30:00z', Date.UTC(2026, 2, 1, 9, 30)],
  ['2026-03-01T09:30Z', Date.UTC(2026, 2, 1, 9, 30)],
  ['2026-03-01T09:30:00.5Z', Date.UTC(2026, 2, 1, 9, 30, 0, 500)],
  ['2026-03-01T09:30:00,123456789Z', Date.UTC(2026, 2, 1, 9, 30, 0, 123)],
  ['2026-03-01T09:30:00+00:00', Date.UTC(2026, 2, 1, 9, 30)],
  ['2026-03-01T09:30:00-0000', Date.UTC(2026, 2, 1, 9, 30)],
  ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
  ['2016-12-31T23:59:60Z', Date.UTC(2016, 11, 31, 23, 59, 59, 999)],
  ['0001-01-01T00:00:00Z', -62_135_596_800_000],
] as const) {
  test(`an instant: ${text}`, () => assert.equal(utcInstant(text), expected));
}

for (const text of [
  '2026-02-29T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-03-01T24:00:00Z',
  '2026-03-01T09:60:00Z',
  '2026-03-01 09:30:00Z',
  '2026-03-01T09:30:00',
  '2026-03-01T09:30:00+01:00',
  '2026-03-01',
  '20260301T093000Z',
  ' 2026-03-01T09:30:00Z',
  '2026-03-01T09:30:00Z\n',
  '+002026-03-01T09:30:00Z',
  '20Z6-03-01T09:30:00Z',
  '2026-03-0:T09:30:00.123Z',
  '2026-03-01T09:30:00.1-3Z',
  '2026-03-01T09:30:6 Z',
  '1763164800',
  '',
]) {
  test(`no instant: ${JSON.stringify(text)}`, () => assert.equal(utcInstant(text), undefined));
}

for (const [text, expected] of [
  ['2026-03-01T09:30:00Z', Date.UTC(2026, 2, 1, 9, 30, 0, 999)],
  ['2026-03-01T09:30:07+00:00', Date.UTC(2026, 2, 1, 9, 30, 7, 999)],
  ['2026-03-01T09:30Z', Date.UTC(2026, 2, 1, 9, 30, 59, 999)],
  ['2026-03-01T09:30+00:00', Date.UTC(2026, 2, 1, 9, 30, 59, 999)],
  ['2026-03-01T09:30:00.000Z', Date.UTC(2026, 2, 1, 9, 30)],
  ['2026-03-01T09:30:00,5Z', Date.UTC(2026, 2, 1, 9, 30, 0, 500)],
  ['2016-12-31T23:59:60Z', Date.UTC(2016, 11, 31, 23, 59, 59, 999)],
  ['yesterday', undefined],
] as const) {
  test(`the last moment that ${text} can mean`, () => assert.equal(latestMoment(text), expected));
}

test('property: every instant that JavaScript writes is read back', () => {
  const dates = fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59Z'),
    noInvalidDate: true,
  });
  fc.assert(fc.property(dates, (date) => assert.equal(utcInstant(date.toISOString()), date.getTime())));
});

test('property: for any body, the problems name only envelope fields', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (body) => {
      const read = readEnvelope(body as never, 'LIS01');
      if (read.kind === 'ok') return;
      for (const { pointer } of read.problems) assert.match(pointer, /^(?:|\/event|\/timestamp|\/brand_id|\/data)$/);
    }),
  );
});

const event = (data: object) => ({
  event: 'reservation.updated',
  timestamp: '2026-03-01T09:30:00Z',
  brand_id: 'B',
  data,
});
const many = (count: number) => Array.from({ length: count }, (_, i) => ({ email: `guest-${i}@mail.example` }));

for (const [what, data, pointer] of [
  ['guests', { guests: many(501) }, '/data/guests'],
  ['rooms', { rooms: many(501) }, '/data/rooms'],
  ['stays', { stays: many(501) }, '/data/stays'],
  ['charges', { charges: many(5_001) }, '/data/charges'],
  ['guests inside another object', { booking: { guests: many(501) } }, '/data'],
  ['elements in a list of another name', { persons: many(5_001) }, '/data'],
] as const) {
  test(`an event with too many ${what} is refused`, () => {
    const result = readEnvelope(event(data) as never, 'B');
    assert.deepEqual(result.kind === 'invalid' && result.problems.map((problem) => problem.pointer), [pointer]);
  });
}

test('an event with as many guests, rooms and charges as are accepted is valid', () => {
  const data = { guests: many(500), rooms: many(500), charges: many(5_000) };
  assert.equal(readEnvelope(event(data) as never, 'B').kind, 'ok');
});
