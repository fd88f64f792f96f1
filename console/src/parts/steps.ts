import type { Overview, Point } from '../api/types.ts';

interface Step {
  /** Its beginning, in milliseconds. */
  readonly at: number;
  /** Absent if nothing happened. */
  readonly point: Point | undefined;
}

type Series = Pick<Overview, 'now' | 'step_ms' | 'counted_until' | 'series'>;
type Counted = Omit<Series, 'step_ms'> & { readonly nodes: readonly { readonly started_at: string }[] };

/**
 * Every step of a period that is counted at least in part, oldest first. The answer leaves out steps without activity; a step that is not
 * counted yet is not shown as one.
 */
export function stepsOf({ now, step_ms, counted_until, series }: Series, periodMs: number): Step[] {
  const known = new Map(series.map((point) => [Math.floor(Date.parse(point.at) / step_ms), point]));
  const end = Math.ceil(Date.parse(counted_until ?? now) / step_ms);
  const first = Math.floor((Date.parse(now) - periodMs) / step_ms) + 1;
  return Array.from({ length: Math.max(0, end - first) }, (_, index) => ({
    at: (first + index) * step_ms,
    point: known.get(first + index),
  }));
}

const sparkStepMs = 300_000;
const sparkSteps = 36;

/** Three hours in steps of five minutes, oldest first. The answer leaves out steps in which nothing happened. */
export function lastThreeHours<Kind extends string>(
  points: readonly ({ readonly at: string } & Readonly<Record<Kind, number>>)[],
  counts: readonly Kind[],
  nowMs: number = Date.now(),
): number[] {
  const first = Math.floor(nowMs / sparkStepMs) - sparkSteps + 1;
  const known = new Map(points.map((point) => [Math.floor(Date.parse(point.at) / sparkStepMs), point]));
  return Array.from({ length: sparkSteps }, (_, index) => {
    const point = known.get(first + index);
    return point === undefined ? 0 : counts.reduce((sum, kind) => sum + point[kind], 0);
  });
}

/** A count of the period as a rate: over the time that is counted, which soon after the first start is less than the period. */
export function perMinute(count: number, { now, counted_until, series, nodes }: Counted, periodMs: number): number {
  const until = Date.parse(counted_until ?? now);
  const known = [...series.slice(0, 1).map(({ at }) => at), ...nodes.map(({ started_at }) => started_at)];
  const first = Math.min(...known.map((at) => Date.parse(at)));
  return (count * 60_000) / Math.max(60_000, Math.min(periodMs, until - first));
}
