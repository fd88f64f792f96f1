import { Button, Menu } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { call } from '../api/client.ts';
import { useAct, useApi } from '../api/query.tsx';
import { fullName, guestOf, isErased, reservationOf } from '../api/record.ts';
import { useTimeline } from '../api/timeline.ts';
import type { DeliveryNow, Entry, Timeline as Story } from '../api/types.ts';
import { withOwnWords } from '../parts/answer.ts';
import { Card, Empty, Head, Loaded, meaning, RelativeTime, State } from '../parts/basics.tsx';
import { hasVersion } from '../parts/claims.ts';
import { JsonText } from '../parts/data.tsx';
import { capital, destinationName, words, zone } from '../parts/format.ts';
import { BrandLink, RecordLink } from '../parts/links.tsx';
import { Table } from '../parts/Table.tsx';
import { TryNow } from '../parts/TryNow.tsx';
import { waitingText } from '../parts/ticks.ts';
import { useMay } from '../shell/session.ts';
import { Ledger } from './Ledger.tsx';
import { PrivacyCard } from './Privacy.tsx';
import { ProfileCard } from './ProfileCard.tsx';

const route = getRouteApi('/console/reservations/$name/$type/$id');

export function Timeline() {
  const { name, type, id } = route.useParams();
  const { more, ...query } = useTimeline(type === 'guests' ? 'guests' : 'reservations', name, id);
  const search = `/reservations?q=${encodeURIComponent(id)}`;
  return (
    <Loaded query={query} head={<Head title={id} crumb={<Link to={search}>Search for {id}</Link>} />}>
      {(story) => (
        <>
          <Head
            title={titleOf(story)}
            crumb={
              <>
                <Link to="/reservations" search={type === 'guests' ? { type: 'guest' } : {}}>
                  {type === 'guests' ? 'Guests' : 'Reservations'}
                </Link>{' '}
                · <BrandLink name={name} />
              </>
            }
            lead={<Summary story={story} />}
          >
            <Actions story={story} />
          </Head>
          <div className="stack">
            <Verdict story={story} />
            {story.type === 'guest' && story.version > 0 && <ProfileCard story={story} />}
            {story.type === 'guest' && story.consents.length > 0 && <Marketing consents={story.consents} />}
            {story.type === 'guest' && story.version > 0 && <Stays story={story} />}
            {story.type === 'guest' && story.version > 0 && (
              <PrivacyCard integration={name} guest={guestOf(story.data)} />
            )}
            <div className="wide-narrow">
              <Card title="Timeline" aside={`newest first, times in ${zone}`}>
                {story.history_since && (
                  <p className="muted">
                    Entries before {story.history_since.slice(0, 10)} were deleted after their retention.
                  </p>
                )}
                <Ledger story={story} />
                {more && (
                  <div className="more">
                    <Button variant="default" size="xs" loading={more.isReading} onClick={more.read}>
                      Show older entries
                    </Button>
                  </div>
                )}
              </Card>
              <Card title="Current record" aside={story.version > 0 ? `version ${story.version}` : undefined}>
                {story.data === null ? (
                  <Empty title="It never became a record">
                    The timeline has the reason; the dead letter keeps the payload.
                  </Empty>
                ) : (
                  <JsonText value={story.data} label="Canonical record" />
                )}
              </Card>
            </div>
          </div>
        </>
      )}
    </Loaded>
  );
}

/** Who says whether the guest agrees to marketing. The first statement is in force. */
function Marketing({ consents }: { consents: Story['consents'] }) {
  const who = { pull: 'the hotel’s list', single: 'the hotel’s answer', push: 'the hotel’s events' } as const;
  return (
    <Card title="Marketing" aside={consents[0]?.value ? 'agrees' : 'does not agree'} flush>
      <Table
        label="Statements about marketing"
        narrow
        rows={consents}
        rowKey={({ source }) => source}
        columns={[
          { head: 'Says', cell: ({ value }) => (value ? 'yes' : 'no') },
          {
            head: 'Who',
            cell: ({ source }) =>
              who[source as keyof typeof who] ?? `${source.replace('destination:', '')}, where the guest unsubscribed`,
          },
          { head: 'Since', cell: ({ at }) => <RelativeTime at={at} /> },
          { head: 'Counts', cell: (one) => (one === consents[0] ? 'in force' : 'older') },
        ]}
      />
    </Card>
  );
}

function Stays({ story: { integration, id } }: { story: Story }) {
  const query = useApi('guests.stays', { integration, id }, { staleMs: 60_000 });
  return (
    <Card title="Stays" aside="the latest arrival first" flush>
      <Table
        label="Stays of this guest"
        narrow
        rows={query.data?.items}
        error={query.error}
        rowKey={(stay) => stay.id}
        find={(stay) => stay.id}
        empty={
          <Empty small title="No reservation is linked to this profile">
            Reservations are linked to profiles once a destination of the brand receives guests.
          </Empty>
        }
        columns={[
          { head: 'Reservation', cell: (stay) => <RecordLink integration={integration} id={stay.id} lead /> },
          {
            head: 'Stay',
            cell: ({ check_in, check_out }) => <span className="num">{`${check_in} – ${check_out}`}</span>,
          },
          { head: 'Status', cell: ({ status }) => <State of={status} /> },
        ]}
      />
    </Card>
  );
}

