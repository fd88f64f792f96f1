import { Link } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { useEvery, useNews } from '../api/live.ts';
import { useApi } from '../api/query.tsx';
import type { Overview as Data } from '../api/types.ts';
import { Ago, Card, Empty, Head, Loaded, Loading, Notice, State, type Tone } from '../parts/basics.tsx';
import { Choice } from '../parts/Choice.tsx';
import { checksOf, standing } from '../parts/claims.ts';
import { causeOf, number, span } from '../parts/format.ts';
import { BrandLink, RecordLink } from '../parts/links.tsx';
import { patiently } from '../parts/patiently.tsx';
import { perMinute, stepsOf } from '../parts/steps.ts';
import { Table } from '../parts/Table.tsx';
import { useMay, useSeesAllBrands } from '../shell/session.ts';
import { HoldsLine } from './HoldsLine.tsx';
import { Causes, isOf, uncovered } from './overview/Causes.tsx';
import { Flow, worst } from './overview/Flow.tsx';
import { type Period, periodLabels, periodMs } from './overview/periods.ts';

/** Below what must be seen first; the curves need a library of their own. */
const Course = patiently(async () => (await import('./overview/Course.tsx')).Course);

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
            {data.broken.map(({ document, message }) => (
              <Notice key={document} tone="bad" title={`${document} cannot be used`}>
                {message}
              </Notice>
            ))}
            {!data.causes.some(({ kind }) => kind === 'rows_held') && <HoldsLine />}
            <Causes data={data} />
            <Flow data={data} periodMs={periodMs[period]} />
            <Health data={data} />
            <Figures data={data} periodMs={periodMs[period]} />
            <Suspense fallback={<Loading />}>
              <Course data={data} period={period} />
            </Suspense>
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
  const figures: { label: string; value: string; unit?: string; to: string; tone?: Tone }[] = [
    { label: 'Events in', value: rate(perMinute(steps, data.step_ms, 'events')), unit: '/min', to: '/events' },
    { label: 'Changes', value: rate(perMinute(steps, data.step_ms, 'changes')), unit: '/min', to: '/reservations' },
    { label: 'Intake to delivery, p95', value: latency == null ? '–' : span(latency), to: '/destinations' },
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
      {figures.map(({ label, value, unit, to, tone }) => (
        <Link key={label} to={to} className="figure" data-tone={tone}>
          <span className="label">{label}</span>
          <span className="value">
            {value}
            {unit && <small>{unit}</small>}
          </span>
        </Link>
      ))}
    </div>
  );
}

const rate = (value: number): string => (value >= 100 ? number(Math.round(value)) : value.toFixed(value >= 10 ? 0 : 1));

function Health({ data }: { data: Data }) {
  const all = useSeesAllBrands();
  const admin = useMay('admin') && all;
  const health = data.health.toSorted((a, b) => worst[b.state] - worst[a.state]);
  return (
    <div className="wide-narrow">
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
              cell: (brand) => <Why brand={brand} causes={data.causes} />,
            },
          ]}
        />
      </Card>
      <LatestChanges />
    </div>
  );
}

/** A cause that is stated above is named, not repeated for each brand. */
function Why(props: { brand: Data['health'][number]; causes: Data['causes'] }) {
  const causes = props.causes.filter((cause) => props.brand.findings.some((finding) => isOf(cause, finding)));
  const others = uncovered(props.brand, props.causes).map(({ message }) => message);
  if (causes.length + others.length === 0) {
    return <span className="muted">{checksOf(props.brand).text}</span>;
  }
  return (
    <span className="muted">
      {causes.map(({ incident_id, title }) => (
        <span key={incident_id}>
          <Link to="/incidents/$id" params={{ id: incident_id }}>
            {title}
          </Link>
          .{' '}
        </span>
      ))}
      {others.join(' ')}
    </span>
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
          {news.slice(0, 5).map((one) => (
            <li key={`${one.integration} ${one.id} ${one.version}`}>
              <RecordLink integration={one.integration} type={one.type} id={one.id}>
                {one.type === 'guest' ? 'A guest' : one.id}
              </RecordLink>{' '}
              {one.event} <span className="muted">{causeOf(one.cause, one.type)}</span>
              <span className="muted place">{one.integration}</span>
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}
