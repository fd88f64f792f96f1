import { SegmentedControl } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useEvery, useNews } from '../api/live.ts';
import { useApi } from '../api/query.tsx';
import type { Overview as Data, Mark, Point } from '../api/types.ts';
import { Ago, Card, Empty, Head, Loaded, Notice, State, type Tone } from '../parts/basics.tsx';
import { Chart, Key, type Line } from '../parts/charts.tsx';
import { causeOf, number, plural, span } from '../parts/format.ts';
import { Table } from '../parts/Table.tsx';
import { useMay } from '../shell/session.ts';
import { useMarks, WhatChanged } from './WhatChanged.tsx';

const periods = {
  '15m': { label: '15 min', ms: 900_000 },
  '1h': { label: '1 h', ms: 3_600_000 },
  '24h': { label: '24 h', ms: 86_400_000 },
  '7d': { label: '7 d', ms: 604_800_000 },
};
type Period = keyof typeof periods;

export function Overview() {
  const [period, setPeriod] = useState<Period>('15m');
  const query = useApi('overview.get', { period }, { everyMs: useEvery(5), keep: true });
  return (
    <>
      <Head title="Overview" lead={query.data && <Standing data={query.data} />}>
        <SegmentedControl
          size="xs"
          data={Object.entries(periods).map(([value, { label }]) => ({ value: value as Period, label }))}
          value={period}
          onChange={setPeriod}
          aria-label="Period"
        />
      </Head>
      <Loaded query={query}>
        {(data) => (
          <div className="stack">
            {data.problems.map((problem) => (
              <Notice key={problem} tone="bad" title={problem} />
            ))}
            {data.broken.map(({ document, message }) => (
              <Notice key={document} tone="bad" title={`${document} cannot be used`}>
                {message}
              </Notice>
            ))}
            <Figures data={data} />
            <Course data={data} period={period} />
          </div>
        )}
      </Loaded>
    </>
  );
}

/** The overall state in one sentence. It says "all well" only if every check of every brand says so. */
function Standing({ data }: { data: Data }) {
  const { states, totals, problems, broken } = data;
  return (
    <>
      {standing(states, totals.integrations, problems.length + broken.length)}{' '}
      <span className="nowrap">
        Checked <Ago at={data.checked_at} />.
      </span>
    </>
  );
}

function standing(states: Data['states'], brands: number, problems: number): string {
  if (brands === 0) return 'No brand is connected yet.';
  const unwell = states.attention + states.failing + states.auth_failed;
  const found = [
    unwell > 0 && `${number(unwell)} of ${plural(brands, 'brand')} ${unwell === 1 ? 'needs' : 'need'} attention`,
    problems > 0 && `${plural(problems, 'problem')} with the service`,
  ].filter((one) => one !== false);
  if (found.length > 0) return `${found.join(', ')}.`;
  if (states.healthy === brands) return `All well: ${plural(brands, 'brand')}.`;
  const rest = [
    states.healthy > 0 && `${number(states.healthy)} healthy`,
    states.new > 0 && `${number(states.new)} without data yet`,
    states.paused > 0 && `${number(states.paused)} paused`,
  ].filter((one) => one !== false);
  return `No problem found: ${rest.join(', ')}.`;
}

function Figures({ data }: { data: Data }) {
  const { totals, series, step_ms } = data;
  const recent = series.slice(-6);
  const minutes = Math.max(1, (recent.length * step_ms) / 60_000);
  const perMinute = (key: 'events' | 'changes' | 'delivered') =>
    recent.reduce((sum, one) => sum + one[key], 0) / minutes;
  const latency = series.findLast((one) => one.latency_p95_ms !== null)?.latency_p95_ms;
  const figures: { label: string; value: string; unit?: string; to?: string; tone?: Tone }[] = [
    { label: 'Events in', value: rate(perMinute('events')), unit: '/min', to: '/events' },
    { label: 'Changes', value: rate(perMinute('changes')), unit: '/min', to: '/reservations' },
    { label: 'Intake to delivery, p95', value: latency == null ? '–' : span(latency) },
    {
      label: 'Waiting',
      value: number(totals.waiting),
      to: '/destinations',
      ...(totals.waiting > 0 && totals.held > 0 && { tone: 'warn' as const }),
    },
    {
      label: 'Dead letters',
      value: number(totals.open_dead_letters),
      to: '/dead-letters',
      ...(totals.open_dead_letters > 0 && { tone: 'bad' as const }),
    },
    {
      label: 'Alerts',
      value: number(totals.open_alerts),
      to: '/alerts',
      ...(totals.open_alerts > 0 && { tone: 'warn' as const }),
    },
  ];
  return (
    <div className="figures">
      {figures.map(({ label, value, unit, to, tone }) => {
        const inner = (
          <>
            <span className="label">{label}</span>
            <span className="value">
              {value}
              {unit && <small>{unit}</small>}
            </span>
          </>
        );
        return to ? (
          <Link key={label} to={to} className="figure" data-tone={tone}>
            {inner}
          </Link>
        ) : (
          <div key={label} className="figure" data-tone={tone}>
            {inner}
          </div>
        );
      })}
    </div>
  );
}

const rate = (value: number): string => (value >= 100 ? number(Math.round(value)) : value.toFixed(value >= 10 ? 0 : 1));
const count = (value: number): string => number(Math.round(value * 10) / 10);

