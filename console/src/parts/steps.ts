import type { Overview, Point } from '../api/types.ts';

interface Step {
  /** Its beginning, in milliseconds. */
  readonly at: number;
  /** Absent if nothing happened. */
  readonly point: Point | undefined;
}

type Series = Pick<Overview, 'now' | 'step_ms' | 'counted_until' | 'series'>;

/** Every counted step of a period, oldest first. The answer leaves out steps without activity; a step that is not counted yet is not shown as one. */
export function stepsOf({ now, step_ms, counted_until, series }: Series, periodMs: number): Step[] {
  const known = new Map(series.map((point) => [Math.floor(Date.parse(point.at) / step_ms), point]));
  const end = Math.floor(Date.parse(counted_until ?? now) / step_ms);
  const first = Math.floor((Date.parse(now) - periodMs) / step_ms) + 1;
  return Array.from({ length: Math.max(0, end - first) }, (_, index) => ({
    at: (first + index) * step_ms,
    point: known.get(first + index),
  }));
}

const recentSteps = 6;

/** The rate of the last six counted steps: a minute, or six hours. */
export function perMinute(steps: readonly Step[], stepMs: number, key: 'events' | 'changes'): number {
  const sum = steps.slice(-recentSteps).reduce((total, { point }) => total + (point?.[key] ?? 0), 0);
  return (sum * 60_000) / (recentSteps * stepMs);
}
