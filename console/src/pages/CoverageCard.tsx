import { useApi } from '../api/query.tsx';
import type { IntegrationDetail } from '../api/types.ts';
import { Card, Empty, RelativeTime, State } from '../parts/basics.tsx';
import { pushGaps, stillListed } from '../parts/claims.ts';
import { number } from '../parts/format.ts';
import { RecordLink } from '../parts/links.tsx';
import { Table } from '../parts/Table.tsx';

/** What the brand's events did not report. */
export function PushGapsCard({ integration }: { integration: string }) {
  const query = useApi('integrations.push_gaps', { integration, days: 14 }, { staleMs: 60_000 });
  return (
    <Card title="What push missed" aside="found by polls, reported by no event" flush>
      <Table
        label="What push missed, by day"
        rows={query.data?.items.filter(({ created, updated, cancelled }) => created + updated + cancelled > 0)}
        error={query.error}
        rowKey={({ day }) => day}
        empty={query.data && <Empty small title={pushGaps(query.data).text} />}
        columns={[
          { head: 'Day (UTC)', cell: ({ day }) => day },
          { head: 'Events', kind: 'number', cell: ({ events }) => number(events) },
          { head: 'New', kind: 'number', cell: ({ created }) => number(created) },
          { head: 'Updated', kind: 'number', cell: ({ updated }) => number(updated) },
          { head: 'Cancelled', kind: 'number', cell: ({ cancelled }) => number(cancelled) },
          {
            head: 'Such as',
            cell: ({ examples }) =>
              examples.slice(0, 2).map((id) => (
                <div key={id}>
                  <RecordLink integration={integration} id={id} />
                </div>
              )),
          },
        ]}
      />
    </Card>
  );
}

const answers = { present: 'The partner still has it', absent: 'The partner does not have it' };

const mostListed = 100;

/** What its lists no longer show. */
export function UnlistedCard({ brand }: { brand: IntegrationDetail }) {
  const integration = brand.name;
  const query = useApi('integrations.unlisted', { integration, limit: mostListed }, { staleMs: 60_000 });
  const complete = useApi('runs.list', { integration, status: 'complete', limit: 1 }, { staleMs: 60_000 });
  const unlisted = query.data?.items.length ?? 0;
  const compared = stillListed(brand, unlisted, complete.data?.items.length ?? 0);
  const which = unlisted === mostListed ? `the first ${mostListed}: ` : '';
  return (
    <Card title="No longer listed" aside={`${which}stored, but missing from the partner’s list`} flush>
      <Table
        label="Reservations that the partner no longer lists"
        rows={query.data?.items}
        error={query.error}
        rowKey={({ id, sync }) => `${id} ${sync}`}
        tall
        empty={
          <Empty small title={compared.text}>
            Compared after each complete run.
          </Empty>
        }
        columns={[
          {
            head: 'Reservation',
            cell: ({ id }) => <RecordLink integration={integration} id={id} lead />,
          },
          { head: 'Status', cell: ({ status }) => <State of={status} /> },
          { head: 'Stay', cell: ({ check_in, check_out }) => `${check_in} to ${check_out}` },
          { head: 'Since', cell: ({ since }) => <RelativeTime at={since} /> },
          {
            head: 'Asked',
            phone: 'line',
            cell: ({ answer }) => <span className="muted">{answer ? answers[answer] : 'not asked'}</span>,
          },
        ]}
      />
    </Card>
  );
}
