import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { percentileMs } from '../../../src/kit/histogram.ts';
import { useEvery, useNews } from '../api/live.ts';
import { useApi } from '../api/query.tsx';
import type { Overview } from '../api/types.ts';
import { Card, Head, Loaded, type Tone } from '../parts/basics.tsx';
import { Choice } from '../parts/Choice.tsx';
import { causeOf, number, span } from '../parts/format.ts';
import { latenciesOf } from '../parts/latencies.ts';
import { RecordLink } from '../parts/links.tsx';
import { perMinute } from '../parts/steps.ts';
import { Course } from './overview/Course.tsx';
import { type Period, periodLabels, periodMs } from './overview/periods.ts';

/** How much flows, and how fast. What is wrong is on the overview. */
export function Performance() {
  const [period, setPeriod] = useState<Period>('1h');
  const query = useApi('overview.get', { period }, { everyMs: useEvery(5), keep: true });
  return (
    <>
      <Head title="Performance" lead="How much flows through the service, and how fast.">
        <Choice small label="Period" options={periodLabels} value={period} onChange={setPeriod} />
      </Head>
      <Loaded query={query}>
        {(data) => (
          <div className="stack">
            <Figures data={data} periodMs={periodMs[period]} />
            <Course data={data} period={period} news={<LatestChanges />} />
          </div>
        )}
      </Loaded>
    </>
  );
}

const total = (counts: readonly number[]): number => counts.reduce((sum, one) => sum + one, 0);

function Figures({ data, periodMs }: { data: Overview; periodMs: number }) {
  const { totals, series } = data;
  const rateOf = (key: 'events' | 'changes') => rate(perMinute(total(series.map((one) => one[key])), data, periodMs));
  const latency = percentileMs(latenciesOf(data), 0.95);
  const figures: { label: string; value: string; unit?: string; to: string; tone?: Tone }[] = [
    { label: 'Events in', value: rateOf('events'), unit: '/min', to: '/events' },
    { label: 'Changes', value: rateOf('changes'), unit: '/min', to: '/reservations' },
    { label: '95 % delivered within', value: latency === null ? '–' : span(latency), to: '/destinations' },
    {
      label: 'Waiting',
      value: number(totals.waiting),
      to: '/destinations',
      ...(totals.waiting > 0 && latency !== null && latency > data.late_after_ms && { tone: 'warn' as const }),
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
