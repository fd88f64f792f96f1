import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useMemo, useRef } from 'react';
import uPlot from 'uplot';
import { topOf, withGaps } from './chart-scale.ts';

export interface Line {
  readonly label: string;
  /** A custom property of the theme, such as --accent-fill. */
  readonly colour: string;
  /** Null where nothing is known. */
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
  /** A limit, drawn where the scale reaches it. */
  readonly limit?: { readonly value: number; readonly label: string };
}) {
  const place = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('dark');
  const { times, unit, marks = none, limit } = props;
  const lines = useMemo(() => notEmpty(props.lines), [props.lines]);
  useEffect(() => {
    const element = place.current;
    if (!element || scheme === undefined) return;
    const css = getComputedStyle(document.documentElement);
    const colour = (name: string) => css.getPropertyValue(name).trim();
    const top = topOf(lines.flatMap(({ values }) => values));
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
        hooks: {
          draw: [
            (drawn) => {
              drawMarks(drawn, marks, colour('--muted'));
              drawCut(drawn, top, unit, colour('--ink'));
              if (limit !== undefined) drawLimit(drawn, limit, colour('--bad'));
            },
          ],
        },
        scales: { y: { range: () => [0, Math.max(top, 1) * 1.12] } },
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
            points: { show: false },
            ...(line.fill && { fill: `color-mix(in srgb, ${colour(line.colour)} 16%, transparent)` }),
          })),
        ],
      },
      [times as number[], ...lines.map(({ values }) => withGaps(values, longestPause))],
      element,
    );
    const sized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: element.clientHeight }));
    sized.observe(element);
    return () => {
      sized.disconnect();
      plot.destroy();
    };
  }, [times, lines, unit, marks, limit, scheme]);
  const words = lines.map(({ label, values }) => {
    const last = values.findLast((value) => value !== null);
    return `${label}: ${last === undefined || last === null ? 'no data' : unit(last)} now`;
  });
  // A single value draws no line.
  if (lines.every(({ values }) => values.filter((value) => value !== null).length < 2))
    return <p className="chart muted">No curve yet. {words.join('; ')}.</p>;
  return <div className="chart" ref={place} role="img" aria-label={`${props.label}. ${words.join('; ')}.`} />;
}

const none: readonly number[] = [];
/** In steps: a minute of ten-second steps without a delivery is no gap. */
const longestPause = 6;

/** Without the lines that are always zero, unless all are. */
const notEmpty = (lines: readonly Line[]): readonly Line[] => {
  const used = lines.filter(({ values }) => values.some((value) => value !== null && value !== 0));
  return used.length > 0 ? used : lines.slice(0, 1);
};

/** The highest value above the chart's end, at its place. */
function drawCut(plot: uPlot, top: number, unit: (value: number) => string, colour: string): void {
  const values = plot.data.slice(1).flat();
  const most = Math.max(0, ...values.filter((value) => typeof value === 'number'));
  if (most <= top) return;
  const series = plot.data.slice(1).find((one) => one.includes(most));
  const x = plot.valToPos(plot.data[0][series?.indexOf(most) ?? 0] ?? 0, 'x', true);
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.fillStyle = colour;
  ctx.font = `${11 * devicePixelRatio}px ${getComputedStyle(document.documentElement).getPropertyValue('--sans')}`;
  ctx.textBaseline = 'top';
  const isRight = x > bbox.left + bbox.width / 2;
  ctx.textAlign = isRight ? 'right' : 'left';
  ctx.fillText(`▲ ${unit(most)}`, x + (isRight ? -4 : 4) * devicePixelRatio, bbox.top);
  ctx.restore();
}

function drawLimit(plot: uPlot, limit: { readonly value: number; readonly label: string }, colour: string): void {
  const { ctx, bbox } = plot;
  const y = plot.valToPos(limit.value, 'y', true);
  if (y < bbox.top) return;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.fillStyle = colour;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([6, 4]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.font = `${11 * devicePixelRatio}px ${getComputedStyle(document.documentElement).getPropertyValue('--sans')}`;
  ctx.fillText(limit.label, bbox.left + 4 * devicePixelRatio, y - 4 * devicePixelRatio);
  ctx.restore();
}

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

export function Key({ lines }: { lines: readonly Line[] }) {
  return (
    <div className="key" aria-hidden="true">
      {notEmpty(lines).map(({ label, colour }) => (
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

const hour = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

/** Dates on a chart of more than two days, else times. */
function timeOf(seconds: number, times: readonly number[]): string {
  const wide = (times.at(-1) ?? 0) - (times[0] ?? 0) > 2 * 86_400;
  return (wide ? day : hour).format(seconds * 1_000);
}
