import { useMemo } from 'react';
import type { Overview as Data, Mark, Point } from '../../api/types.ts';
import { Ago, Card, Facts } from '../../parts/basics.tsx';
import { Chart, Key, type Line } from '../../parts/charts.tsx';
import { number, plural, span } from '../../parts/format.ts';
import { stepsOf } from '../../parts/steps.ts';
import { useMay } from '../../shell/session.ts';
import { useMarks, WhatChanged } from '../WhatChanged.tsx';
import { Days } from './Days.tsx';
import { Latency } from './Latency.tsx';
import { type Period, periodMs } from './periods.ts';

/** The curves with marks, the days, and the marks in words. */
export function Course({ data, period }: { data: Data; period: Period }) {
  const marks = useMarks(period, data.nodes);
  const from = Date.parse(data.now) - periodMs[period];
  const within = marks.filter(({ at }) => Date.parse(at) >= from);
  const operator = useMay('operator');
  return (
    <>
      <Charts data={data} periodMs={periodMs[period]} marks={within} />
      <div className="wide-narrow">
        <Days />
        <Latency data={data} />
      </div>
      <div className="wide-narrow">
        {operator ? <WhatChanged marks={within} /> : <div />}
        <Nodes data={data} />
      </div>
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
    const line = (label: string, colour: string, of: (point: Point | undefined) => number | null): Line => ({
      label,
      colour,
      values: steps.map(({ at, point }) => (point === undefined && at < since ? null : of(point))),
      fill: false,
    });
    const area = (...given: Parameters<typeof line>): Line => ({ ...line(...given), fill: true });
    const per = data.step_ms === 10_000 ? 'per ten seconds' : 'per hour';
    const charts: (Omit<Parameters<typeof Chart>[0], 'times' | 'marks'> & { title: string })[] = [
      {
        title: 'Throughput',
        label: `Throughput, ${per}`,
        unit: count,
        lines: [
          area('delivered', '--brass-fill', (point) => point?.delivered ?? 0),
          line('events', '--info', (point) => point?.events ?? 0),
          line('changes', '--good', (point) => point?.changes ?? 0),
        ],
      },
      {
        title: 'Latency',
        label: 'From intake to delivery',
        unit: span,
        limit: { value: data.late_after_ms, label: `late from ${span(data.late_after_ms)}` },
        lines: [
          line('p95', '--warn', (point) => point?.latency_p95_ms ?? null),
          line('p50', '--good', (point) => point?.latency_p50_ms ?? null),
        ],
      },
      {
        title: 'Backlog',
        label: 'Waiting for delivery',
        unit: count,
        lines: [
          area('waiting', '--info', (point) => point?.waiting ?? 0),
          line('dead', '--bad', (point) => point?.dead ?? 0),
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
            {role}, started <Ago at={started_at} />
          </span>,
        ])}
      />
    </Card>
  );
}

const count = (value: number): string => number(Math.round(value * 10) / 10);
