import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parsePlace } from '../../src/core/documents/answer-path.ts';
import { pathFromText, pathText } from '../../src/core/documents/path.ts';
import {
  dayOffset,
  durationMs,
  formatDuration,
  parseDayOffset,
  parseDuration,
  parseSize,
  sizeBytes,
} from '../../src/core/documents/units.ts';

test('durations', () => {
  assert.deepEqual(
    ['500ms', '30s', '15m', '2h', '7d'].map(parseDuration),
    [500, 30_000, 900_000, 7_200_000, 604_800_000],
  );
  for (const text of ['', '15', 'm', '1.5h', '-1m', '1h30m', ' 1m', '15M', '9999999999s'])
    assert.equal(parseDuration(text), undefined, text);
  assert.throws(() => durationMs('soon'), TypeError);
});

test('a duration written down is the duration read', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999_999 }), (ms) => assert.equal(parseDuration(formatDuration(ms)), ms)),
  );
  assert.deepEqual([0, 1_500, 60_000, 5_400_000, 86_400_000].map(formatDuration), ['0ms', '1500ms', '1m', '90m', '1d']);
});

test('sizes', () => {
  assert.deepEqual(['1B', '2KiB', '1MiB', '1GiB'].map(parseSize), [1, 2048, 1_048_576, 1_073_741_824]);
  for (const text of ['1', '1MB', '1.5MiB', '-1B', 'MiB']) assert.equal(parseSize(text), undefined, text);
  assert.throws(() => sizeBytes('1MB'), TypeError);
});

test('day offsets', () => {
  assert.deepEqual(['+1d', '1d', '0d', '-0d', '-6d'].map(parseDayOffset), [1, 1, 0, 0, -6]);
  assert(Object.is(parseDayOffset('-0d'), 0));
  for (const text of ['1', '+1', 'd', '1.5d', '+-1d', '12h']) assert.equal(parseDayOffset(text), undefined, text);
  assert.throws(() => dayOffset('tomorrow'), TypeError);
});

test('places in a request', () => {
  assert.deepEqual(parsePlace('query.offset'), { part: 'query', keys: ['offset'] });
  assert.deepEqual(parsePlace('query.page.offset'), { part: 'query', keys: ['page.offset'] });
  assert.deepEqual(parsePlace('body.limit.count'), { part: 'body', keys: ['limit', 'count'] });
  assert.deepEqual(parsePlace('header.X-Page'), { part: 'header', keys: ['X-Page'] });
  for (const text of ['offset', 'query', 'query.', 'body.a..b', 'body.', 'path.x', ''])
    assert.equal(parsePlace(text), undefined, text);
});

test('a path written down is the path read', () => {
  const step = fc.oneof(fc.nat(99), fc.string({ minLength: 1 }), fc.constantFrom('a', 'a.b', 'a]', '"', 'X-Key', '0'));
  fc.assert(fc.property(fc.array(step), (path) => assert.deepEqual(pathFromText(pathText(path)), path)));
  assert.equal(pathText(['pull', 'query', 'a.b', 0, 'c-d']), 'pull.query["a.b"][0].c-d');
});
