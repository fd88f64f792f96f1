import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useEvery } from '../api/live.ts';
import { useApi } from '../api/query.tsx';
import { Card, Empty, RelativeTime } from '../parts/basics.tsx';
import { capital, number } from '../parts/format.ts';
import { BrandLink } from '../parts/links.tsx';
import { Table } from '../parts/Table.tsx';

/** What is held back as a mistake of a partner, of all brands or of one; nothing where nothing is held. */
export function HoldsCard({ integration }: { integration?: string }) {
  const { data } = useApi(
    'holds.list',
    { state: 'open', ...(integration && { integration }) },
    { everyMs: useEvery(5) },
  );
  if (data === undefined || data.items.length === 0) return null;
  return (
    <Card title="Held back" aside="the stored values stay until somebody decides" flush>
      <Table
        label="Held back"
        rows={data.items}
        rowKey={({ id }) => id}
        empty={<Empty title="Nothing is held" />}
        columns={[
          {
            head: 'What',
            phone: 'line',
            cell: (hold) => (
              <>
                <Link to="/holds/$id" params={{ id: hold.id }} className="name">
                  {capital(hold.message)}
                </Link>{' '}
                {integration === undefined && <BrandLink name={hold.integration} />}
              </>
            ),
          },
          { head: 'Bookings', kind: 'number', cell: ({ waiting }) => number(waiting) },
          { head: 'Since', cell: ({ at }) => <RelativeTime at={at} /> },
          {
            head: 'Decide',
            silent: true,
            cell: ({ id }) => (
              <Button size="compact-sm" component={Link} to={`/holds/${id}`}>
                Look and decide
              </Button>
            ),
          },
        ]}
      />
    </Card>
  );
}
