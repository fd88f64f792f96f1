import { useApi } from '../api/query.tsx';
import { Card } from '../parts/basics.tsx';
import { Spark } from '../parts/charts.tsx';
import { number, percent } from '../parts/format.ts';
import { Table } from '../parts/Table.tsx';

const measures = [
  { key: 'events', label: 'Events in 24 hours', text: number },
  { key: 'rows', label: 'Reservations per run', text: (value: number) => number(Math.round(value)) },
  { key: 'run_seconds', label: 'Time of a run', text: (value: number) => `${number(Math.round(value))} s` },
  { key: 'dead_share', label: 'Rows and events that became dead letters', text: (value: number) => percent(value) },
] as const;

/** How much the brand's feed brought in each of the last 29 days; nothing for a brand without a history. */
export function FeedCard({ integration }: { integration: string }) {
  const { data } = useApi('integrations.feed', { integration }, { staleMs: 60_000 });
  const rows = measures.flatMap((measure) => {
    const days = data?.[measure.key] ?? [];
    return days.some((day) => (day ?? 0) > 0) ? [{ ...measure, days }] : [];
  });
  if (rows.length === 0) return null;
  return (
    <Card title="Feed" aside="each 24 hours of the last four weeks" flush>
      <Table
        label="Feed"
        narrow
        rows={rows}
        rowKey={({ key }) => key}
        columns={[
          { head: 'Measure', cell: ({ label }) => label },
          {
            head: 'Now',
            kind: 'number',
            cell: ({ days, text }) => (typeof days.at(-1) === 'number' ? text(days.at(-1) ?? 0) : 'none'),
          },
          { head: 'Four weeks', cell: ({ days, label }) => <History days={days} label={label} /> },
        ]}
      />
    </Card>
  );
}

/** A small picture of the days before an alert, and of the day itself. */
export function History({ days, label }: { days: readonly (number | null)[]; label: string }) {
  return <Spark values={days.map((day) => day ?? 0)} label={`${label} in the last four weeks`} />;
}

/** The history that an alert about a feed carries. */
export function historyOf(detail: unknown): readonly number[] | undefined {
  const { history } = (detail ?? {}) as { history?: unknown };
  return Array.isArray(history) ? history.map(Number) : undefined;
}
