import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isLocalDate, localDateAt } from '../../src/core/canonical/values.ts';
import { addDays, compileDates, monthOf } from '../../src/core/shape/dates.ts';
import type { Json } from '../../src/terms.ts';

function read(formats: readonly string[], value: Json, timezone = 'Europe/Lisbon'): string | undefined {
  const compiled = compileDates(formats, timezone);
  assert.ok(compiled.kind === 'ok', JSON.stringify(compiled));
  return compiled.read(value);
}

const cases: [format: string, value: Json, date: string | undefined, timezone?: string][] = [
  ['iso', '2026-05-01', '2026-05-01'],
  ['iso', ' 2026-05-01 ', '2026-05-01'],
  ['iso', '2026-02-29', undefined],
  ['iso', '2028-02-29', '2028-02-29'],
  ['iso', '20260501', '2026-05-01'],
  ['iso', '2026-05-01T23:30:00Z', '2026-05-02', 'Europe/Lisbon'],
  ['iso', '2026-01-01T23:30:00Z', '2026-01-01', 'Europe/Lisbon'],
  ['iso', '2026-05-01 23:30:00', '2026-05-01', 'Europe/Lisbon'],
  ['iso', '2026-05-01T23:30:00.123456+02:00', '2026-05-01', 'Europe/Berlin'],
  ['iso', '2026-05-01T23:30:00+0200', '2026-05-02', 'Asia/Tokyo'],
  ['iso', '2026-05-01T02:30:00+02', '2026-04-30', 'America/New_York'],
  ['iso', '2026-05-01T23:30:00+01:00[Europe/Lisbon]', '2026-05-01'],
  ['iso', '2026-03-08T06:59:59Z', '2026-03-08', 'America/New_York'],
  ['iso', '2026-03-08T04:59:59Z', '2026-03-07', 'America/New_York'],
  ['iso', '2026-11-02T04:59:59Z', '2026-11-01', 'America/New_York'],
  ['iso', '2026-05-01T25:00:00Z', undefined],
  ['iso', '01/05/2026', undefined],
  ['iso', 1777593600, undefined],
  ['iso', true, undefined],
  ['as_written', '2026-05-01T00:00:00Z', '2026-05-01', 'America/New_York'],
  // Midnight UTC is a date that was written as a moment.
  ['iso', '2026-05-01T00:00:00Z', '2026-05-01', 'America/New_York'],
  ['iso', '2026-05-01T00:00Z', '2026-05-01', 'Pacific/Honolulu'],
  ['iso', '2026-05-01T00:00:00.000+00:00', '2026-05-01', 'America/New_York'],
  ['iso', '2026-05-01 00:00:00 UTC', '2026-05-01', 'America/New_York'],
  ['iso', '2026-05-01T00:00:00.001Z', '2026-04-30', 'America/New_York'],
  ['iso', '2026-05-01T00:00:01Z', '2026-04-30', 'America/New_York'],
  ['iso', '2026-04-30T20:00:00-04:00', '2026-04-30', 'America/New_York'],
  ['iso', '2026-05-01T00:00:00+02:00', '2026-04-30', 'America/New_York'],
  ['epoch_s', 1777593600, '2026-05-01', 'America/New_York'],
  ['epoch_s', '1777593601', '2026-04-30', 'America/New_York'],
  ['epoch_ms', 1777593600000, '2026-05-01', 'America/New_York'],
  ['epoch_ms', 1777593600001, '2026-04-30', 'America/New_York'],
  ['dotnet', '/Date(1777593600000)/', '2026-05-01', 'America/New_York'],
  ['YYYY-MM-DD[T]HH:mm:ssZ', '2026-05-01T00:00:00Z', '2026-05-01', 'America/New_York'],
  ['YYYY-MM-DD[T]HH:mm:ss.SSSZ', '2026-05-01T00:00:00.250Z', '2026-04-30', 'America/New_York'],
  ['YYYY-MM-DD[T]HH:mm:ssZ', '2026-04-30T20:00:00-04:00', '2026-04-30', 'America/New_York'],
  ['epoch_s', 1777593600, '2026-05-01', 'UTC'],
  ['epoch_s', '1777593599', '2026-04-30', 'UTC'],
  ['epoch_ms', 1777593600000, '2026-05-01', 'UTC'],
  ['epoch_s', 1777593600000, undefined],
  ['epoch_s', 'soon', undefined],
  ['DD.MM.YYYY', '01.05.2026', '2026-05-01'],
  ['DD.MM.YYYY', '01x05x2026', undefined],
  ['DD*MM+YYYY', '01*05+2026', '2026-05-01'],
  ['DD*MM+YYYY', '01052026', undefined],
  ['dotnet', '/Date(1777593600000+0100)/', '2026-05-01', 'UTC'],
  ['DD/MM/YYYY', '01/05/2026', '2026-05-01'],
  ['DD/MM/YYYY', '31/02/2026', undefined],
  ['DD/MM/YYYY', '2026-05-01', undefined],
  ['MM/DD/YYYY', '05/01/2026', '2026-05-01'],
  ['D.M.YYYY', '1.5.2026', '2026-05-01'],
  ['DD.MM.YY', '01.05.26', '2026-05-01'],
  ['DD.MM.YY', '01.05.85', '1985-05-01'],
  ['D MMM YYYY', '1 May 2026', '2026-05-01'],
  ['D MMM YYYY', '1 Sept. 2026', '2026-09-01'],
  ['DD-MMM-YY', '01-MAY-26', '2026-05-01'],
  ['MMMM D, YYYY', 'May 1, 2026', '2026-05-01'],
  ['D [de] MMMM [de] YYYY', '1 de março de 2026', '2026-03-01'],
  ['D MMM YYYY', '1 fév. 2026', '2026-02-01'],
  ['D MMM YYYY', '1 JUIL 2026', '2026-07-01'],
  ['D MMM YYYY', '1 jui 2026', undefined],
  ['D. MMMM YYYY', '1. März 2026', '2026-03-01'],
  ['D. MMMM YYYY', '1. Ma\u0308rz 2026', '2026-03-01'],
  ['D. MMMM YYYY', '1. marraskuuta 2026', '2026-11-01'],
  ['D MMMM YYYY', '1 października 2026', '2026-10-01'],
  ['D MMM YYYY', '1 ma 2026', undefined],
  ['D MMM YYYY', '1 Foo 2026', undefined],
  ['iso', '2026-05-01Z', '2026-05-01', 'America/New_York'],
  ['iso', '2026-05-01+02:00', '2026-05-01', 'America/New_York'],
  ['YYYYMMDD', 20260501, '2026-05-01'],
  ['DD/MM/YYYY HH:mm', '01/05/2026 23:59', '2026-05-01'],
  ['DD/MM/YYYY hh:mm A Z', '01/05/2026 11:30 PM +0000', '2026-05-02', 'Europe/Lisbon'],
  ['YYYY-MM-DD[T]HH:mm:ssZ', '2026-05-01T23:30:00Z', '2026-05-02', 'Europe/Lisbon'],
  ['YYYY.MM.DD', '2026-05-01', undefined],
];

