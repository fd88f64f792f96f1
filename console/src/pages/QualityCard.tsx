import { Button } from '@mantine/core';
import { useApi } from '../api/query.tsx';
import type { QualityDay } from '../api/types.ts';
import { Card, Empty, RelativeTime } from '../parts/basics.tsx';
import { Spark } from '../parts/charts.tsx';
import { csv } from '../parts/csv.ts';
import { download } from '../parts/download.ts';
import { number, percent } from '../parts/format.ts';
import { Table } from '../parts/Table.tsx';

type Count = Exclude<keyof QualityDay, 'day' | 'counted_at'>;

interface Measure {
  readonly label: string;
  readonly count: Count;
  readonly of: 'guests' | 'reservations' | 'events';
  /** True where a large share is bad. */
  readonly isFault?: true;
}

const measures: readonly Measure[] = [
  { label: 'Guests with a usable e-mail address', count: 'email', of: 'guests' },
  { label: 'Guests with an alias of a booking site', count: 'email_proxy', of: 'guests', isFault: true },
  { label: 'Guests with an invalid e-mail address', count: 'email_invalid', of: 'guests', isFault: true },
  { label: 'Guests with a usable phone number', count: 'phone', of: 'guests' },
  { label: 'Guests with an impossible phone number', count: 'phone_invalid', of: 'guests', isFault: true },
  { label: 'Guests with a last name', count: 'last_name', of: 'guests' },
  { label: 'Guests with a nationality', count: 'nationality', of: 'guests' },
  { label: 'Reservations with an amount', count: 'total_amount', of: 'reservations' },
  { label: 'Reservations with a currency', count: 'currency', of: 'reservations' },
  { label: 'Reservations with a channel', count: 'channel', of: 'reservations' },
  { label: 'Reservations with rooms', count: 'rooms', of: 'reservations' },
  { label: 'Reservations with a guest', count: 'lead_guest', of: 'reservations' },
  { label: 'Reservations with an unreadable value', count: 'unreadable', of: 'reservations', isFault: true },
  { label: 'Events more than 15 minutes late', count: 'late_events', of: 'events', isFault: true },
];

const share = (days: readonly QualityDay[], { count, of }: Measure): number | undefined => {
  const total = days.reduce((sum, day) => sum + day[of], 0);
  return total === 0 ? undefined : days.reduce((sum, day) => sum + day[count], 0) / total;
};

/** How complete the brand's data is: the last seven days, and each day of the last month. Worst first. */
export function QualityCard({ integration }: { integration: string }) {
  const query = useApi('integrations.quality', { integration, days: 30 }, { staleMs: 60_000 });
  const days = query.data?.items;
  const week = days?.slice(0, 7) ?? [];
  const rows = measures
    .flatMap((measure) => {
      const now = share(week, measure);
      return now === undefined ? [] : [{ measure, now, badness: measure.isFault ? now : 1 - now }];
    })
    .toSorted((one, other) => other.badness - one.badness);
  return (
    <Card
      title="Data quality"
      aside={
        days?.[0] && (
          <span className="row">
            <span>
              last 7 days, counted <RelativeTime at={days[0].counted_at} />
            </span>
            <Button size="compact-xs" variant="default" onClick={() => save(integration, days)}>
              Export CSV
            </Button>
          </span>
        )
      }
      flush
    >
      <Table
        label="Data quality"
        rows={days && rows}
        error={query.error}
        rowKey={({ measure }) => measure.count}
        tall
        empty={
          <Empty small title="Nothing counted yet">
            Reservations that arrive are counted every half hour.
          </Empty>
        }
        columns={[
          { head: 'Measure', cell: ({ measure }) => measure.label },
          { head: 'Share', kind: 'number', sortBy: ({ now }) => now, cell: ({ now }) => percent(now) },
          {
            head: 'Of',
            kind: 'number',
            cell: ({ measure }) => number(week.reduce((sum, day) => sum + day[measure.of], 0)),
          },
          {
            head: 'Trend',
            phone: 'hidden',
            cell: ({ measure }) => (
              <Spark
                values={(days ?? []).toReversed().map((day) => (share([day], measure) ?? 0) * 100)}
                label={`${measure.label}, each day of the last month`}
              />
            ),
          },
        ]}
      />
    </Card>
  );
}

function save(integration: string, days: readonly QualityDay[]): void {
  const counts = ['reservations', 'guests', 'events', ...measures.map(({ count }) => count)] as const;
  const rows = days.map((day) => [integration, day.day, ...counts.map((count) => day[count])]);
  download(`quality-${integration}.csv`, csv(['brand', 'day', ...counts], rows), 'text/csv');
}
