import { Button } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useApi } from '../api/query.tsx';
import type { Event as WholeEvent } from '../api/types.ts';
import { Card, Empty, Head, Loaded, RelativeTime, State } from '../parts/basics.tsx';
import { JsonText } from '../parts/data.tsx';
import { capital, instant, plural, words } from '../parts/format.ts';

const route = getRouteApi('/console/events/$name/$seq');

/** One event with its payload. It is read once, when the page opens, because each reading is audited. */
export function Event() {
  const { name, seq } = route.useParams();
  const query = useApi('events.get', { integration: name, seq }, { onFocus: false });
  return (
    <Loaded query={query} head={<Head title={`Event ${seq}`} crumb={<Link to="/events">Events</Link>} />}>
      {(event) => (
        <>
          <Head
            title={event.event}
            crumb={
              <Link to="/events" search={{ integration: name }}>
                Events of {name}
              </Link>
            }
            lead={
              <span className="row">
                <State of={event.state} label={capital(words(event.outcome ?? event.state))} />
                <span className="mono">{event.event_id}</span>
              </span>
            }
          >
            {event.id && event.type && (
              <Button
                variant="default"
                component={Link}
                to={`/reservations/${name}/${event.type}s/${encodeURIComponent(event.id)}`}
              >
                Timeline
              </Button>
            )}
          </Head>
          <div className="wide-narrow">
            <Card title="Payload" aside="opening it was recorded in the audit">
              {event.body === null ? (
                <Empty title="The payload is no longer kept" />
              ) : (
                <JsonText value={event.body} label="Payload" />
              )}
            </Card>
            <Facts event={event} />
          </div>
        </>
      )}
    </Loaded>
  );
}

function Facts({ event }: { event: WholeEvent }) {
  return (
    <Card title="Details">
      <dl className="facts">
        <dt>Occurred</dt>
        <dd>{instant(event.occurred_at)}</dd>
        <dt>Received</dt>
        <dd>
          {instant(event.received_at)} (<RelativeTime at={event.received_at} />)
        </dd>
        <dt>Record</dt>
        <dd>
          {event.id ?? 'none yet'}
          {event.version !== null && `, version ${event.version}`}
        </dd>
        {event.attempt > 0 && (
          <>
            <dt>Tried</dt>
            <dd>{plural(event.attempt, 'time')}</dd>
          </>
        )}
      </dl>
    </Card>
  );
}
