import { type ReactNode, useMemo } from 'react';
import type { Overview as Data, Mark, Point } from '../../api/types.ts';
import { Card, Facts, RelativeTime } from '../../parts/basics.tsx';
import { Chart, Key, type Line } from '../../parts/charts.tsx';
import { number, plural, span } from '../../parts/format.ts';
import { stepsOf } from '../../parts/steps.ts';
import { useMay } from '../../shell/session.ts';
import { useMarks, WhatChanged } from '../WhatChanged.tsx';
import { Days } from './Days.tsx';
import { Latency } from './Latency.tsx';
import { type Period, periodMs } from './periods.ts';

/** The curves with marks, the days, and the marks in words. */
export function Course({ data, period, news }: { data: Data; period: Period; news: ReactNode }) {
  const marks = useMarks(period, data.nodes);
  const from = Date.parse(data.now) - periodMs[period];
  const within = marks.filter(({ at }) => Date.parse(at) >= from);
  const operator = useMay('operator');
  return (
    <>
      <Charts data={data} periodMs={periodMs[period]} marks={within} />
      <Days />
      <div className="thirds">
        <Latency data={data} />
        {news}
        <Nodes data={data} />
      </div>
      {operator && <WhatChanged marks={within} />}
    </>
  );
}

function Charts(props: { data: Data; periodMs: number; marks: readonly Mark[] }) {
  const { data } = props;
  const markTimes = JSON.stringify(props.marks.map(({ at }) => Date.parse(at) / 1_000));
  const marked = useMemo(() => JSON.parse(markTimes) as number[], [markTimes]);
  const { times, charts } = useMemo(() => {
    const steps = stepsOf(data, props.periodMs);
    // Before the first node started, nobody counted.
    const since = Math.min(...data.nodes.map(({ started_at }) => Date.parse(started_at)));
    const times = steps.map(({ at }) => at / 1_000);
    // The hour that is not over yet, as if it went on like this.
    const until = Date.parse(data.counted_until ?? data.now);
    const isHours = data.step_ms > 60_000;
    const scale = (at: number) => (isHours ? data.step_ms / Math.max(60_000, Math.min(data.step_ms, until - at)) : 1);
    const line = (
      label: string,
      colour: string,
      of: (point: Point | undefined, at: number) => number | null,
    ): Line => ({
      label,
      colour,
      values: steps.map(({ at, point }) => (point === undefined && at < since ? null : of(point, at))),
      fill: false,
    });
    const rate = (label: string, colour: string, key: 'events' | 'changes' | 'delivered'): Line =>
      line(label, colour, (point, at) => (point?.[key] ?? 0) * scale(at));
    const per = isHours ? 'per hour' : 'per ten seconds';
    const charts: (Omit<Parameters<typeof Chart>[0], 'times' | 'marks'> & { title: string })[] = [
      {
        title: `Throughput, ${per}`,
        label: `Throughput, ${per}`,
        unit: count,
        lines: [
          { ...rate('delivered', '--accent-fill', 'delivered'), fill: true },
          rate('events', '--info', 'events'),
          rate('changes', '--good', 'changes'),
        ],
      },
      {
        title: 'Time from intake to delivery',
        label: 'From intake to delivery',
        unit: span,
        limit: { value: data.late_after_ms, label: `late from ${span(data.late_after_ms)}` },
        lines: [
          line('p95', '--warn', (point) => point?.latency_p95_ms ?? null),
          line('p50', '--good', (point) => point?.latency_p50_ms ?? null),
        ],
      },
      {
        title: 'Changes waiting for delivery',
        label: 'Waiting for delivery',
        unit: count,
        lines: [
          { ...line('waiting', '--info', (point) => point?.waiting ?? 0), fill: true },
          line('failed for good', '--bad', (point) => point?.dead ?? 0),
        ],
      },
    ];
    return { times, charts };
  }, [data, props.periodMs]);
  return (
    <div className="thirds">
      {charts.map(({ title, ...chart }) => (
        <Card key={title} title={title} aside={<Key lines={chart.lines} />}>
          <Chart {...chart} times={times} marks={marked} />
        </Card>
      ))}
    </div>
  );
}

function Nodes({ data }: { data: Data }) {
  return (
    <Card title="Nodes" aside={`${plural(data.totals.running, 'run')} in progress`}>
      <Facts
        facts={data.nodes.map(({ node, role, started_at }) => [
          <span key="node" className="mono">
            {node}
          </span>,
          <span key="role">
            {role}, started <RelativeTime at={started_at} />
          </span>,
        ])}
      />
    </Card>
  );
}

const count = (value: number): string => number(Math.round(value * 10) / 10);