/** Fills in zeros: the answer leaves out steps in which nothing happened. */
function filled(data: Data, periodMs: number): { times: number[]; points: (Point | undefined)[] } {
  const step = data.step_ms;
  const known = new Map(data.series.map((point) => [Math.floor(Date.parse(point.at) / step), point]));
  const last = Math.floor(Date.parse(data.now) / step);
  const first = last - Math.floor(periodMs / step) + 1;
  const steps = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  return { times: steps.map((at) => (at * step) / 1_000), points: steps.map((at) => known.get(at)) };
}

/** The curves with marks, the health, and the marks in words. */
function Course({ data, period }: { data: Data; period: Period }) {
  const marks = useMarks(period, data.nodes);
  const from = Date.parse(data.now) - periods[period].ms;
  const within = marks.filter(({ at }) => Date.parse(at) >= from);
  const operator = useMay('operator');
  return (
    <>
      <Charts data={data} periodMs={periods[period].ms} marks={within} />
      <Health data={data} />
      {operator && <WhatChanged marks={within} />}
    </>
  );
}

function Charts({ data, periodMs, marks }: { data: Data; periodMs: number; marks: readonly Mark[] }) {
  const marked = JSON.stringify(marks.map(({ at }) => Date.parse(at) / 1_000));
  const charts = useMemo(() => {
    const { times, points } = filled(data, periodMs);
    const line = (
      label: string,
      colour: string,
      of: (point: Point | undefined) => number | null,
      fill = false,
    ): Line => ({
      label,
      colour,
      values: points.map(of),
      fill,
    });
    return {
      times,
      marks: JSON.parse(marked) as number[],
      flow: [
        line('delivered', '--brass-fill', (point) => point?.delivered ?? 0, true),
        line('events', '--info', (point) => point?.events ?? 0),
        line('changes', '--good', (point) => point?.changes ?? 0),
      ],
      latency: [
        line('p95', '--warn', (point) => point?.latency_p95_ms ?? null),
        line('p50', '--good', (point) => point?.latency_p50_ms ?? null),
      ],
      backlog: [
        line('waiting', '--info', (point) => point?.waiting ?? 0, true),
        line('dead', '--bad', (point) => point?.dead ?? 0),
      ],
    };
  }, [data, periodMs, marked]);
  const per = data.step_ms === 10_000 ? 'per ten seconds' : 'per hour';
  return (
    <div className="thirds">
      <Card title="Flow" aside={<Key lines={charts.flow} />}>
        <Chart label={`Flow, ${per}`} times={charts.times} lines={charts.flow} marks={charts.marks} unit={count} />
      </Card>
      <Card title="Latency" aside={<Key lines={charts.latency} />}>
        <Chart
          label="From intake to delivery"
          times={charts.times}
          lines={charts.latency}
          marks={charts.marks}
          unit={span}
        />
      </Card>
      <Card title="Backlog" aside={<Key lines={charts.backlog} />}>
        <Chart
          label="Waiting for delivery"
          times={charts.times}
          lines={charts.backlog}
          marks={charts.marks}
          unit={count}
        />
      </Card>
    </div>
  );
}

function Health({ data }: { data: Data }) {
  const worst = ['auth_failed', 'failing', 'attention', 'paused', 'new', 'healthy'];
  const health = data.health.toSorted((a, b) => worst.indexOf(a.state) - worst.indexOf(b.state));
  return (
    <div className="wide-narrow">
      <div className="stack">
        <Card title="Health of each brand" flush>
          <Table
            label="Health of each brand"
            rows={health}
            rowKey={({ integration }) => integration}
            empty={
              <Empty title="No brand is connected" action={<Link to="/onboard">Connect the first one</Link>}>
                A brand needs a connector, a base URL with credentials, and a destination.
              </Empty>
            }
            columns={[
              {
                head: 'Brand',
                cell: ({ integration }) => (
                  <Link to="/integrations/$name" params={{ name: integration }} className="name">
                    {integration}
                  </Link>
                ),
              },
              { head: 'State', cell: ({ state }) => <State of={state} /> },
              {
                head: 'Why',
                phone: 'line',
                cell: ({ reasons }) => <span className="muted">{reasons.join(' ') || 'Every check passed.'}</span>,
              },
            ]}
          />
        </Card>
        <Card title="Nodes" aside={`${plural(data.totals.running, 'run')} in progress`}>
          <dl className="facts">
            {data.nodes.map(({ node, role, started_at }) => (
              <div key={node} style={{ display: 'contents' }}>
                <dt className="mono">{node}</dt>
                <dd>
                  {role}, started <Ago at={started_at} />
                </dd>
              </div>
            ))}
          </dl>
        </Card>
      </div>
      <LatestChanges />
    </div>
  );
}

/** The latest changes, live. */
function LatestChanges() {
  const news = useNews();
  return (
    <Card title="Latest changes">
      {news.length === 0 ? (
        <p className="muted">Listening. Changes appear here as they come in.</p>
      ) : (
        <ol className="ticker">
          {news.slice(0, 7).map((one) => (
            <li key={`${one.integration} ${one.id} ${one.version}`}>
              <Link
                to="/reservations/$name/$type/$id"
                params={{ name: one.integration, type: `${one.type}s`, id: one.id }}
              >
                {one.type === 'guest' ? 'A guest' : one.id}
              </Link>{' '}
              {one.event} <span className="muted">{causeOf(one.cause)}</span>
              <span className="muted place">{one.integration}</span>
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}