function titleOf({ data, id, type }: Story): string {
  if (type === 'guest') return fullName(guestOf(data)) || (isErased(data) ? 'Erased guest' : id);
  return reservationOf(data).confirmation_number || id;
}

function Summary({ story }: { story: Story }) {
  const { status, guests, check_in, check_out, channel } = reservationOf(story.data);
  const names = guests.map(fullName).filter(Boolean).join(', ');
  return (
    <span className="row">
      {status && <State of={status} />}
      <span>{[story.id, names, check_in && `${check_in} to ${check_out}`, channel].filter(Boolean).join(' · ')}</span>
    </span>
  );
}

/** One record again: from the partner, or to a destination. */
function Actions({ story }: { story: Story }) {
  const operator = useMay('operator');
  const { integration, id } = story;
  const refetch = useAct(
    () => call('integrations.refetch', { integration, id }),
    ({ result, outcome }) =>
      result === 'absent'
        ? 'The partner has no such reservation. Nothing changed.'
        : `Fetched: ${words(outcome ?? '')}.`,
  );
  const resend = useAct(
    (destination: string) => call('integrations.resend', { integration, destination, id }),
    ({ queued }, destination) =>
      queued > 0
        ? `Queued for ${destination}.`
        : `It is waiting for ${destination} already, or a dead letter holds it back.`,
  );
  if (!operator || story.version === 0) return null;
  return (
    <>
      {story.type === 'reservation' && (
        <Button variant="default" onClick={() => refetch.mutate(undefined)} loading={refetch.isPending}>
          Fetch from the partner
        </Button>
      )}
      {deliveriesOf(story).length > 0 && (
        <Menu position="bottom-end" transitionProps={{ duration: 0 }}>
          <Menu.Target>
            <Button variant="default" loading={resend.isPending}>
              Resend
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {deliveriesOf(story).map(({ destination }) => (
              <Menu.Item key={destination} onClick={() => resend.mutate(destination)}>
                To {destination}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </>
  );
}

/** Without the service's own one, unless it lacks something. */
const deliveriesOf = ({ deliveries }: Story): readonly DeliveryNow[] =>
  deliveries.filter(({ destination, due_at, held_by }) => !destination.startsWith('innbound:') || due_at || held_by);

/** Answers "is it in the CRM?": one line per destination, with the reason if it is not. */
function Verdict({ story }: { story: Story }) {
  const deliveries = deliveriesOf(story);
  if (deliveries.length === 0) {
    return (
      <Card title="Destinations">
        <p className="muted">No destination receives this record. The brand’s document lists the ones it feeds.</p>
      </Card>
    );
  }
  return (
    <Card title="Destinations" flush>
      <ul className="verdict">
        {deliveries.map((delivery) => (
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
        <span className="name">{destinationName(destination)}</span>
        <State of="held" label="Blocked" />
        <span>
          {letter?.what === 'dead_letter' ? `${withOwnWords(letter.message, letter.answer)}.`.replace('..', '.') : ''}{' '}
          {delivery.delivered_version > 0
            ? `The destination has version ${delivery.delivered_version}. `
            : 'The destination has no version of it yet. '}
          {code && meaning(code)?.next}{' '}
          <Link to="/dead-letters/$id" params={{ id: delivery.held_by }}>
            Open the dead letter
          </Link>
        </span>
      </li>
    );
  }
  const has = hasVersion(delivery, story.version);
  if (has) {
    return (
      <li>
        <span className="name">{destinationName(destination)}</span>
        <State of="delivered" tone={has.tone} label={has.text} />
        <span className="muted">
          {delivery.removed ? 'It was told that the record has left' : 'Delivered'}{' '}
          <RelativeTime at={delivery.delivered_at} none="" />.
        </span>
      </li>
    );
  }
  if (delivery.due_at === null) {
    return (
      <li>
        <span className="name">{destinationName(destination)}</span>
        <State of="calm" label="Not sent" />
        <span className="muted">
          {last?.message ??
            'The newest version has nothing that this destination receives, or the guest has not consented.'}
        </span>
      </li>
    );
  }
  return (
    <li>
      <span className="name">{destinationName(destination)}</span>
      <State
        of="waiting"
        tone={delivery.away_since ? 'bad' : 'warn'}
        label={delivery.away_since ? 'Away' : delivery.attempt > 0 ? 'Retrying' : 'Waiting'}
      />
      <span>
        {capital(waitingText(delivery, tries))} {reason && <span className="muted">{reason.next}</span>}{' '}
        <TryNow action="try_destination" of={destination} />
      </span>
    </li>
  );
}
