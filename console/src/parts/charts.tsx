import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';

export interface Line {
  readonly label: string;
  /** A custom property of the theme, such as --brass-fill. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
  readonly fill?: boolean;
}

/** A chart over time, with its latest values in words for screen readers. */
export function Chart(props: {
  readonly label: string;
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly unit: (value: number) => string;
  /** Moments to mark by a vertical line, in seconds. */
  readonly marks?: readonly number[];
}) {
  const place = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('dark');
  const { times, lines, unit, marks = none } = props;
  useEffect(() => {
    const element = place.current;
    if (!element || scheme === undefined) return;
    const css = getComputedStyle(document.documentElement);
    const colour = (name: string) => css.getPropertyValue(name).trim();
    const axis = {
      stroke: colour('--muted'),
      grid: { stroke: colour('--line'), width: 1 },
      ticks: { show: false },
      font: `11px ${css.getPropertyValue('--sans')}`,
    };
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: element.clientHeight,
        // Space on the right for half of the last label.
        padding: [8, 18, 0, 0],
        cursor: { drag: { x: false, y: false } },
        legend: { show: false },
        hooks: { draw: [(drawn) => drawMarks(drawn, marks, colour('--muted'))] },
        scales: { y: { range: (_, __, max) => [0, Math.max(max, 1) * 1.12] } },
        axes: [
          {
            ...axis,
            grid: { show: false },
            space: 64,
            size: 26,
            values: (_, splits) => splits.map((at) => timeOf(at, times)),
          },
          {
            ...axis,
            size: 52,
            space: 34,
            values: (_, splits) => splits.map((value) => (value === null ? '' : unit(value))),
          },
        ],
        series: [
          {},
          ...lines.map((line) => ({
            label: line.label,
            stroke: colour(line.colour),
            width: 1.75,
            // A single value draws no line, so show it as a point.
            points: { show: line.values.filter((value) => value !== null).length === 1 },
            spanGaps: true,
            ...(line.fill && { fill: `color-mix(in srgb, ${colour(line.colour)} 16%, transparent)` }),
          })),
        ],
      },
      [times as number[], ...lines.map(({ values }) => values as (number | null)[])],
      element,
    );
    const sized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: element.clientHeight }));
    sized.observe(element);
    return () => {
      sized.disconnect();
      plot.destroy();
    };
  }, [times, lines, unit, marks, scheme]);
  const words = lines.map(({ label, values }) => {
    const last = values.findLast((value) => value !== null);
    return `${label}: ${last === undefined || last === null ? 'no data' : unit(last)} now`;
  });
  return <div className="chart" ref={place} role="img" aria-label={`${props.label}. ${words.join('; ')}.`} />;
}

const none: readonly number[] = [];

function drawMarks(plot: uPlot, marks: readonly number[], colour: string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([4, 4]);
  for (const at of marks) {
    const x = Math.round(plot.valToPos(at, 'x', true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

export function Key({ lines }: { lines: readonly Pick<Line, 'label' | 'colour'>[] }) {
  return (
    <div className="key" aria-hidden="true">
      {lines.map(({ label, colour }) => (
        <span key={label}>
          <i style={{ background: `var(${colour})` }} />
          {label}
        </span>
      ))}
    </div>
  );
}

export function Spark({ values, label }: { values: readonly number[]; label: string }) {
  const most = Math.max(1, ...values);
  const step = values.length > 1 ? 128 / (values.length - 1) : 128;
  const points = values.map((value, index) => `${(index * step).toFixed(1)},${(28 - (value / most) * 26).toFixed(1)}`);
  if (points.length < 2) return <span className="muted small">not counted yet</span>;
  return (
    <svg className="spark" viewBox="0 0 128 30" preserveAspectRatio="none" role="img" aria-label={label}>
      <path className="area" d={`M0,29 L${points.join(' L')} L128,29 Z`} />
      <path className="line" d={`M${points.join(' L')}`} />
    </svg>
  );
}

const hour = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hour12: false });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

/** Dates on a chart of more than two days, else times. */
function timeOf(seconds: number, times: readonly number[]): string {
  const wide = (times.at(-1) ?? 0) - (times[0] ?? 0) > 2 * 86_400;
  return (wide ? day : hour).format(seconds * 1_000);
}
