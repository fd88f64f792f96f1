import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastThreeHours, perMinute, stepsOf } from '../../console/src/parts/steps.ts';

const point = (at: string, events: number) => ({
  at,
  events,
  pulls: 0,
  changes: 0,
  delivered: 0,
  retried: 0,
  dead: 0,
  latency_p50_ms: null,
  latency_p95_ms: null,
  latency: [],
  waiting: 0,
});
const minutes = 60_000;

test('one rate for every place: the count of the period over the time that was counted', () => {
  const series = [point('2026-03-01T11:58:00Z', 50)];
  const nodes = [{ started_at: '2026-03-01T11:00:00Z' }];
  const data = { now: '2026-03-01T12:00:04Z', counted_until: '2026-03-01T12:00:00Z', series, nodes };
  assert.equal(perMinute(60, data, 15 * minutes), 4, 'the service ran all the time');
  assert.equal(perMinute(60, { ...data, nodes: [] }, 15 * minutes), 30, 'nothing was counted before');
});

test('the current hour is shown although it is not complete', () => {
  const series = [point('2026-03-01T10:00:00Z', 60), point('2026-03-01T11:00:00Z', 9)];
  const data = { now: '2026-03-01T11:20:04Z', step_ms: 3_600_000, counted_until: '2026-03-01T11:20:00Z', series };
  assert.equal(stepsOf(data, 24 * 60 * minutes).at(-1)?.point?.events, 9);
});

test('a step that is not counted yet is not shown as empty', () => {
  const series = [point('2026-03-01T10:00:00Z', 60)];
  const data = { now: '2026-03-01T12:03:00Z', step_ms: 3_600_000, counted_until: '2026-03-01T11:00:00Z', series };
  const steps = stepsOf(data, 24 * 60 * minutes);
  assert.equal(steps.at(-1)?.point?.events, 60);
  assert.equal(new Date(steps.at(-1)?.at ?? 0).toISOString(), '2026-03-01T10:00:00.000Z');
});

test('before anything is counted there is nothing to show', () => {
  const data = { now: '2026-03-01T12:03:00Z', step_ms: 10_000, counted_until: '2026-03-01T11:00:00Z', series: [] };
  assert.deepEqual(stepsOf(data, 15 * minutes), []);
});

test('a small picture has the hours in which nothing happened', () => {
  const points = [
    { at: '2026-03-01T09:10:00Z', changes: 5, events: 1 },
    { at: '2026-03-01T12:00:00Z', changes: 0, events: 40 },
  ];
  const values = lastThreeHours(points, ['changes', 'events'], Date.parse('2026-03-01T12:04:00Z'));
  assert.equal(values.length, 36);
  assert.deepEqual([values.indexOf(6), values.indexOf(40)], [1, 35]);
  assert.equal(
    values.reduce((sum, one) => sum + one, 0),
    46,
  );
});
