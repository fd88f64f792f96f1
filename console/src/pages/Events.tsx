import { Select } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEvery } from '../api/live.ts';
import { usePages } from '../api/query.tsx';
import { BrandSelect } from '../parts/BrandSelect.tsx';
import { Card, Empty, Head, RelativeTime, State } from '../parts/basics.tsx';
import { capital, words } from '../parts/format.ts';
import { RecordLink } from '../parts/links.tsx';
import { Table } from '../parts/Table.tsx';
import { eventStates } from '../shell/filters.ts';

const route = getRouteApi('/console/events');

export function Events() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { rows, error, more } = usePages('events.list', { ...search, limit: 40 }, useEvery(4));
  return (
    <>
      <Head title="Events" lead="Accepted webhooks, newest first. The brand’s page lists the rejected ones." />
      <div className="filters">
        <BrandSelect
          value={search.integration}
          onChange={(integration) => void navigate({ search: { ...search, integration } })}
        />
        <Select
          label="State"
          value={search.state ?? ''}
          onChange={(state) => void navigate({ search: { ...search, state: state || undefined } })}
          data={[{ value: '', label: 'Any' }, ...eventStates.map((value) => ({ value, label: words(value) }))]}
        />
      </div>
      <Card flush>
        <Table
          label="Events"
          rows={rows}
          error={error}
          rowKey={({ integration, seq }) => `${integration} ${seq}`}
          empty={<Empty title="No event matches">The brand’s page has the endpoint’s address and its secret.</Empty>}
          columns={[
            {
              head: 'Event',
              cell: ({ integration, seq, event, event_id }) => (
                <>
                  <Link to="/events/$name/$seq" params={{ name: integration, seq: String(seq) }} className="name mono">
                    {event}
                  </Link>
                  <div className="muted small">{event_id}</div>
                </>
              ),
            },
            {
              head: 'State',
              cell: ({ state, outcome }) => <State of={state} label={capital(words(outcome ?? state))} />,
            },
            {
              head: 'Record',
              cell: ({ integration, type, id, version }) => (
                <>
                  {id && type ? (
                    <RecordLink integration={integration} type={type} id={id} lead />
                  ) : (
                    <span className="muted">none yet</span>
                  )}
                  {version !== null && <span className="muted small"> v{version}</span>}
                </>
              ),
            },
            { head: 'Brand', cell: ({ integration }) => integration },
            { head: 'Received', cell: ({ received_at }) => <RelativeTime at={received_at} /> },
          ]}
        />
        {more}
      </Card>
    </>
  );
}
