import { Select } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEvery } from '../api/live.ts';
import type { EventRow } from '../api/types.ts';
import { BrandSelect } from '../parts/BrandSelect.tsx';
import { Ago, Card, Empty, Head, Loaded, State } from '../parts/basics.tsx';
import { words } from '../parts/format.ts';
import { usePages } from '../parts/paging.tsx';

const route = getRouteApi('/desk/events');

export function Events() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { query, all, more } = usePages<EventRow>('events', '/events', { ...search, limit: 40 }, useEvery(4));
  return (
    <>
      <Head
        title="Events"
        lead="Webhooks that were taken, the newest first. What was refused stands on the brand’s page."
      />
      <div className="filters">
        <BrandSelect
          value={search.integration}
          onChange={(integration) => void navigate({ search: { ...search, integration } })}
        />
        <Select
          label="State"
          value={search.state ?? ''}
          onChange={(state) => void navigate({ search: { ...search, state: state || undefined } })}
          data={[{ value: '', label: 'Any' }, ...['pending', 'hydrate', 'waiting', 'done', 'dead']]}
        />
      </div>
      <Loaded query={query}>
        {() => (
          <Card flush>
            {all.length === 0 ? (
              <Empty title="No event matches">An endpoint’s address and secret are on the page of its brand.</Empty>
            ) : (
              <table className="list folds">
                <thead>
                  <tr>
                    <th scope="col">Event</th>
                    <th scope="col">State</th>
                    <th scope="col">What it changed</th>
                    <th scope="col">Brand</th>
                    <th scope="col">Received</th>
                  </tr>
                </thead>
                <tbody>
                  {all.map((event) => (
                    <tr key={`${event.integration} ${event.seq}`}>
                      <td>
                        <Link
                          to="/events/$name/$seq"
                          params={{ name: event.integration, seq: String(event.seq) }}
                          className="name mono"
                        >
                          {event.event}
                        </Link>
                        <div className="muted small">{event.event_id}</div>
                      </td>
                      <td>
                        <State of={event.state} label={event.outcome ? words(event.outcome) : event.state} />
                      </td>
                      <td>
                        {event.id && event.type ? (
                          <Link
                            to="/reservations/$name/$type/$id"
                            params={{ name: event.integration, type: `${event.type}s`, id: event.id }}
                            className="name"
                          >
                            {event.id}
                          </Link>
                        ) : (
                          <span className="muted">nothing yet</span>
                        )}
                        {event.version !== null && <span className="muted small"> v{event.version}</span>}
                      </td>
                      <td>{event.integration}</td>
                      <td>
                        <Ago at={event.received_at} />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
            {more}
          </Card>
        )}
      </Loaded>
    </>
  );
}