for (const [format, value, date, timezone] of cases) {
  test(`date ${format}: ${JSON.stringify(value)}${timezone === undefined ? '' : ` in ${timezone}`}`, () => {
    assert.equal(read([format], value, timezone), date);
  });
}

test('the first three letters of every month are known in the languages that we read, and never taken for another month', () => {
  const short = {
    pt: 'jan fev mar abr mai jun jul ago set out nov dez',
    es: 'ene feb mar abr may jun jul ago sep oct nov dic',
    fr: 'jan fév mar avr mai juin juil aoû sep oct nov déc',
    de: 'jan feb mär apr mai jun jul aug sep okt nov dez',
    it: 'gen feb mar apr mag giu lug ago set ott nov dic',
    nl: 'jan feb mrt apr mei jun jul aug sep okt nov dec',
  };
  for (const [language, names] of Object.entries(short)) {
    const read = names.split(' ').map(monthOf);
    assert.deepEqual(read, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], language);
  }
});

test('a date of birth is never moved to another day, in any format, and never lies in the future', () => {
  const born = (format: string, value: Json, timezone: string) => {
    const compiled = compileDates([format], timezone, 'birth');
    assert.ok(compiled.kind === 'ok');
    return compiled.read(value);
  };
  const utcMidnight = Date.UTC(1980, 1, 3);
  for (const [format, value, zone] of [
    ['iso', '1980-02-03T00:00:00+05:00', 'Europe/Lisbon'],
    ['YYYY-MM-DD[T]HH:mm:ssZ', '1980-02-03T00:00:00Z', 'America/New_York'],
    ['epoch_ms', utcMidnight, 'America/New_York'],
    ['epoch_s', (utcMidnight - 3_600_000) / 1000, 'Europe/Berlin'],
    ['dotnet', `/Date(${utcMidnight - 3_600_000}+0100)/`, 'Europe/Berlin'],
    ['DD.MM.YYYY', '03.02.1980', 'Asia/Tokyo'],
  ] as const) {
    assert.equal(born(format, value, zone), '1980-02-03', `${format} in ${zone}`);
  }
  assert.deepEqual(
    ['01.05.55', '01.05.29', '01.05.30'].map((text) => born('DD.MM.YY', text, 'UTC')),
    ['1955-05-01', '2029-05-01', '1930-05-01'],
  );
});

