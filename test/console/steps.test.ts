import assert from 'node:assert/strict';
import { test } from 'node:test';
import { perMinute, stepsOf } from '../../console/src/parts/steps.ts';

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

test('a feed that stopped minutes ago has no rate', () => {
  const series = [point('2026-03-01T11:56:10Z', 7), point('2026-03-01T11:57:30Z', 5)];
  const data = { now: '2026-03-01T12:00:04Z', step_ms: 10_000, counted_until: '2026-03-01T11:59:50Z', series };
  const steps = stepsOf(data, 15 * minutes);
  assert.equal(perMinute(steps, 10_000, 'events'), 0);
  assert.equal(steps.filter(({ point }) => point !== undefined).length, 2);
});

test('the rate is that of the last minute, also if some steps had no events', () => {
  const series = [
    point('2026-03-01T11:58:00Z', 50),
    point('2026-03-01T11:59:10Z', 4),
    point('2026-03-01T11:59:40Z', 2),
  ];
  const data = { now: '2026-03-01T12:00:04Z', step_ms: 10_000, counted_until: '2026-03-01T12:00:00Z', series };
  assert.equal(perMinute(stepsOf(data, 15 * minutes), 10_000, 'events'), 6);
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
