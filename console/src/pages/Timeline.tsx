import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { get, part } from '../api/client.ts';
import type { DeliveryNow, Entry, Timeline as Story } from '../api/types.ts';
import { Ago, Card, Empty, Head, Loaded, meaning, State } from '../parts/basics.tsx';
import { JsonText } from '../parts/data.tsx';
import { ago, fullName, plural, words } from '../parts/format.ts';
import { Ledger } from './Ledger.tsx';

const route = getRouteApi('/desk/reservations/$name/$type/$id');

export function Timeline() {
  const { name, type, id } = route.useParams();
  const query = useQuery({
    queryKey: ['timeline', name, type, id],
    queryFn: ({ signal }) => get<Story>(`/integrations/${part(name)}/${type}/${part(id)}`, undefined, signal),
    // News of this very record reads it again; by the clock only while something is on its way.
    refetchInterval: ({ state }) => (state.data?.deliveries.some(({ due_at }) => due_at !== null) ? 5_000 : false),
  });
  return (
    <Loaded query={query} head={<Head title={id} crumb={<Link to="/reservations">Reservations</Link>} />}>
      {(story) => (
        <>
          <Head
            title={story.data?.confirmation_number ?? fullName(story.data ?? undefined) ?? id}
            crumb={
              <>
                <Link to="/reservations">Reservations</Link> ·{' '}
                <Link to="/integrations/$name" params={{ name }}>
                  {name}
                </Link>
              </>
            }
            lead={<Summary story={story} />}
          />
          <div className="stack">
            <Verdict story={story} />
            <div className="wide-narrow">
              <Card title="What happened" aside="the newest first">
                <Ledger story={story} />
              </Card>
              <Card title="As it is now" aside={story.version > 0 ? `version ${story.version}` : undefined}>
                {story.data ? (
                  <JsonText value={story.data as never} label="Canonical record" />
                ) : (
                  <Empty title="It never became a record">See below why; the dead letter keeps what came in.</Empty>
                )}
              </Card>
            </div>
          </div>
        </>
      )}
    </Loaded>
  );
}

function Summary({ story }: { story: Story }) {
  const { data } = story;
  const guests = data?.guests?.map(fullName).filter(Boolean).join(', ');
  return (
    <span className="row">
      {data?.status && <State of={data.status} />}
      <span>
        {[story.id, guests, data?.check_in && `${data.check_in} to ${data.check_out}`, data?.channel]
          .filter(Boolean)
          .join(' · ')}
      </span>
    </span>
  );
}

/** The answer to "is it in the CRM?", one line a destination, with the reason where it is not. */
function Verdict({ story }: { story: Story }) {
  if (story.deliveries.length === 0) {
    return (
      <Card title="Where it is">
        <p className="muted">No destination was to get it. The brand’s document says which ones it feeds.</p>
      </Card>
    );
  }
  return (
    <Card title="Where it is" flush>
      <ul className="verdict">
        {story.deliveries.map((delivery) => (
          <Lane key={delivery.destination} delivery={delivery} story={story} />
        ))}
      </ul>
    </Card>
  );
}

function Lane({ delivery, story }: { delivery: DeliveryNow; story: Story }) {
  const { destination } = delivery;
  const tries = story.timeline.filter(
    (entry): entry is Extract<Entry, { what: 'delivery' }> =>
      entry.what === 'delivery' && entry.destination === destination,
  );
  const last = tries.at(-1);
  const reason = last?.code && meaning(last.code);
  if (delivery.held_by) {
    const letter = story.timeline.find(
      (entry) => entry.what === 'dead_letter' && entry.dead_letter_id === delivery.held_by,
    );
    const code = letter?.what === 'dead_letter' ? letter.code : undefined;
    return (
      <li>
        <span className="name">{destination}</span>
        <State of="held" label="Held back" />
        <span>
          {delivery.delivered_version > 0
            ? `It has version ${delivery.delivered_version}. `
            : 'It has nothing of it yet. '}
          {letter?.what === 'dead_letter' ? letter.message : ''} {code && meaning(code)?.next}{' '}
          <Link to="/dead-letters/$id" params={{ id: delivery.held_by }}>
            Open the dead letter
          </Link>
        </span>
      </li>
    );
  }
  if (delivery.due_at === null && delivery.delivered_version >= story.version) {
    return (
      <li>
        <span className="name">{destination}</span>
        <State of="delivered" label={`Has version ${delivery.delivered_version}`} />
        <span className="muted">
          {last ? (
            <>
              Delivered <Ago at={last.at} />.
            </>
          ) : (
            'Delivered; the tries are no longer kept.'
          )}
        </span>
      </li>
    );
  }
  if (delivery.due_at === null) {
    return (
      <li>
        <span className="name">{destination}</span>
        <State of="calm" label="Not for it" />
        <span className="muted">
          {last?.message ??
            'The newest version holds nothing that this destination receives, or no consent to send it.'}
        </span>
      </li>
    );
  }
  return (
    <li>
      <span className="name">{destination}</span>
      <State of="waiting" label={delivery.attempt > 0 ? 'Trying again' : 'On its way'} />
      <span>
        {delivery.attempt > 0
          ? `${plural(delivery.attempt, 'try', 'tries')} failed (${last?.message ?? words(last?.code ?? 'no answer')}); the next is due ${ago(delivery.due_at)}. `
          : 'It leaves at once. '}
        {reason && <span className="muted">{reason.next}</span>}
      </span>
    </li>
  );
}