test('the first format that fits wins', () => {
  assert.equal(read(['DD/MM/YYYY', 'MM/DD/YYYY'], '13/05/2026'), '2026-05-13');
  assert.equal(read(['DD/MM/YYYY', 'MM/DD/YYYY'], '05/13/2026'), '2026-05-13');
  assert.equal(read(['iso', 'epoch_s'], 0, 'UTC'), '1970-01-01');
});

test('an instant has the same local date as in Temporal, in every zone', () => {
  const zones = fc.constantFrom(
    'Europe/Lisbon',
    'America/St_Johns',
    'Asia/Kathmandu',
    'Australia/Lord_Howe',
    'Pacific/Apia',
    'UTC',
  );
  const instant = fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2040, 0) });
  fc.assert(
    fc.property(instant, zones, (ms, zone) => {
      const expected = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDate().toString();
      assert.equal(localDateAt(zone, ms), expected);
    }),
  );
});

test('days are added by the calendar', () => {
  assert.equal(addDays('2026-02-28', 1), '2026-03-01');
  assert.equal(addDays('2026-01-01', -1), '2025-12-31');
  assert.equal(addDays('2026-02-30', 1), undefined);
  assert.equal(addDays('9999-12-31', 1), undefined);
  const date = fc.date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(date, fc.integer({ min: -2000, max: 2000 }), (day, days) => {
      const from = day.toISOString().slice(0, 10);
      assert.equal(addDays(from, days), Temporal.PlainDate.from(from).add({ days }).toString());
    }),
  );
});

test('readers never throw and return only real dates', () => {
  const formats = ['iso', 'as_written', 'epoch_s', 'epoch_ms', 'dotnet', 'DD/MM/YYYY', 'D MMM YY hh:mm A Z'];
  const near = fc.stringMatching(/^[0-9T:Z+\-/. ]{0,24}$/);
  fc.assert(
    fc.property(
      fc.oneof(near, fc.string(), fc.double(), fc.integer()),
      fc.constantFrom(...formats),
      (value, format) => {
        const date = read([format], value);
        assert.ok(date === undefined || isLocalDate(date), `${format} ${value}: ${date}`);
      },
    ),
    { numRuns: 500 },
  );
});

test('a date format has each part once, and a long text that is no date is refused', () => {
  for (const format of ['MMMMMMMM DD YYYY', 'MMMM'.repeat(10), 'DD DD MM YYYY', 'YYYY-MM-MM-DD'])
    assert.equal(compileDates([format], 'UTC').kind, 'bad', format);
  const compiled = compileDates(['MMMMMMM D YYYY', '[a]MMMMMMM[b] D YYYY'], 'UTC');
  assert.ok(compiled.kind === 'ok');
  for (const length of [60, 100, 1_000_000]) assert.equal(compiled.read(`${'a'.repeat(length)}!`), undefined);
  // A pattern that tries every way to divide the letters would not end before the suite does.
});
