import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { get, part } from '../api/client.ts';
import type { Event as WholeEvent } from '../api/types.ts';
import { Ago, Card, Empty, Head, Loaded, State } from '../parts/basics.tsx';
import { JsonText } from '../parts/data.tsx';
import { instant, plural, words } from '../parts/format.ts';

const route = getRouteApi('/desk/events/$name/$seq');

/** One event with what was sent. It is read once, when it is opened: each reading is in the audit. */
export function Event() {
  const { name, seq } = route.useParams();
  const query = useQuery({
    queryKey: ['one-event', name, seq],
    queryFn: ({ signal }) => get<WholeEvent>(`/integrations/${part(name)}/events/${part(seq)}`, undefined, signal),
    refetchOnWindowFocus: false,
  });
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
                <State of={event.state} label={words(event.outcome ?? event.state)} />
                <span className="mono">{event.event_id}</span>
              </span>
            }
          >
            {event.id && event.type && (
              <Button variant="default" component={Link} to={`/reservations/${name}/${event.type}s/${part(event.id)}`}>
                Timeline
              </Button>
            )}
          </Head>
          <div className="wide-narrow">
            <Card title="What was sent" aside="that you read it is in the audit">
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
    <Card title="About it">
      <dl className="facts">
        <dt>Happened</dt>
        <dd>{instant(event.occurred_at)}</dd>
        <dt>Received</dt>
        <dd>
          {instant(event.received_at)} (<Ago at={event.received_at} />)
        </dd>
        <dt>Changed</dt>
        <dd>
          {event.id ?? 'nothing yet'}
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
