import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useEvery, useNews } from '../api/live.ts';
import { useApi } from '../api/query.tsx';
import type { Overview as Data, Mark, Point } from '../api/types.ts';
import { Ago, Card, Empty, Facts, Head, Loaded, Notice, State, type Tone } from '../parts/basics.tsx';
import { Choice } from '../parts/Choice.tsx';
import { Chart, Key, type Line } from '../parts/charts.tsx';
import { checksOf, standing } from '../parts/claims.ts';
import { causeOf, number, plural, span } from '../parts/format.ts';
import { BrandLink, RecordLink } from '../parts/links.tsx';
import { perMinute, stepsOf } from '../parts/steps.ts';
import { Table } from '../parts/Table.tsx';
import { useMay, useSeesAllBrands } from '../shell/session.ts';
import { useMarks, WhatChanged } from './WhatChanged.tsx';

const periodLabels = { '15m': '15 min', '1h': '1 h', '24h': '24 h', '7d': '7 d' };
type Period = keyof typeof periodLabels;
const periodMs: Readonly<Record<Period, number>> = {
  '15m': 900_000,
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 604_800_000,
};

export function Overview() {
  const [period, setPeriod] = useState<Period>('15m');
  const query = useApi('overview.get', { period }, { everyMs: useEvery(5), keep: true });
  return (
    <>
      <Head title="Overview" lead={query.data && <Standing data={query.data} />}>
        <Choice small label="Period" options={periodLabels} value={period} onChange={setPeriod} />
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
            <Figures data={data} periodMs={periodMs[period]} />
            <Course data={data} period={period} />
          </div>
        )}
      </Loaded>
    </>
  );
}

function Standing({ data }: { data: Data }) {
  return (
    <>
      {standing(data).text}{' '}
      <span className="nowrap">
        Checked <Ago at={data.checked_at} />.
      </span>
    </>
  );
}

function Figures({ data, periodMs }: { data: Data; periodMs: number }) {
  const { totals, series } = data;
  const steps = stepsOf(data, periodMs);
  const latency = series.findLast((one) => one.latency_p95_ms !== null)?.latency_p95_ms;
  const figures: { label: string; value: string; unit?: string; to?: string; tone?: Tone }[] = [
    { label: 'Events in', value: rate(perMinute(steps, data.step_ms, 'events')), unit: '/min', to: '/events' },
    { label: 'Changes', value: rate(perMinute(steps, data.step_ms, 'changes')), unit: '/min', to: '/reservations' },
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

/** The curves with marks, the health, and the marks in words. */
function Course({ data, period }: { data: Data; period: Period }) {
  const marks = useMarks(period, data.nodes);
  const from = Date.parse(data.now) - periodMs[period];
  const within = marks.filter(({ at }) => Date.parse(at) >= from);
  const operator = useMay('operator');
  return (
    <>
      <Charts data={data} periodMs={periodMs[period]} marks={within} />
      <Health data={data} />
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
    const times = steps.map(({ at }) => at / 1_000);
    const line = (label: string, colour: string, of: (point: Point | undefined) => number | null): Line => ({
      label,
      colour,
      values: steps.map(({ point }) => of(point)),
      fill: false,
    });
    const area = (...given: Parameters<typeof line>): Line => ({ ...line(...given), fill: true });
    const per = data.step_ms === 10_000 ? 'per ten seconds' : 'per hour';
    const charts: { title: string; label: string; unit: (value: number) => string; lines: Line[] }[] = [
      {
        title: 'Flow',
        label: `Flow, ${per}`,
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
      {charts.map(({ title, label, lines, unit }) => (
        <Card key={title} title={title} aside={<Key lines={lines} />}>
          <Chart label={label} times={times} lines={lines} marks={marked} unit={unit} />
        </Card>
      ))}
    </div>
  );
}

function Health({ data }: { data: Data }) {
  const all = useSeesAllBrands();
  const admin = useMay('admin') && all;
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
            find={({ integration }) => integration}
            empty={
              <Empty title="No brand is connected" action={admin && <Link to="/onboard">Connect the first one</Link>}>
                A brand needs a connector, a base URL with credentials, and a destination.
              </Empty>
            }
            columns={[
              {
                head: 'Brand',
                cell: ({ integration }) => <BrandLink name={integration} lead />,
              },
              { head: 'State', cell: ({ state }) => <State of={state} /> },
              {
                head: 'Why',
                phone: 'line',
                cell: (brand) => <span className="muted">{checksOf(brand).text}</span>,
              },
            ]}
          />
        </Card>
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
        <p className="muted">Listening. Changes appear here as they arrive.</p>
      ) : (
        <ol className="ticker">
          {news.slice(0, 7).map((one) => (
            <li key={`${one.integration} ${one.id} ${one.version}`}>
              <RecordLink integration={one.integration} type={one.type} id={one.id}>
                {one.type === 'guest' ? 'A guest' : one.id}
              </RecordLink>{' '}
              {one.event} <span className="muted">{causeOf(one.cause)}</span>
              <span className="muted place">{one.integration}</span>
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}
